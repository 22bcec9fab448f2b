#include "backends/device_buffer/bins.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
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

uint32_t shift_of(const TableShape& shape, uint32_t level) {
  return static_cast<uint32_t>(std::countr_zero(shape.bin_bytes)) + level * kLevelBits;
}

/// Whether the rows of a level reach as far as `offset`.
bool reaches(const TableShape& shape, uint32_t level, uint64_t offset) {
  return offset >> shift_of(shape, level) < shape.own_rows() >> (level + 1);
}

/// Memory that counts as one, relative to what the bin's kind begins at.
struct Piece {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
};

/// What a row stands for, behind its argument's address; nothing for the last one.
std::optional<Piece> piece_of(const TableShape& shape, uint64_t row) {
  const uint64_t rows = shape.own_rows();
  for (uint32_t level = 0; level < kLevels; ++level) {
    const uint64_t start = rows - (rows >> level);
    if (row >= start && row - start < rows >> (level + 1)) {
      const uint32_t shift = shift_of(shape, level);
      return Piece{(row - start) << shift, uint64_t{1} << shift};
    }
  }
  return std::nullopt;
}

/// The tensor with most of a piece of memory.
std::optional<size_t> tensor_of(const Piece& piece, std::span<const TensorRange> ranges) {
  const uint64_t end = end_of(piece.address, piece.size_bytes);
  std::optional<size_t> best;
  uint64_t best_overlap = 0;
  for (size_t at = 0; at < ranges.size(); ++at) {
    const uint64_t from = std::max(piece.address, ranges[at].address);
    const uint64_t to = std::min(end, end_of(ranges[at].address, ranges[at].size_bytes));
    if (from < to && to - from > best_overlap) {
      best = at;
      best_overlap = to - from;
    }
  }
  return best;
}

/// The tensor of each column: that of its argument, or the one that begins at its address.
/// Arguments with one address are tensors with one address, and both stand in the kernel's order.
std::vector<std::optional<size_t>> tensors_of(std::span<const Column> columns,
                                              std::span<const uint64_t> bases,
                                              std::span<const TensorRange> ranges) {
  std::vector<std::optional<size_t>> found(columns.size());
  for (size_t column = 0; column < columns.size(); ++column) {
    std::vector<size_t> same;
    for (size_t at = 0; at < ranges.size(); ++at) {
      if (ranges[at].argument == columns[column].argument) found[column] = at;
      const bool begins_there = ranges[at].address == bases[column] && ranges[at].size_bytes > 0;
      if (begins_there && !ranges[at].argument) same.push_back(at);
    }
    if (found[column]) continue;
    std::set<uint32_t> earlier;
    for (size_t other = 0; other < columns.size(); ++other) {
      if (bases[other] == bases[column] && columns[other].argument < columns[column].argument) {
        earlier.insert(columns[other].argument);
      }
    }
    found[column] = same.empty() ? tensor_of({bases[column], 1}, ranges)
                                 : same[std::min(earlier.size(), same.size() - 1)];
  }
  return found;
}

/// An empty heat map of a range. A bin holds at least what a row that far behind does, and bins are
/// joined until they are few enough.
TensorHeat heat_of(const TensorRange& range, const TableShape& shape, uint64_t most_bins) {
  TensorHeat heat;
  if (range.size_bytes == 0) return heat;
  const uint64_t last = end_of(range.address, range.size_bytes) - 1 - range.address;
  uint32_t level = 0;
  while (shape.columns != 0 && level + 1 < kLevels && !reaches(shape, level, last)) ++level;
  heat.bin_bytes = uint64_t{1} << shift_of(shape, level);
  while (last / heat.bin_bytes >= most_bins && heat.bin_bytes <= kMost / 4) heat.bin_bytes *= 2;
  heat.start_address = range.address;
  const uint64_t count = std::min(last / heat.bin_bytes + 1, most_bins);
  heat.byte_bins.assign(count, 0);
  heat.access_bins.assign(count, 0);
  return heat;
}

