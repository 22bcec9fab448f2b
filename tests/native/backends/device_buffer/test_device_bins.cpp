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
  explicit Table(const TableShape& shape, std::vector<Column> columns = {})
      : shape(shape), columns(std::move(columns)), bytes(shape.size_bytes()) {}

  template <typename T>
  T at(uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  template <typename T>
  void put(uint64_t offset, const T& value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
  }
  uint64_t bin(uint64_t place) const { return shape.header_bytes() + place * kBinBytes; }
  void base(uint32_t column, uint64_t address) {
    put(sizeof(TableHeader) + column * kColumnBytes, address);
  }

  /// Memory that no argument leads to. Whether there was room.
  bool touch(uint64_t address, uint64_t lanes, uint64_t lane_bytes, bool is_read) {
    const uint64_t key = address / shape.bin_bytes;
    const uint64_t bins = shape.hashed_bins();
    for (uint64_t tries = 0; tries < kMostProbes; ++tries) {
      const uint64_t place = (home_of(key, bins) + tries) & (bins - 1);
      auto entry = at<BinEntry>(bin(place));
      if (entry.key != 0 && entry.key != key) continue;
      entry.key = key;
      (is_read ? entry.load_bytes : entry.store_bytes) += lanes * lane_bytes;
      entry.accesses += lanes;
      put(bin(place), entry);
      return true;
    }
    auto header = at<TableHeader>(0);
    header.dropped_accesses += lanes;
    header.dropped_bytes += lanes * lane_bytes;
    put(0, header);
    return false;
  }

  /// Memory `offset` behind the argument of a column.
  void touch_row(uint32_t column, uint64_t offset, uint64_t lanes, uint64_t copy = 0) {
    const uint64_t rows = shape.own_rows();
    uint64_t row = rows - 1;
    uint64_t bytes_of_row = shape.bin_bytes;
    for (uint32_t level = 0; level < kLevels; ++level, bytes_of_row <<= kLevelBits) {
      if (offset / bytes_of_row < rows >> (level + 1)) {
        row = rows - (rows >> level) + offset / bytes_of_row;
        break;
      }
    }
    const uint64_t where = shape.rows_offset() + (copy * rows + row) * shape.row_bytes();
    put(where + column * kColumnBytes, at<uint64_t>(where + column * kColumnBytes) + lanes);
  }
  HeatMap read(std::span<const TensorRange> ranges, uint64_t most_bins = 1024) const {
    return read_table(bytes, shape, columns, ranges, most_bins);
  }

  TableShape shape;
  std::vector<Column> columns;
  std::vector<std::byte> bytes;
};

TableShape hashed(uint32_t bins) { return {kPage, bins, 0, 1, 0}; }
TableShape direct(uint32_t rows, uint32_t columns, uint64_t ctas = 1) {
  return {kPage, 0, rows, ctas, columns};
}

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

