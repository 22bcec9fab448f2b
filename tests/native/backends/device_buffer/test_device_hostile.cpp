// Buffers of random and of changed bytes: whatever comes, nothing crashes, every slot and record is
// booked somewhere, and what is said stays within bounds. Runs under the sanitizers.
#include <cstdlib>
#include <random>

#include "kernel_buffer.h"

using namespace kernel_buffer;

namespace {

int hostile_rounds(int usual) { return std::getenv("PROTON_LONG") == nullptr ? usual : 10 * usual; }

/// What must hold of any decoded buffer.
void check_sense(const DecodedBuffer& decoded, const Geometry& geometry) {
  CHECK_EQ(decoded.warps.size() + decoded.losses.missing_warps + decoded.losses.damaged_headers,
           geometry.slot_count());
  for (size_t at = 0; at < decoded.regions.size(); ++at) {
    const RegionSummary& region = decoded.regions[at];
    CHECK(region.parent == kNoContext || region.parent < at);
    CHECK(region.min_cycles >= 0 && region.min_cycles <= region.max_cycles);
    CHECK(region.first_passage + region.warp_count <= decoded.warp_passages.size());
    CHECK(region.warp_count <= decoded.warps.size());
    CHECK(std::isfinite(region.cycles) && std::isfinite(region.time_ns));
  }
  for (const proton::RecordedSpan& span : decoded.spans) {
    CHECK(span.region < decoded.regions.size());
    CHECK(span.warp < decoded.warps.size() && span.end_warp < decoded.warps.size());
    CHECK(span.start_ns <= span.end_ns);
  }
}

DecodeOptions random_options(std::mt19937_64& random) {
  DecodeOptions options{
      .cost = {static_cast<double>(random() % 3 * 10), static_cast<double>(random() % 30)},
      .keeps_spans = random() % 2 == 0};
  static HostOffset offset;
  if (random() % 2 == 0) options.kernel = {1'000'000, 1'050'000};
  if (random() % 2 == 0) options.host_offset = &offset;
  if (random() % 4 == 0) options.clock_bits = kLongClockBits;
  return options;
}

std::vector<Region> random_regions(std::mt19937_64& random) {
  std::vector<Region> regions(random() % 9);
  for (Region& one : regions) {
    if (random() % 3 == 0) one.matching = Matching::kQueued;
    one.value_bits = static_cast<uint32_t>(random() % 3 * 32);
    one.has_floats = random() % 2 == 0;
    if (random() % 3 == 0) one.loop = static_cast<uint32_t>(random() % regions.size());
    one.most_turns = static_cast<uint32_t>(random() % 3);
  }
  return regions;
}

Buffer honest_buffer(std::mt19937_64& random) {
  const Geometry geometry{static_cast<uint32_t>(1 + random() % 4),
                          static_cast<uint32_t>(1 + random() % 4), 16u << random() % 6};
  Buffer buffer(geometry);
  for (uint64_t slot = 0; slot < geometry.slot_count(); ++slot) {
    Warp warp;
    warp.on(static_cast<uint32_t>(slot), 0, static_cast<uint32_t>(random() % 3));
    uint64_t cycles = 0;
    for (uint64_t left = random() % 100; left > 0; --left) {
      const auto region = static_cast<uint32_t>(random() % 10);
      const auto kind = static_cast<RecordKind>(random() % 4);
      cycles += random() % 900;
      if (kind == RecordKind::kValue) {
        warp.value64(region, cycles, static_cast<int64_t>(random()));
      } else {
        warp.record(kind, region, cycles);
      }
    }
    buffer.put(slot, warp);
  }
  return buffer;
}

uint64_t telling_word(std::mt19937_64& random) {
  constexpr uint64_t kTelling[] = {
      0, 1, 0x7fffffff, 0x80000000, 0xffffffff, ~uint64_t{0}, uint64_t{1} << 62, uint64_t{1} << 63};
  return random() % 2 == 0 ? kTelling[random() % 8] : random();
}

}  // namespace