void add_bin(TensorHeat& heat, const BinEntry& bin, uint64_t address, uint64_t& damaged) {
  add(heat.load_bytes, bin.load_bytes, damaged);
  add(heat.store_bytes, bin.store_bytes, damaged);
  add(heat.accesses, bin.accesses, damaged);
  if (heat.byte_bins.empty()) return;
  // a hashed bin that begins before the tensor still holds its first bytes
  const uint64_t offset = address < heat.start_address ? 0 : address - heat.start_address;
  const uint64_t at = std::min<uint64_t>(offset / heat.bin_bytes, heat.byte_bins.size() - 1);
  add(heat.byte_bins[at], bin.load_bytes, damaged);
  add(heat.byte_bins[at], bin.store_bytes, damaged);
  add(heat.access_bins[at], bin.accesses, damaged);
}

/// Whether `bin` can be at place `at` of `bins`.
bool is_sound(const BinEntry& bin, uint64_t at, uint64_t bins, uint64_t bin_bytes) {
  if (bin.key == 0 || bin.key > kMost / bin_bytes || bin.accesses == 0) return false;
  return ((at - home_of(bin.key, bins)) & (bins - 1)) < kMostProbes;
}

void read_hashed(std::span<const std::byte> table, const TableShape& shape,
                 std::span<const TensorRange> ranges, HeatMap& map) {
  std::unordered_set<uint64_t> seen;
  const uint64_t bins = shape.hashed_bins();
  for (uint64_t at = 0; at < bins; ++at) {
    const auto bin = read_at<BinEntry>(table, shape.header_bytes() + at * kBinBytes);
    if (bin.key == 0 && bin.load_bytes == 0 && bin.store_bytes == 0 && bin.accesses == 0) continue;
    if (!is_sound(bin, at, bins, shape.bin_bytes) || !seen.insert(bin.key).second) {
      ++map.losses.damaged_bins;
      continue;
    }
    ++map.used_bins;
    const uint64_t address = bin.key * shape.bin_bytes;
    const std::optional<size_t> tensor = tensor_of({address, shape.bin_bytes}, ranges);
    add_bin(tensor ? map.tensors[*tensor] : map.elsewhere, bin, address,
            map.losses.damaged_counters);
  }
}

/// Counts one counter of a row, `count` accesses, where its memory is.
void add_row(HeatMap& map, const Column& column, std::optional<size_t> tensor, uint64_t base,
             const std::optional<Piece>& piece, uint64_t count,
             std::span<const TensorRange> ranges) {
  ++map.used_bins;
  uint64_t bytes = 0;
  if (count > kMost / column.bytes) {
    ++map.losses.damaged_counters;
    bytes = kMost;
  } else {
    bytes = count * column.bytes;
  }
  const BinEntry bin{0, column.is_read ? bytes : 0, column.is_read ? 0 : bytes, count};
  if (!piece || piece->address > kMost - base) {
    add_bin(map.elsewhere, bin, 0, map.losses.damaged_counters);
    return;
  }
  const uint64_t address = base + piece->address;
  if (tensor && address >= end_of(ranges[*tensor].address, ranges[*tensor].size_bytes)) {
    tensor = std::nullopt;  // past its end, so what is there decides
  }
  if (!tensor) tensor = tensor_of({address, piece->size_bytes}, ranges);
  add_bin(tensor ? map.tensors[*tensor] : map.elsewhere, bin, address, map.losses.damaged_counters);
}

