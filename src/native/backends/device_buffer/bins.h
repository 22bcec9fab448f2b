/// What kernels count about memory: per warp and place a counter, per launch a table of address
/// bins. Trusts nothing in the buffer: what makes no sense is counted and left out. One thread;
/// calls nobody.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/device_buffer/layout.h"

namespace proton::device_buffer {

/// One place of a kernel and one warp; a warp's counters stand together, behind all headers.
struct Counter {
  uint64_t accesses;       // of its lanes
  uint64_t first_address;  // 0 where addresses are not recorded
};
constexpr uint32_t kCounterBytes = 16;
static_assert(sizeof(Counter) == kCounterBytes);
constexpr uint32_t kMostSites = 256;

/// One hashed bin of the table: a piece of memory that no argument is known to lead to.
struct BinEntry {
  uint64_t key;  // number of the bin: the address over its bytes
  uint64_t load_bytes;
  uint64_t store_bytes;  // atomics too
  uint64_t accesses;
};
constexpr uint32_t kBinBytes = 32;
static_assert(sizeof(BinEntry) == kBinBytes);

/// At the table's start: what found no free bin. The address of each column's argument follows.
struct TableHeader {
  uint64_t dropped_accesses;
  uint64_t dropped_bytes;
  uint64_t spare[2];
};
static_assert(sizeof(TableHeader) == kBinBytes);

/// A key stands at its home or at one of the next kMostProbes - 1 bins.
constexpr uint32_t kMostProbes = 32;
constexpr uint32_t kMostBins = 1u << 20;  // hashed ones, and rows
constexpr uint32_t kHashFactor = 0x9E3779B1;
constexpr uint32_t home_of(uint64_t key, uint64_t bins) {
  return bins < 2 ? 0 : static_cast<uint32_t>(key) * kHashFactor >> (32 - std::countr_zero(bins));
}

/// A counter of one kind of access to one argument; every row has one for each column.
struct Column {
  uint32_t argument;  // of the kernel
  uint32_t bytes;     // of a lane and an access
  bool is_read;
};
constexpr uint32_t kColumnBytes = 8;
constexpr uint32_t kMostColumns = kMostSites;

/// Rows come in levels. Of `rows`, the first level has a half, of a bin's bytes each; the next ones
/// have half as many of 2^kLevelBits times the bytes. The last row counts what is outside of all.
constexpr uint32_t kLevels = 5;
constexpr uint32_t kLevelBits = 4;
constexpr uint32_t kLeastRows = 16;
constexpr uint32_t kOwnRowBits = 14;  // rows beyond 2^kOwnRowBits become copies of them,
constexpr uint32_t kCopyBits = 4;     // up to 2^kCopyBits

/// What the launch's table is made of. `bins`, `rows`: what each CTA of the grid adds.
struct TableShape {
  uint64_t bin_bytes = 0;
  uint32_t bins = 0;  // hashed
  uint32_t rows = 0;
  uint64_t grid_ctas = 0;
  uint32_t columns = 0;

  /// Empty, or why no kernel has such a table.
  std::string problem() const;
  uint64_t header_bytes() const;
  uint64_t hashed_bins() const;  // a power of two, or 0
  uint64_t own_rows() const;     // of one copy; a power of two
  uint64_t copies() const;
  uint64_t rows_offset() const;
  uint64_t row_bytes() const { return uint64_t{columns} * kColumnBytes; }
  uint64_t size_bytes() const;  // as far as it is used
};

struct MemoryLosses {
  uint64_t dropped_accesses = 0;  // the table was full where they belonged
  uint64_t dropped_bytes = 0;
  uint64_t damaged_bins = 0;      // keys where they cannot be, twice, or with no access
  uint64_t damaged_counters = 0;  // sums that do not fit 64 bits
};

/// One place of the kernel, over all warps.
struct SiteTotal {
  uint64_t accesses = 0;
  uint64_t warp_count = 0;                      // that came there
  uint64_t min_accesses = 0, max_accesses = 0;  // of those warps
};

struct FirstAddress {
  uint32_t site;
  uint32_t cta;
  uint32_t warp;
  uint64_t address;
};

struct CountedSites {
  std::vector<SiteTotal> sites;
  std::vector<FirstAddress> first_addresses;  // by slot; at most as many as asked for
  uint64_t warp_count = 0;                    // that closed their buffers
  MemoryLosses losses;
};

/// Throws Error(kUsage) where the buffer is too short for the geometry with `site_count` counters,
/// which take `stride_bytes` of a warp.
CountedSites read_counters(std::span<const std::byte> buffer, const Geometry& geometry,
                           uint32_t site_count, uint32_t stride_bytes, size_t most_addresses);

/// Bytes of memory that belong to a tensor that the kernel was given.
struct TensorRange {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  std::optional<uint32_t> argument{};  // of the kernel, where it is known
};

/// What happened to one tensor, in all and by address; the first bin begins with the tensor.
struct TensorHeat {
  uint64_t load_bytes = 0, store_bytes = 0, accesses = 0;
  uint64_t start_address = 0;
  uint64_t bin_bytes = 0;  // the kernel's, or several of those joined
  std::vector<uint64_t> byte_bins;
  std::vector<uint64_t> access_bins;

  uint64_t bytes() const { return load_bytes + store_bytes; }
};

struct HeatMap {
  std::vector<TensorHeat> tensors;  // as the ranges
  TensorHeat elsewhere;             // outside all ranges; without bins
  uint64_t used_bins = 0;           // hashed bins, and counters of rows
  MemoryLosses losses;
};

/// No tensor gets more than `most_bins`. Throws Error(kUsage) where the shape makes no sense or the
/// table is shorter than it; whatever the bytes say is none.
HeatMap read_table(std::span<const std::byte> table, const TableShape& shape,
                   std::span<const Column> columns, std::span<const TensorRange> ranges,
                   uint64_t most_bins);

}  // namespace proton::device_buffer
