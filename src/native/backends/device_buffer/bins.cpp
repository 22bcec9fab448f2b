#include "backends/device_buffer/bins.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "backends/device_buffer/decode.h"
#include "base/error.h"

namespace proton::device_buffer {
namespace {

constexpr uint64_t kMost = ~uint64_t{0};

template <typename T>
T read_at(std::span<const std::byte> bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Adds, and stays at the top where the sum does not fit.
void add(uint64_t& sum, uint64_t value, uint64_t& damaged) {
  if (value > kMost - sum) {
    ++damaged;
    sum = kMost;
    return;
  }
  sum += value;
}

void add_counter(SiteTotal& site, uint64_t accesses, uint64_t& damaged) {
  if (accesses == 0) return;
  add(site.accesses, accesses, damaged);
  site.min_accesses = site.warp_count == 0 ? accesses : std::min(site.min_accesses, accesses);
  site.max_accesses = std::max(site.max_accesses, accesses);
  ++site.warp_count;
}

/// The end of a range that does not wrap around.
uint64_t end_of(uint64_t address, uint64_t size) {
  return size > kMost - address ? kMost : address + size;
}

/// The tensor of a bin: the only one there, the one of its argument, or the one with most of it.
std::optional<size_t> tensor_of(uint64_t address, uint64_t bin_bytes,
                                std::optional<uint32_t> argument,
                                std::span<const TensorRange> ranges) {
  const uint64_t end = end_of(address, bin_bytes);
  std::optional<size_t> best;
  uint64_t best_overlap = 0;
  for (size_t at = 0; at < ranges.size(); ++at) {
    const uint64_t from = std::max(address, ranges[at].address);
    const uint64_t to = std::min(end, end_of(ranges[at].address, ranges[at].size_bytes));
    if (from >= to) continue;
    if (argument && ranges[at].argument == argument) return at;
    if (to - from > best_overlap) {
      best = at;
      best_overlap = to - from;
    }
  }
  return best;
}

/// An empty heat map of a range, its bins joined until they are few enough.
TensorHeat heat_of(const TensorRange& range, uint64_t bin_bytes, uint64_t most_bins) {
  TensorHeat heat;
  if (range.size_bytes == 0) return heat;
  const uint64_t last = end_of(range.address, range.size_bytes) - 1;
  heat.bin_bytes = bin_bytes;
  const auto count_of = [&] { return last / heat.bin_bytes - range.address / heat.bin_bytes + 1; };
  while (count_of() > most_bins && heat.bin_bytes <= kMost / 4) heat.bin_bytes *= 2;
  heat.start_address = range.address / heat.bin_bytes * heat.bin_bytes;
  const uint64_t count = std::min(count_of(), most_bins);  // no memory is so large as to lose some
  heat.byte_bins.assign(count, 0);
  heat.access_bins.assign(count, 0);
  return heat;
}

void add_bin(TensorHeat& heat, const BinEntry& bin, uint64_t address, uint64_t& damaged) {
  add(heat.load_bytes, bin.load_bytes, damaged);
  add(heat.store_bytes, bin.store_bytes, damaged);
  add(heat.accesses, bin.accesses, damaged);
  ++heat.touched_bins;
  if (heat.byte_bins.empty()) return;
  // a bin that begins before the tensor's first one still holds its first bytes
  const uint64_t offset = address < heat.start_address ? 0 : address - heat.start_address;
  const uint64_t at = std::min<uint64_t>(offset / heat.bin_bytes, heat.byte_bins.size() - 1);
  add(heat.byte_bins[at], bin.load_bytes, damaged);
  add(heat.byte_bins[at], bin.store_bytes, damaged);
  add(heat.access_bins[at], bin.accesses, damaged);
}

/// Whether `bin` can be at place `at` of a table of `bins`.
bool is_sound(const BinEntry& bin, uint64_t at, uint64_t bins, uint64_t bin_bytes) {
  const uint64_t number = bin.key >> kArgumentBits;
  if (number == 0 || number > kMost / bin_bytes || bin.accesses == 0) return false;
  return ((at - home_of(bin.key, bins)) & (bins - 1)) < kMostProbes;
}

}  // namespace

CountedSites read_counters(std::span<const std::byte> buffer, const Geometry& geometry,
                           uint32_t site_count, uint32_t stride_bytes, size_t most_addresses) {
  if (const std::string problem = geometry.problem(); !problem.empty()) {
    throw Error(ErrorKind::kUsage, problem);
  }
  if (site_count > kMostSites || stride_bytes < site_count * kCounterBytes ||
      stride_bytes > 2 * kMostSites * kCounterBytes) {
    throw Error(ErrorKind::kUsage, concat(site_count, " counters in ", stride_bytes,
                                          " bytes cannot be; a counter has ", kCounterBytes,
                                          " bytes and a kernel at most ", kMostSites));
  }
  const uint64_t start = geometry.size_bytes();
  const uint64_t needed = start + geometry.slot_count() * stride_bytes;
  if (buffer.size() < needed) {
    throw Error(ErrorKind::kUsage, concat("a buffer of ", buffer.size(),
                                          " bytes has no counters: ", needed, " are needed"));
  }
  CountedSites counted;
  counted.sites.resize(site_count);
  Losses headers;  // those of the records' own reading are the ones that are shown
  for (uint64_t slot = 0; slot < geometry.slot_count(); ++slot) {
    const std::optional<Header> header = read_header(buffer, geometry, slot, headers);
    if (!header) continue;
    ++counted.warp_count;
    for (uint32_t site = 0; site < site_count; ++site) {
      const auto counter =
          read_at<Counter>(buffer, start + slot * stride_bytes + site * kCounterBytes);
      add_counter(counted.sites[site], counter.accesses, counted.losses.damaged_counters);
      if (counter.first_address != 0 && counted.first_addresses.size() < most_addresses) {
        counted.first_addresses.push_back({site, header->cta, header->warp, counter.first_address});
      }
    }
  }
  return counted;
}

HeatMap read_bins(std::span<const std::byte> table, uint64_t bin_bytes,
                  std::span<const TensorRange> ranges, uint64_t most_bins) {
  const uint64_t bins = table.size() / kBinBytes - (table.size() < kBinBytes ? 0 : 1);
  if (table.size() % kBinBytes != 0 || !std::has_single_bit(bins) || bins > kMostBins) {
    throw Error(ErrorKind::kUsage,
                concat("a table of ", table.size(), " bytes cannot be; it is ", kBinBytes,
                       " times a power of two, at most ", kMostBins, ", and one"));
  }
  if (!std::has_single_bit(bin_bytes) || bin_bytes > (uint64_t{1} << 40) || most_bins == 0) {
    throw Error(ErrorKind::kUsage,
                concat("bins of ", bin_bytes, " bytes, at most ", most_bins,
                       " of a tensor: the first must be a power of two, the second 1 or more"));
  }
  HeatMap map;
  for (const TensorRange& range : ranges)
    map.tensors.push_back(heat_of(range, bin_bytes, most_bins));
  const auto header = read_at<TableHeader>(table, 0);
  map.losses.dropped_accesses = header.dropped_accesses;
  map.losses.dropped_bytes = header.dropped_bytes;
  std::unordered_set<uint64_t> seen;
  for (uint64_t at = 0; at < bins; ++at) {
    const auto bin = read_at<BinEntry>(table, (at + 1) * kBinBytes);
    if (bin.key == 0 && bin.load_bytes == 0 && bin.store_bytes == 0 && bin.accesses == 0) continue;
    if (!is_sound(bin, at, bins, bin_bytes) || !seen.insert(bin.key).second) {
      ++map.losses.damaged_bins;
      continue;
    }
    ++map.used_bins;
    const uint64_t address = (bin.key >> kArgumentBits) * bin_bytes;
    const auto argument = static_cast<uint32_t>(bin.key & ((1u << kArgumentBits) - 1));
    const std::optional<size_t> tensor = tensor_of(
        address, bin_bytes, argument == 0 ? std::nullopt : std::optional(argument - 1), ranges);
    add_bin(tensor ? map.tensors[*tensor] : map.elsewhere, bin, address,
            map.losses.damaged_counters);
  }
  return map;
}

}  // namespace proton::device_buffer
