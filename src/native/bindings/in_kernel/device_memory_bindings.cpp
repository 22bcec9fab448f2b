// The Python side of what kernels count about memory: `_native.DeviceMemory`.
#include "bindings/objects/bindings.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "backends/device_buffer/bins.h"
#include "bindings/objects/values.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace proton::device_buffer;

namespace proton::bindings {
namespace {

struct DeviceMemory {};

/// The numbers of bins.h, which the passes take from here.
void add_constants(nb::object type) {
  const auto set = [&](const char* name, uint64_t value) { type.attr(name) = value; };
  set("COUNTER_BYTES", kCounterBytes);
  set("MOST_SITES", kMostSites);
  set("BIN_BYTES", kBinBytes);
  set("COLUMN_BYTES", kColumnBytes);
  set("TABLE_HEADER_BYTES", sizeof(TableHeader));
  set("LEVELS", kLevels);
  set("LEVEL_BITS", kLevelBits);
  set("LEAST_ROWS", kLeastRows);
  set("OWN_ROW_BITS", kOwnRowBits);
  set("COPY_BITS", kCopyBits);
  set("MOST_PROBES", kMostProbes);
  set("HASH_FACTOR", kHashFactor);
  set("MOST_BINS", kMostBins);
  set("OFFSET_ACCESSES", offsetof(Counter, accesses));
  set("OFFSET_FIRST_ADDRESS", offsetof(Counter, first_address));
  set("OFFSET_KEY", offsetof(BinEntry, key));
  set("OFFSET_LOAD_BYTES", offsetof(BinEntry, load_bytes));
  set("OFFSET_STORE_BYTES", offsetof(BinEntry, store_bytes));
  set("OFFSET_BIN_ACCESSES", offsetof(BinEntry, accesses));
  set("OFFSET_DROPPED_ACCESSES", offsetof(TableHeader, dropped_accesses));
  set("OFFSET_DROPPED_BYTES", offsetof(TableHeader, dropped_bytes));
}

nb::dict losses_of(const MemoryLosses& losses) {
  nb::dict counts;
  const auto add = [&](const char* name, uint64_t count) {
    if (count != 0) counts[name] = count;
  };
  add("dropped_accesses", losses.dropped_accesses);
  add("dropped_bytes", losses.dropped_bytes);
  add("damaged_bins", losses.damaged_bins);
  add("damaged_counters", losses.damaged_counters);
  return counts;
}

CountedSites counters_of(nb::handle buffer, uint32_t cta_count, uint32_t warp_count,
                         uint32_t ring_bytes, uint32_t site_count, uint32_t stride_bytes,
                         uint64_t most_addresses) {
  const HeldBytes held(buffer);
  nb::gil_scoped_release unlocked;
  return read_counters(held.bytes(), {cta_count, warp_count, ring_bytes}, site_count, stride_bytes,
                       most_addresses);
}

using Range = std::tuple<uint64_t, uint64_t, std::optional<uint32_t>>;

using Counted = std::tuple<uint32_t, uint32_t, bool>;

HeatMap table_of(nb::handle table, uint64_t bin_bytes, uint32_t bins, uint32_t rows,
                 uint64_t grid_ctas, const std::vector<Counted>& columns,
                 const std::vector<Range>& ranges, uint64_t most_bins) {
  const HeldBytes held(table);
  std::vector<TensorRange> tensors;
  for (const auto& [address, size, argument] : ranges) tensors.push_back({address, size, argument});
  std::vector<Column> counted;
  for (const auto& [argument, bytes, is_read] : columns) {
    counted.push_back({argument, bytes, is_read});
  }
  const TableShape shape{bin_bytes, bins, rows, grid_ctas, static_cast<uint32_t>(columns.size())};
  nb::gil_scoped_release unlocked;
  return read_table(held.bytes(), shape, counted, tensors, most_bins);
}

void add_tensor_heat(nb::module_& module) {
  nb::class_<TensorHeat>(module, "TensorHeat")
      .def_ro("load_bytes", &TensorHeat::load_bytes)
      .def_ro("store_bytes", &TensorHeat::store_bytes)
      .def_ro("accesses", &TensorHeat::accesses)
      .def_ro("start_address", &TensorHeat::start_address)
      .def_ro("bin_bytes", &TensorHeat::bin_bytes)
      .def_ro("byte_bins", &TensorHeat::byte_bins)
      .def_ro("access_bins", &TensorHeat::access_bins);
}

void add_results(nb::module_& module) {
  nb::class_<SiteTotal>(module, "SiteTotal")
      .def_ro("accesses", &SiteTotal::accesses)
      .def_ro("warp_count", &SiteTotal::warp_count);
  nb::class_<CountedSites>(module, "CountedSites")
      .def_ro("warp_count", &CountedSites::warp_count)
      .def("sites", [](const CountedSites& self) { return listed(self.sites); })
      .def("first_addresses",
           [](const CountedSites& self) {
             nb::list rows;
             for (const FirstAddress& each : self.first_addresses) {
               rows.append(nb::make_tuple(each.site, each.cta, each.warp, each.address));
             }
             return rows;
           })
      .def("losses", [](const CountedSites& self) { return losses_of(self.losses); });
  nb::class_<HeatMap>(module, "HeatMap")
      .def_prop_ro("elsewhere", [](const HeatMap& self) { return self.elsewhere; })
      .def("tensors", [](const HeatMap& self) { return listed(self.tensors); })
      .def("losses", [](const HeatMap& self) { return losses_of(self.losses); });
}

}  // namespace

void add_device_memory(nb::module_& module) {
  add_tensor_heat(module);
  add_results(module);
  auto type = nb::class_<DeviceMemory>(module, "DeviceMemory");
  add_constants(type);
  type.def_static("read_counters", counters_of, "buffer"_a, nb::kw_only(), "cta_count"_a,
                  "warp_count"_a, "ring_bytes"_a, "site_count"_a, "stride_bytes"_a,
                  "most_addresses"_a = 4096);
  type.def_static("read_table", table_of, "table"_a, nb::kw_only(), "bin_bytes"_a, "bins"_a,
                  "rows"_a, "grid_ctas"_a, "columns"_a, "ranges"_a, "most_bins"_a = 1024);
}

}  // namespace proton::bindings
