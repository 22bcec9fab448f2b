// Counters and tables of address bins as kernels leave them, and as damaged memory has them.
#include "backends/device_buffer/bins.h"

#include <cstdlib>
#include <random>

#include "base/error.h"
#include "kernel_buffer.h"

using namespace kernel_buffer;

namespace {

constexpr uint64_t kPage = 4096;

/// A table that is filled as the kernel does it.
struct Table {
  explicit Table(uint64_t bins) : bins(bins), bytes((bins + 1) * kBinBytes) {}

  BinEntry at(uint64_t place) const {
    BinEntry entry;
    std::memcpy(&entry, bytes.data() + (place + 1) * kBinBytes, sizeof entry);
    return entry;
  }
  void put(uint64_t place, const BinEntry& entry) {
    std::memcpy(bytes.data() + (place + 1) * kBinBytes, &entry, sizeof entry);
  }
  /// Whether there was room.
  bool touch(uint64_t address, uint64_t lanes, uint64_t lane_bytes, bool is_read,
             uint32_t argument = ~0u) {
    const uint64_t key = address / kPage << kArgumentBits | (argument + 1u);
    for (uint64_t tries = 0; tries < kMostProbes; ++tries) {
      const uint64_t place = (home_of(key, bins) + tries) & (bins - 1);
      BinEntry entry = at(place);
      if (entry.key != 0 && entry.key != key) continue;
      entry.key = key;
      (is_read ? entry.load_bytes : entry.store_bytes) += lanes * lane_bytes;
      entry.accesses += lanes;
      put(place, entry);
      return true;
    }
    TableHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.dropped_accesses += lanes;
    header.dropped_bytes += lanes * lane_bytes;
    std::memcpy(bytes.data(), &header, sizeof header);
    return false;
  }

  uint64_t bins;
  std::vector<std::byte> bytes;
};

template <typename Call>
bool is_refused(Call&& call) {
  try {
    call();
  } catch (const proton::Error& error) {
    return error.kind() == proton::ErrorKind::kUsage;
  }
  return false;
}

}  // namespace

TEST(bins_go_to_the_tensor_whose_memory_they_are) {
  Table table(256);
  const std::vector<TensorRange> ranges{{0x10000, 2 * kPage, 0}, {0x20000, kPage, 1}};
  table.touch(0x10000, 32, 16, true, 0);
  table.touch(0x10010, 32, 16, true, 0);
  table.touch(0x11ff0, 8, 4, false, 0);
  table.touch(0x20000, 1, 8, false, 1);
  table.touch(0x90000, 2, 2, true);
  const HeatMap map = read_bins(table.bytes, kPage, ranges, 1024);
  CHECK_EQ(map.used_bins, 4u);
  CHECK_EQ(map.tensors[0].load_bytes, 1024u);
  CHECK_EQ(map.tensors[0].store_bytes, 32u);
  CHECK_EQ(map.tensors[0].accesses, 72u);
  CHECK_EQ(map.tensors[0].bin_bytes, kPage);
  CHECK((map.tensors[0].byte_bins == std::vector<uint64_t>{1024, 32}));
  CHECK((map.tensors[0].access_bins == std::vector<uint64_t>{64, 8}));
  CHECK_EQ(map.tensors[1].bytes(), 8u);
  CHECK_EQ(map.elsewhere.bytes(), 4u);
  CHECK_EQ(map.losses.damaged_bins, 0u);
}

TEST(a_page_of_two_tensors_goes_by_argument_and_else_to_the_larger_part) {
  Table table(64);
  const std::vector<TensorRange> ranges{{0x10000, 1024, 0}, {0x10400, 3072, 1}};
  table.touch(0x10000, 4, 4, true, 0);
  table.touch(0x10400, 2, 4, true, 1);
  table.touch(0x10400, 1, 4, true);
  const HeatMap map = read_bins(table.bytes, kPage, ranges, 1024);
  CHECK_EQ(map.tensors[0].accesses, 4u);
  CHECK_EQ(map.tensors[1].accesses, 3u);
}