TEST(hashed_bins_go_to_the_tensor_whose_memory_they_are) {
  Table table(hashed(256));
  const std::vector<TensorRange> ranges{{0x10000, 2 * kPage, 0}, {0x20000, kPage, 1}};
  table.touch(0x10000, 32, 16, true);
  table.touch(0x10010, 32, 16, true);
  table.touch(0x11ff0, 8, 4, false);
  table.touch(0x20000, 1, 8, false);
  table.touch(0x90000, 2, 2, true);
  const HeatMap map = table.read(ranges);
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

TEST(a_page_of_two_tensors_is_told_apart_by_argument_and_hashed_goes_to_the_larger_part) {
  TableShape shape = direct(64, 2);
  shape.bins = 16;
  Table table(shape, {{3, 4, true}, {5, 8, false}});
  const std::vector<TensorRange> ranges{{0x10000, 1024, {}}, {0x10400, 3072, {}}};
  table.base(0, 0x10000);
  table.base(1, 0x10400);
  table.touch_row(0, 1020, 4);
  table.touch_row(1, 0, 2);
  table.touch(0x10000, 1, 4, true);
  const HeatMap map = table.read(ranges);
  CHECK_EQ(map.tensors[0].load_bytes, 16u);
  CHECK_EQ(map.tensors[0].accesses, 4u);
  CHECK_EQ(map.tensors[1].store_bytes, 16u);
  CHECK_EQ(map.tensors[1].accesses, 3u);
}

TEST(copies_of_rows_are_summed) {
  Table table(direct(128, 1, 1024), {{0, 16, true}});
  CHECK_EQ(table.shape.copies(), 8u);
  CHECK_EQ(table.shape.own_rows(), 16384u);
  table.base(0, 0x7000);
  for (uint64_t copy = 0; copy < 8; ++copy) table.touch_row(0, 2 * kPage + 8, copy + 1, copy);
  const std::vector<TensorRange> ranges{{0x7000, 4 * kPage, {}}};
  const HeatMap map = table.read(ranges);
  CHECK((map.tensors[0].access_bins == std::vector<uint64_t>{0, 0, 36, 0}));
  CHECK_EQ(map.tensors[0].start_address, 0x7000u);
  CHECK_EQ(map.tensors[0].load_bytes, 576u);
}

TEST(far_rows_stand_for_more_memory_and_lose_nothing) {
  Table table(direct(64, 1), {{0, 4, true}});  // 32 pages, 16 of 16 pages, 8 of 256 ...
  const uint64_t base = 0x7f0000000200, size = 300 * kPage;
  table.base(0, base);
  for (uint64_t page = 0; page < 300; ++page) table.touch_row(0, page * kPage, 1);
  table.touch_row(0, ~uint64_t{0} - 7, 5);  // before the argument
  const std::vector<TensorRange> ranges{{base, size, {}}};
  const HeatMap map = table.read(ranges);
  const TensorHeat& heat = map.tensors[0];
  CHECK_EQ(heat.bin_bytes, 256 * kPage);
  CHECK((heat.access_bins == std::vector<uint64_t>{256, 44}));
  CHECK_EQ(map.elsewhere.accesses, 5u);
}

TEST(what_is_past_a_tensor_belongs_to_what_is_there) {
  Table table(direct(64, 1), {{0, 4, true}});
  table.base(0, 0x10000);
  table.touch_row(0, kPage, 1);
  table.touch_row(0, 2 * kPage, 2);
  const std::vector<TensorRange> ranges{{0x10000, kPage, {}}, {0x11000, kPage, {}}};
  const HeatMap map = table.read(ranges);
  CHECK_EQ(map.tensors[0].accesses, 0u);
  CHECK_EQ(map.tensors[1].accesses, 1u);
  CHECK_EQ(map.elsewhere.accesses, 2u);
}

TEST(arguments_with_one_address_are_tensors_in_their_order) {
  Table table(direct(64, 3), {{4, 4, false}, {2, 4, true}, {4, 8, true}});
  for (uint32_t column = 0; column < 3; ++column) {
    table.base(column, 0x10000);
    table.touch_row(column, 0, column + 1);
  }
  std::vector<TensorRange> ranges{{0x10000, kPage, {}}, {0x10000, kPage, {}}};
  HeatMap map = table.read(ranges);
  CHECK_EQ(map.tensors[0].load_bytes, 8u);
  CHECK_EQ(map.tensors[1].store_bytes, 4u);
  CHECK_EQ(map.tensors[1].load_bytes, 24u);
  ranges[0].argument = 4;
  map = table.read(ranges);
  CHECK_EQ(map.tensors[0].accesses, 4u);
}

TEST(bins_of_a_large_tensor_are_joined) {
  Table table(direct(1 << 12, 1), {{0, 4, true}});
  const std::vector<TensorRange> ranges{{0x40001000, 100 * kPage, {}}};
  table.base(0, 0x40001000);
  for (uint64_t page = 0; page < 100; ++page) table.touch_row(0, page * kPage, 1);
  const HeatMap map = table.read(ranges, 30);
  const TensorHeat& heat = map.tensors[0];
  CHECK_EQ(heat.bin_bytes, 4 * kPage);
  CHECK_EQ(heat.access_bins.size(), 25u);
  CHECK_EQ(heat.access_bins[0], 4u);
  CHECK_EQ(heat.access_bins[24], 4u);
}

TEST(what_finds_no_bin_is_counted) {
  Table table(hashed(16));
  uint64_t kept = 0;
  for (uint64_t page = 1; page <= 40; ++page) kept += table.touch(page * kPage, 1, 4, true);
  CHECK_EQ(kept, 16u);
  const HeatMap map = table.read({}, 8);
  CHECK_EQ(map.elsewhere.accesses, 16u);
  CHECK_EQ(map.losses.dropped_accesses, 24u);
  CHECK_EQ(map.losses.dropped_bytes, 96u);
}

TEST(bins_that_cannot_be_are_left_out) {
  Table table(hashed(1024));
  table.touch(0x10000, 1, 4, true);
  const uint64_t key = 0x77;
  const auto place = [](uint64_t of, uint64_t behind) {
    return (home_of(of, 1024) + behind) & 1023;
  };
  table.put(table.bin(place(key, kMostProbes)), BinEntry{key, 4, 0, 1});  // too far from home
  const uint64_t twice = 0x99;
  table.put(table.bin(place(twice, 0)), BinEntry{twice, 4, 0, 1});
  table.put(table.bin(place(twice, 1)), BinEntry{twice, 4, 0, 1});
  table.put(table.bin(1000), BinEntry{0, 4, 0, 1});
  const HeatMap map = table.read({}, 8);
  CHECK_EQ(map.used_bins, 2u);
  CHECK_EQ(map.losses.damaged_bins, 3u);
}

TEST(sums_that_do_not_fit_stay_at_the_top_and_are_counted) {
  TableShape shape = direct(16, 1);
  shape.bins = 16;
  Table table(shape, {{0, 4, true}});
  const uint64_t key = 0x10;
  table.put(table.bin(home_of(key, 16)), BinEntry{key, ~uint64_t{0}, 5, 1});
  table.base(0, 0x20000);
  table.touch_row(0, 0, ~uint64_t{0});
  const std::vector<TensorRange> ranges{{0x10000, kPage, {}}, {0x20000, kPage, {}}};
  const HeatMap map = table.read(ranges, 8);
  CHECK_EQ(map.tensors[0].byte_bins[0], ~uint64_t{0});
  CHECK_EQ(map.tensors[1].load_bytes, ~uint64_t{0});
  CHECK_EQ(map.losses.damaged_counters, 2u);
}

TEST(tables_of_no_possible_shape_are_refused) {
  const std::vector<std::byte> bytes(1 << 16);
  const std::vector<Column> one{{0, 4, true}}, none{{0, 0, true}};
  const auto read = [&](TableShape shape, std::span<const Column> columns, uint64_t most = 8) {
    return is_refused([&] { read_table(bytes, shape, columns, {}, most); });
  };
  CHECK(!read(hashed(32), {}));
  CHECK(!read(direct(16, 1), one));
  CHECK(read(hashed(1 << 12), {}));  // more than there is
  CHECK(read(direct(1 << 14, 1), one));
  CHECK(read(direct(8, 1), one));
  CHECK(read(direct(16, 2), one));
  CHECK(read(direct(16, 1), none));
  CHECK(read(direct(16, 1, 0), one));
  CHECK(read({4095, 16, 0, 1, 0}, {}));
  CHECK(read({0, 16, 0, 1, 0}, {}));
  CHECK(read({kPage, ~0u, 0, 1, 0}, {}));
  CHECK(read(hashed(32), {}, 0));
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
    const auto columns = static_cast<uint32_t>(random() % 4);
    std::vector<Column> counted;
    for (uint32_t column = 0; column < columns; ++column) {
      counted.push_back({static_cast<uint32_t>(random() % 4), 1u << random() % 5, column % 2 == 0});
    }
    Table table({kPage, 16u << random() % 6, columns == 0 ? 0 : 16u << random() % 6,
                 1 + random() % 3, columns},
                counted);
    for (uint32_t column = 0; column < columns; ++column) {
      table.base(column, random() % (300 * kPage));
    }
    uint64_t accesses = 0;
    for (uint64_t left = random() % 200; left > 0; --left) {
      const uint64_t lanes = 1 + random() % 32;
      accesses += lanes;
      if (columns != 0 && random() % 2 == 0) {
        table.touch_row(static_cast<uint32_t>(random() % columns), random() >> random() % 60, lanes,
                        random() % table.shape.copies());
      } else {
        table.touch((1 + random() % 300) * kPage, lanes, 1u << random() % 5, random() % 2 == 0);
      }
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
    const HeatMap map = table.read(ranges, 1 + random() % 64);
    uint64_t found = map.elsewhere.accesses + map.losses.dropped_accesses;
    for (const TensorHeat& heat : map.tensors) {
      found += heat.accesses;
      CHECK(heat.access_bins.size() <= 64);
      uint64_t in_bins = 0;
      for (const uint64_t count : heat.access_bins) in_bins += count;
      if (!is_damaged) CHECK_EQ(in_bins, heat.accesses);
    }
    if (!is_damaged) CHECK_EQ(found, accesses);
  }
}
