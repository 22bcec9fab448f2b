/// What kernels count about memory: per warp and place a counter, per launch a table of address
/// bins. Trusts nothing in the buffer: what makes no sense is counted and left out. One thread;
/// calls nobody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

/// One bin of the table: a piece of memory, and the kernel's argument it was reached through.
struct BinEntry {
  uint64_t key;  // bin number << kArgumentBits | argument + 1, or 0 there where it is not known
  uint64_t load_bytes;
  uint64_t store_bytes;  // atomics too
  uint64_t accesses;
};
constexpr uint32_t kBinBytes = 32;
static_assert(sizeof(BinEntry) == kBinBytes);
constexpr uint32_t kArgumentBits = 6;

/// In the place of the table's first bin: what found no free bin.
struct TableHeader {
  uint64_t dropped_accesses;
  uint64_t dropped_bytes;
  uint64_t spare[2];
};
static_assert(sizeof(TableHeader) == kBinBytes);

/// A key stands at its home or at one of the next kMostProbes - 1 bins.
constexpr uint32_t kMostProbes = 32;
constexpr uint32_t kMostBins = 1u << 20;
constexpr uint32_t kHashFactor = 0x9E3779B1;
constexpr uint32_t home_of(uint64_t key, uint64_t bins) {
  return bins < 2 ? 0 : static_cast<uint32_t>(key) * kHashFactor >> (32 - std::countr_zero(bins));
}

struct MemoryLosses {
  uint64_t dropped_accesses = 0;  // the table was full where they belonged
  uint64_t dropped_bytes = 0;
  uint64_t damaged_bins = 0;      // keys at places where they cannot be, twice, or with no access
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

/// What happened to one tensor, in all and by address; the first bin begins at `start_address`.
struct TensorHeat {
  uint64_t load_bytes = 0, store_bytes = 0, accesses = 0;
  uint64_t touched_bins = 0;  // of the kernel's own bin size
  uint64_t start_address = 0;
  uint64_t bin_bytes = 0;  // the kernel's, or several of those joined
  std::vector<uint64_t> byte_bins;
  std::vector<uint64_t> access_bins;

  uint64_t bytes() const { return load_bytes + store_bytes; }
};

struct HeatMap {
  std::vector<TensorHeat> tensors;  // as the ranges
  TensorHeat elsewhere;             // outside all ranges; without bins
  uint64_t used_bins = 0;
  MemoryLosses losses;
};

/// `table` is a header and as many bins as there is room for, a power of two. No tensor gets more
/// than `most_bins`. Throws Error(kUsage) where sizes make no sense; whatever the bytes say is
/// none.
HeatMap read_bins(std::span<const std::byte> table, uint64_t bin_bytes,
                  std::span<const TensorRange> ranges, uint64_t most_bins);

}  // namespace proton::device_buffer
