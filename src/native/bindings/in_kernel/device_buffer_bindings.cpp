// The Python side of what kernels record: `_native.DeviceBuffer`.
#include "bindings/objects/bindings.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>

#include <bit>

#include "backends/device_buffer/decoded_buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "bindings/in_kernel/record_map.h"
#include "bindings/objects/values.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace proton::device_buffer;

namespace proton::bindings {
namespace {

struct DeviceBuffer {};

/// The numbers of layout.h; `inkernel/ir/layout.py` gives them to the rest of Python.
void add_constants(nb::object type) {
  const auto set = [&](const char* name, uint64_t value) { type.attr(name) = value; };
  set("RECORD_BYTES", kRecordBytes);
  set("HEADER_BYTES", kHeaderBytes);
  set("MAGIC", kMagic);
  set("KIND_START", static_cast<uint32_t>(RecordKind::kStart));
  set("KIND_END", static_cast<uint32_t>(RecordKind::kEnd));
  set("KIND_MARK", static_cast<uint32_t>(RecordKind::kMark));
  set("KIND_VALUE", static_cast<uint32_t>(RecordKind::kValue));
  set("KIND_SHIFT", kKindShift);
  set("REGION_SHIFT", kRegionShift);
  set("REGION_LIMIT", kRegionLimit);
  set("PAYLOAD_BITS", kPayloadBits);
  set("OFFSET_MAGIC", offsetof(Header, magic));
  set("OFFSET_CTA", offsetof(Header, cta));
  set("OFFSET_WARP", offsetof(Header, warp));
  set("OFFSET_SM", offsetof(Header, sm));
  set("OFFSET_WRITTEN_BYTES", offsetof(Header, written_bytes));
  set("OFFSET_RING_BYTES", offsetof(Header, ring_bytes));
  set("OFFSET_START_TIME", offsetof(Header, start_time_ns));
  set("OFFSET_START_CLOCK", offsetof(Header, start_clock));
  set("OFFSET_END_TIME", offsetof(Header, end_time_ns));
  set("OFFSET_END_CLOCK", offsetof(Header, end_clock));
  set("OFFSET_MAILBOX_WRITTEN", offsetof(Header, mailbox_written_bytes));
  set("OFFSET_MAILBOX_DRAINED", offsetof(Header, mailbox_drained_bytes));
}

uint32_t count_of(nb::handle geometry, const char* name) {
  uint32_t count;
  const nb::object value = geometry.attr(name);
  if (nb::try_cast<uint32_t>(value, count)) return count;
  throw Error(ErrorKind::kUsage, concat("geometry: ", name, " must be a number of 32 bits, not ",
                                        nb::repr(value).c_str()));
}

DecodedBuffer decode(nb::handle buffer, nb::handle geometry, nb::handle record_map,
                     double record_cycles, double empty_cycles,
                     std::optional<std::pair<int64_t, int64_t>> kernel_ns,
                     std::optional<uint64_t> expected_warps, HostOffset* host_clock, bool spans,
                     bool exact, const std::optional<nb::sequence>& drained) {
  const HeldBytes held(buffer);
  const Geometry shape{count_of(geometry, "cta_count"), count_of(geometry, "warp_count"),
                       count_of(geometry, "ring_bytes")};
  const std::vector<Region> regions = regions_of(record_map);
  DecodeOptions options{.clock_bits = number_in(record_map, "clock_bits", kShortClockBits),
                        .cost = {record_cycles, empty_cycles, is_shifted(record_map)},
                        .keeps_spans = spans,
                        .fit = exact ? ClockFit::kExact : ClockFit::kQuick,
                        .expected_warps = expected_warps,
                        .kernel = {},
                        .host_offset = host_clock};
  if (kernel_ns) options.kernel = {kernel_ns->first, kernel_ns->second};
  std::vector<HeldBytes> held_drained;
  std::vector<std::span<const std::byte>> parts;
  if (drained) {
    for (const nb::handle part : *drained) parts.push_back(held_drained.emplace_back(part).bytes());
  }
  nb::gil_scoped_release unlocked;
  return decode_buffer(held.bytes(), shape, regions, options, parts);
}

nb::list spans(const DecodedBuffer& self) {
  nb::list rows;
  for (const RecordedSpan& span : self.spans) {
    nb::object value = nb::none();
    if (span.has_value) {
      const bool is_float = self.regions[span.region].values.is_float;
      value = is_float ? nb::cast(std::bit_cast<double>(span.value)) : nb::cast(span.value);
    }
    rows.append(
        nb::make_tuple(span.region, span.warp, span.end_warp, span.start_ns, span.end_ns, value));
  }
  return rows;
}

void add_region_summary(nb::module_& module) {
  nb::class_<RegionSummary>(module, "RegionSummary")
      .def_ro("region", &RegionSummary::region)
      .def_prop_ro("parent",
                   [](const RegionSummary& self) -> std::optional<uint32_t> {
                     if (self.parent == kNoContext) return std::nullopt;
                     return self.parent;
                   })
      .def_ro("depth", &RegionSummary::depth)
      .def_ro("count", &RegionSummary::count)
      .def_ro("warp_count", &RegionSummary::warp_count)
      .def_ro("raw_cycles", &RegionSummary::raw_cycles)
      .def_ro("cycles", &RegionSummary::cycles)
      .def_ro("time_ns", &RegionSummary::time_ns)
      .def_ro("min_cycles", &RegionSummary::min_cycles)
      .def_ro("max_cycles", &RegionSummary::max_cycles)
      .def_prop_ro("value_count", [](const RegionSummary& self) { return self.values.count; })
      .def_prop_ro("value_not_finite",
                   [](const RegionSummary& self) { return self.values.not_finite; })
      .def_prop_ro("value_sum", [](const RegionSummary& self) { return self.values.sum; })
      .def_prop_ro("value_min", [](const RegionSummary& self) { return least_of(self.values); })
      .def_prop_ro("value_max", [](const RegionSummary& self) { return most_of(self.values); });
}

void add_warp_summary(nb::module_& module) {
  nb::class_<WarpSummary>(module, "WarpSummary")
      .def_ro("slot", &WarpSummary::slot)
      .def_ro("cta", &WarpSummary::cta)
      .def_ro("warp", &WarpSummary::warp)
      .def_ro("sm", &WarpSummary::sm)
      .def_ro("record_count", &WarpSummary::record_count)
      .def_ro("overwritten", &WarpSummary::overwritten)
      .def_ro("cycles", &WarpSummary::cycles)
      .def_ro("has_times", &WarpSummary::has_times)
      .def_ro("start_ns", &WarpSummary::start_ns)
      .def_ro("end_ns", &WarpSummary::end_ns);
}

void add_host_offset(nb::module_& module) {
  nb::class_<HostOffset>(module, "DeviceClock")
      .def(nb::init<>())
      .def_prop_ro("offset_ns", &HostOffset::offset_ns)
      .def_prop_ro("uncertainty_ns", &HostOffset::uncertainty_ns);
}

void add_decoded_buffer(nb::module_& module) {
  nb::class_<DecodedBuffer>(module, "DecodedBuffer")
      .def_ro("cycles_per_ns", &DecodedBuffer::cycles_per_ns)
      .def_ro("time_step_ns", &DecodedBuffer::time_step_ns)
      .def_ro("is_host_time", &DecodedBuffer::is_host_time)
      .def_ro("record_count", &DecodedBuffer::record_count)
      .def("losses", [](const DecodedBuffer& self) { return losses_of(self.losses); })
      .def("regions", [](const DecodedBuffer& self) { return listed(self.regions); })
      .def("warps", [](const DecodedBuffer& self) { return listed(self.warps); })
      .def("sms",
           [](const DecodedBuffer& self) {
             nb::list rows;
             for (const SmClock& sm : self.sms) {
               rows.append(nb::make_tuple(sm.sm, sm.warp_count, sm.cycles_per_ns, sm.residual_ns));
             }
             return rows;
           })
      .def("spans", spans);
}

}  // namespace

void add_device_buffer(nb::module_& module) {
  add_region_summary(module);
  add_warp_summary(module);
  add_host_offset(module);
  add_decoded_buffer(module);
  auto type = nb::class_<DeviceBuffer>(module, "DeviceBuffer");
  add_constants(type);
  type.def_static("decode", decode, "buffer"_a, "geometry"_a, "record_map"_a, nb::kw_only(),
                  "record_cycles"_a = 0.0, "empty_cycles"_a = 0.0, "kernel_ns"_a = nb::none(),
                  "expected_warps"_a = nb::none(), "host_clock"_a = nb::none(), "spans"_a = false,
                  "exact"_a = true, "drained"_a = nb::none());
}

}  // namespace proton::bindings