TEST(bins_of_a_large_tensor_are_joined) {
  Table table(1 << 12);
  const std::vector<TensorRange> ranges{{0x40001000, 100 * kPage, 0}};
  for (uint64_t page = 0; page < 100; ++page) table.touch(0x40001000 + page * kPage, 1, 4, true, 0);
  const HeatMap map = read_bins(table.bytes, kPage, ranges, 30);
  const TensorHeat& heat = map.tensors[0];
  CHECK_EQ(heat.bin_bytes, 4 * kPage);
  CHECK_EQ(heat.start_address, 0x40000000u);
  CHECK_EQ(heat.access_bins.size(), 26u);
  CHECK_EQ(heat.access_bins[0], 3u);
  CHECK_EQ(heat.access_bins[1], 4u);
  CHECK_EQ(heat.access_bins[25], 1u);
  CHECK_EQ(heat.touched_bins, 100u);
}

TEST(what_finds_no_bin_is_counted) {
  Table table(16);
  uint64_t kept = 0;
  for (uint64_t page = 1; page <= 40; ++page) kept += table.touch(page * kPage, 1, 4, true);
  CHECK_EQ(kept, 16u);
  const HeatMap map = read_bins(table.bytes, kPage, {}, 8);
  CHECK_EQ(map.elsewhere.accesses, 16u);
  CHECK_EQ(map.losses.dropped_accesses, 24u);
  CHECK_EQ(map.losses.dropped_bytes, 96u);
}

TEST(bins_that_cannot_be_are_left_out) {
  Table table(1024);
  table.touch(0x10000, 1, 4, true);
  const uint64_t key = uint64_t{0x77} << kArgumentBits;
  table.put((home_of(key, 1024) + kMostProbes) & 1023, {key, 4, 0, 1});  // too far from home
  const uint64_t twice = uint64_t{0x99} << kArgumentBits;
  table.put(home_of(twice, 1024), {twice, 4, 0, 1});
  table.put((home_of(twice, 1024) + 1) & 1023, {twice, 4, 0, 1});
  table.put(1000, {0, 4, 0, 1});
  const HeatMap map = read_bins(table.bytes, kPage, {}, 8);
  CHECK_EQ(map.used_bins, 2u);
  CHECK_EQ(map.losses.damaged_bins, 3u);
}

TEST(sums_that_do_not_fit_stay_at_the_top_and_are_counted) {
  Table table(16);
  const uint64_t key = uint64_t{0x10} << kArgumentBits;
  table.put(home_of(key, 16), {key, ~uint64_t{0}, 5, 1});
  const std::vector<TensorRange> ranges{{0x10000, kPage, {}}};
  const HeatMap map = read_bins(table.bytes, kPage, ranges, 8);
  CHECK_EQ(map.tensors[0].byte_bins[0], ~uint64_t{0});
  CHECK_EQ(map.losses.damaged_counters, 1u);
}

TEST(tables_of_no_possible_size_are_refused) {
  const std::vector<std::byte> bytes(33 * kBinBytes);
  CHECK(!is_refused([&] { read_bins(bytes, kPage, {}, 8); }));
  CHECK(is_refused([&] { read_bins(std::span(bytes).first(0), kPage, {}, 8); }));
  CHECK(is_refused([&] { read_bins(std::span(bytes).first(kBinBytes), kPage, {}, 8); }));
  CHECK(is_refused([&] { read_bins(std::span(bytes).first(31), kPage, {}, 8); }));
  CHECK(is_refused([&] { read_bins(std::span(bytes).first(32 * kBinBytes), kPage, {}, 8); }));
  CHECK(is_refused([&] { read_bins(bytes, 4095, {}, 8); }));
  CHECK(is_refused([&] { read_bins(bytes, 0, {}, 8); }));
  CHECK(is_refused([&] { read_bins(bytes, kPage, {}, 0); }));
}