TEST(buffers_of_random_bytes_never_crash) {
  std::mt19937_64 random(20261115);
  for (int round = 0; round < hostile_rounds(300); ++round) {
    Buffer buffer({static_cast<uint32_t>(1 + random() % 5), static_cast<uint32_t>(1 + random() % 3),
                   16u << random() % 8});
    for (std::byte& one : buffer.bytes()) one = static_cast<std::byte>(random());
    // as good as no random header has the right magic and ring size: give it to most
    for (uint64_t slot = 0; slot < buffer.geometry().slot_count(); ++slot) {
      if (random() % 8 == 0) continue;
      Header header = buffer.header(slot);
      header.magic = kMagic;
      header.ring_bytes = buffer.geometry().ring_bytes;
      header.written_bytes &= ~7u;
      header.sm %= 4;
      buffer.write(buffer.geometry().header_offset(slot), header);
    }
    check_sense(buffer.decode(random_regions(random), random_options(random)), buffer.geometry());
  }
}

TEST(changed_words_in_honest_buffers_never_crash) {
  std::mt19937_64 random(4711);
  for (int round = 0; round < hostile_rounds(1500); ++round) {
    Buffer buffer = honest_buffer(random);
    const Geometry& geometry = buffer.geometry();
    for (uint64_t left = random() % 6; left > 0; --left) {
      const uint64_t headers = geometry.header_offset(0);
      const bool in_header = random() % 3 != 0;
      const uint64_t low = in_header ? headers : 0;
      const uint64_t high = in_header ? geometry.size_bytes() : headers;
      const uint64_t offset = (low + random() % (high - low)) & ~uint64_t{3};
      if (offset + 8 > geometry.size_bytes() || random() % 2 == 0) {
        buffer.write(offset, static_cast<uint32_t>(telling_word(random)));
      } else {
        buffer.write(offset, telling_word(random));
      }
    }
    check_sense(buffer.decode(random_regions(random), random_options(random)), geometry);
  }
}

TEST(drained_parts_of_any_size_never_crash) {
  std::mt19937_64 random(99);
  for (int round = 0; round < hostile_rounds(300); ++round) {
    const Buffer buffer = honest_buffer(random);
    std::vector<std::vector<std::byte>> parts(buffer.geometry().slot_count());
    std::vector<std::span<const std::byte>> drained;
    for (std::vector<std::byte>& part : parts) {
      part.resize(random() % 400);
      for (std::byte& one : part) one = static_cast<std::byte>(random());
      drained.emplace_back(part);
    }
    check_sense(buffer.decode(random_regions(random), random_options(random), drained),
                buffer.geometry());
  }
}

TEST(counts_far_beyond_the_ring_are_overwritten_records) {
  Buffer buffer({1, 1, 64});
  Warp warp;
  for (uint64_t i = 1; i <= 8; ++i) warp.mark(0, i);
  buffer.put(0, warp);
  Header header = buffer.header(0);
  header.written_bytes = 0xffffffc0;
  buffer.write(buffer.geometry().header_offset(0), header);
  const DecodedBuffer decoded = buffer.decode(nested(1));
  CHECK_EQ(decoded.losses.overwritten_records, 0xffffffc0 / 8 - 8);
  CHECK_EQ(decoded.regions[0].count, 8);
}

TEST(endless_starts_take_bounded_memory) {
  Buffer buffer({1, 1, 1u << 20});
  Warp warp;
  std::mt19937_64 random(3);
  for (uint64_t i = 0; i < 131'072; ++i) {
    warp.record(random() % 4 == 0 ? RecordKind::kEnd : RecordKind::kStart,
                static_cast<uint32_t>(random() % 10'000), i);
  }
  buffer.put(0, warp);
  const DecodedBuffer decoded = buffer.decode(nested(10'000));
  CHECK(decoded.regions.size() <= 65'536);
  CHECK(decoded.losses.too_deep > 0);
}