void read_rows(std::span<const std::byte> table, const TableShape& shape,
               std::span<const Column> columns, std::span<const TensorRange> ranges, HeatMap& map) {
  std::vector<uint64_t> bases;
  for (size_t column = 0; column < columns.size(); ++column) {
    bases.push_back(read_at<uint64_t>(table, sizeof(TableHeader) + column * kColumnBytes));
  }
  const auto tensors = tensors_of(columns, bases, ranges);
  const uint64_t copy_bytes = shape.own_rows() * shape.row_bytes();
  for (uint64_t row = 0; row < shape.own_rows(); ++row) {
    const std::optional<Piece> piece = piece_of(shape, row);
    for (size_t column = 0; column < columns.size(); ++column) {
      uint64_t count = 0;
      const uint64_t at = shape.rows_offset() + row * shape.row_bytes() + column * kColumnBytes;
      for (uint64_t copy = 0; copy < shape.copies(); ++copy) {
        add(count, read_at<uint64_t>(table, at + copy * copy_bytes), map.losses.damaged_counters);
      }
      if (count == 0) continue;
      add_row(map, columns[column], tensors[column], bases[column], piece, count, ranges);
    }
  }
}

uint64_t rows_of_all_copies(const TableShape& shape) {
  return std::bit_floor(shape.rows * std::min<uint64_t>(shape.grid_ctas, kMostBins / shape.rows));
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

std::string TableShape::problem() const {
  if (!std::has_single_bit(bin_bytes) || bin_bytes > uint64_t{1} << 40) {
    return concat("bins of ", bin_bytes, " bytes cannot be; it is a power of two");
  }
  if (grid_ctas == 0 || bins > kMostBins || rows > kMostBins || columns > kMostColumns) {
    return concat("a table of ", grid_ctas, " CTAs with ", bins, " bins and ", rows, " rows of ",
                  columns, " columns each cannot be");
  }
  if (columns != 0 && rows < kLeastRows) {
    return concat("a table of ", rows, " rows cannot be; there are at least ", kLeastRows);
  }
  return "";
}

uint64_t TableShape::header_bytes() const {
  return sizeof(TableHeader) + (row_bytes() + kBinBytes - 1) / kBinBytes * kBinBytes;
}

uint64_t TableShape::hashed_bins() const {
  return bins == 0 ? 0 : std::bit_floor(bins * std::min<uint64_t>(grid_ctas, kMostBins / bins));
}

uint64_t TableShape::copies() const {
  if (columns == 0) return 0;
  const uint64_t more = rows_of_all_copies(*this) >> kOwnRowBits;
  return std::clamp<uint64_t>(more, 1, uint64_t{1} << kCopyBits);
}

uint64_t TableShape::own_rows() const {
  return columns == 0 ? 0 : rows_of_all_copies(*this) / copies();
}

uint64_t TableShape::rows_offset() const { return header_bytes() + grid_ctas * bins * kBinBytes; }

uint64_t TableShape::size_bytes() const {
  return rows_offset() + copies() * own_rows() * row_bytes();
}

HeatMap read_table(std::span<const std::byte> table, const TableShape& shape,
                   std::span<const Column> columns, std::span<const TensorRange> ranges,
                   uint64_t most_bins) {
  std::string problem = shape.problem();
  if (problem.empty() &&
      (most_bins == 0 || columns.size() != shape.columns ||
       std::ranges::any_of(columns, [](const Column& each) { return each.bytes == 0; }))) {
    problem = concat("at most ", most_bins, " bins of a tensor, and ", columns.size(),
                     " columns of ", shape.columns, " cannot be; columns have 1 byte or more");
  }
  if (problem.empty() && table.size() < shape.size_bytes()) {
    problem = concat("a table of ", table.size(), " bytes is too short: ", shape.size_bytes(),
                     " are needed; give the launch's whole buffer");
  }
  if (!problem.empty()) throw Error(ErrorKind::kUsage, problem);
  HeatMap map;
  for (const TensorRange& range : ranges) map.tensors.push_back(heat_of(range, shape, most_bins));
  const auto header = read_at<TableHeader>(table, 0);
  map.losses.dropped_accesses = header.dropped_accesses;
  map.losses.dropped_bytes = header.dropped_bytes;
  read_hashed(table, shape, ranges, map);
  read_rows(table, shape, columns, ranges, map);
  return map;
}

}  // namespace proton::device_buffer