TEST(counters_are_summed_over_the_warps_that_closed_their_buffers) {
  const Geometry geometry{2, 2, 0};
  Buffer buffer(geometry);
  for (uint64_t slot : {0, 1, 3}) {
    Warp warp;
    buffer.put(slot, warp.on(static_cast<uint32_t>(slot / 2), slot % 2, 0));
  }
  std::vector<std::byte> bytes = buffer.bytes();
  bytes.resize(geometry.size_bytes() + 4 * 2 * kCounterBytes);
  const auto put = [&](uint64_t slot, uint64_t site, Counter counter) {
    std::memcpy(bytes.data() + geometry.size_bytes() + (slot * 2 + site) * kCounterBytes, &counter,
                sizeof counter);
  };
  put(0, 0, {32, 0x1000});
  put(1, 0, {64, 0});
  put(2, 0, {999, 0x9999});  // of a warp that has no header
  put(3, 1, {5, 0x2000});
  const CountedSites counted = read_counters(bytes, geometry, 2, 2 * kCounterBytes, 100);
  CHECK_EQ(counted.warp_count, 3u);
  CHECK_EQ(counted.sites[0].accesses, 96u);
  CHECK_EQ(counted.sites[0].min_accesses, 32u);
  CHECK_EQ(counted.sites[0].max_accesses, 64u);
  CHECK_EQ(counted.sites[1].warp_count, 1u);
  CHECK_EQ(counted.first_addresses.size(), 2u);
  CHECK_EQ(counted.first_addresses[1].cta, 1u);
  CHECK_EQ(counted.first_addresses[1].address, 0x2000u);
  CHECK_EQ(read_counters(bytes, geometry, 2, 2 * kCounterBytes, 1).first_addresses.size(), 1u);
  CHECK(is_refused([&] { read_counters(bytes, geometry, 2, 4 * kCounterBytes, 1); }));
  CHECK(is_refused([&] { read_counters(bytes, geometry, 2, kCounterBytes, 1); }));
  CHECK(is_refused([&] { read_counters(bytes, {0, 1, 0}, 0, 0, 1); }));
  CHECK(is_refused([&] { read_counters(bytes, geometry, 1u << 20, 1u << 31, 1); }));
}

TEST(random_tables_and_ranges_keep_every_access_or_count_it) {
  std::mt19937_64 random(7);
  const int rounds = std::getenv("PROTON_LONG") == nullptr ? 300 : 3000;
  for (int round = 0; round < rounds; ++round) {
    Table table(uint64_t{16} << random() % 6);
    uint64_t accesses = 0;
    for (uint64_t left = random() % 200; left > 0; --left) {
      const uint64_t lanes = 1 + random() % 32;
      accesses += lanes;
      table.touch((1 + random() % 300) * kPage, lanes, 1u << random() % 5, random() % 2 == 0,
                  random() % 2 == 0 ? ~0u : static_cast<uint32_t>(random() % 4));
    }
    const bool is_damaged = random() % 2 == 0;
    for (uint64_t left = is_damaged ? random() % 64 : 0; left > 0; --left) {
      table.bytes[random() % table.bytes.size()] = static_cast<std::byte>(random());
    }
    std::vector<TensorRange> ranges(random() % 4);
    for (TensorRange& range : ranges) {
      range.address = random() % 7 == 0 ? random() : random() % (300 * kPage);
      range.size_bytes =
          random() % 9 == 0 ? random() % (uint64_t{1} << 50) : random() % (50 * kPage);
    }
    const HeatMap map = read_bins(table.bytes, kPage, ranges, 1 + random() % 64);
    uint64_t found = map.elsewhere.accesses + map.losses.dropped_accesses;
    for (const TensorHeat& heat : map.tensors) {
      found += heat.accesses;
      CHECK(heat.access_bins.size() <= 64);
    }
    if (!is_damaged) CHECK_EQ(found, accesses);
  }
}
