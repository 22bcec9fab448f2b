// Numbers that kernels record: integers exact, floats of both widths, what is not finite apart.
#include <bit>
#include <cmath>
#include <limits>

#include "backends/device_buffer/recorder/kernel_book.h"
#include "kernel_buffer.h"

using namespace kernel_buffer;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMost = std::numeric_limits<double>::max();
constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

int32_t bits_of(float value) { return std::bit_cast<int32_t>(value); }
int64_t bits_of(double value) { return std::bit_cast<int64_t>(value); }

DecodedBuffer decode(const Warp& warp, Region region) {
  Buffer buffer({1, 1, 1024});
  buffer.put(0, warp);
  return buffer.decode({region}, {.keeps_spans = true});
}

ValueSum values_of(const Warp& warp, Region region) {
  return decode(warp, region).regions[0].values;
}

const Region kFloats{.value_bits = 32, .has_floats = true};
const Region kDoubles{.value_bits = 64, .has_floats = true};
const Region kWide{.value_bits = 64};

}  // namespace

TEST(floats_of_32_bits_are_read_as_such) {
  Warp warp;
  warp.value32(0, 5, bits_of(-2.5f)).value32(0, 6, bits_of(0.375f)).value32(0, 7, bits_of(1e-40f));
  const ValueSum values = values_of(warp, kFloats);
  CHECK(values.is_float);
  CHECK_EQ(values.count, 3);
  CHECK_EQ(values.not_finite, 0);
  CHECK_EQ(values.floats.min, -2.5);
  CHECK_EQ(values.floats.max, 0.375);
  CHECK_EQ(values.sum, -2.125 + static_cast<double>(1e-40f));
}

TEST(floats_of_64_bits_keep_every_digit) {
  Warp warp;
  warp.value64(0, 5, bits_of(-1e300)).value64(0, 6, bits_of(0.1)).value64(0, 7, bits_of(1e300));
  const ValueSum values = values_of(warp, kDoubles);
  CHECK_EQ(values.floats.min, -1e300);
  CHECK_EQ(values.floats.max, 1e300);
  const DecodedBuffer decoded = decode(warp, kDoubles);
  CHECK_EQ(std::bit_cast<double>(decoded.spans[1].value), 0.1);
}

TEST(the_width_of_floats_is_told_from_the_records_where_the_map_does_not_say) {
  Warp warp;
  warp.value32(0, 5, bits_of(1.5f)).value64(0, 6, bits_of(-0.1));
  const ValueSum values = values_of(warp, {.has_floats = true});
  CHECK_EQ(values.floats.max, 1.5);
  CHECK_EQ(values.floats.min, -0.1);
}

TEST(a_float_that_looks_like_a_tag_is_still_one) {
  Warp warp;  // the high word of the value is the tag of its record
  const auto odd = static_cast<int64_t>(uint64_t{pack_tag(RecordKind::kValue, 0)} << 32 | 9);
  warp.value64(0, 5, odd);
  CHECK_EQ(std::bit_cast<int64_t>(values_of(warp, kDoubles).floats.min), odd);
}

TEST(numbers_that_are_not_finite_are_counted_and_spoil_nothing) {
  for (const bool is_first : {true, false}) {
    Warp warp;
    if (!is_first) warp.value64(0, 4, bits_of(3.0)).value64(0, 5, bits_of(-1.0));
    warp.value64(0, 6, bits_of(kNan)).value64(0, 7, bits_of(kInfinity));
    warp.value64(0, 8, bits_of(-kInfinity)).value64(0, 9, bits_of(-kNan));
    if (is_first) warp.value64(0, 14, bits_of(3.0)).value64(0, 15, bits_of(-1.0));
    const ValueSum values = values_of(warp, kDoubles);
    CHECK_EQ(values.count, 6);
    CHECK_EQ(values.not_finite, 4);
    CHECK_EQ(values.sum, 2.0);
    CHECK_EQ(values.floats.min, -1.0);
    CHECK_EQ(values.floats.max, 3.0);
  }
}

TEST(a_float_of_32_bits_that_is_no_number_stays_none) {
  Warp warp;
  warp.value32(0, 5, 0x7f80'0001).value32(0, 6, bits_of(-std::numeric_limits<float>::infinity()));
  const DecodedBuffer decoded = decode(warp, kFloats);
  CHECK_EQ(decoded.regions[0].values.not_finite, 2);
  CHECK_EQ(decoded.regions[0].values.finite_count(), 0);
  CHECK(std::isnan(std::bit_cast<double>(decoded.spans[0].value)));
  CHECK_EQ(std::bit_cast<double>(decoded.spans[1].value), -kInfinity);
}

TEST(a_sum_beyond_all_numbers_stays_at_the_largest) {
  Warp warp;
  for (uint64_t i = 0; i < 3; ++i) warp.value64(0, 5 + i, bits_of(-kMost));
  CHECK_EQ(values_of(warp, kDoubles).sum, -kMost);
  ValueSum both = values_of(warp, kDoubles);
  both.add(both);
  CHECK_EQ(both.sum, -kMost);
}

TEST(extremes_of_integers_are_exact_over_all_64_bits) {
  Warp warp;
  warp.value64(0, 5, kHighest - 1).value64(0, 6, kLowest).value64(0, 7, kHighest);
  const ValueSum values = values_of(warp, kWide);
  CHECK(!values.is_float);
  CHECK_EQ(values.integers.min, kLowest);
  CHECK_EQ(values.integers.max, kHighest);
  CHECK_EQ(decode(warp, kWide).spans[0].value, kHighest - 1);
}

TEST(launches_add_up_whichever_has_no_number_that_is_finite) {
  Warp odd, even, integers;
  odd.value32(0, 5, bits_of(static_cast<float>(kNan)));
  even.value32(0, 5, bits_of(-4.0f)).value32(0, 6, bits_of(0.5f));
  for (const bool is_odd_first : {true, false}) {
    KernelSum sum;
    sum.add(decode(is_odd_first ? odd : even, kFloats));
    sum.add(decode(is_odd_first ? even : odd, kFloats));
    const ValueSum& values = sum.regions[0].values;
    CHECK(values.is_float);
    CHECK_EQ(values.count, 3);
    CHECK_EQ(values.not_finite, 1);
    CHECK_EQ(values.sum, -3.5);
    CHECK_EQ(values.floats.min, -4.0);
    CHECK_EQ(values.floats.max, 0.5);
  }
  KernelSum sum;
  integers.value64(0, 5, kLowest).value64(0, 6, kHighest);
  for (int i = 0; i < 2; ++i) sum.add(decode(integers, kWide));
  CHECK_EQ(sum.regions[0].values.integers.min, kLowest);
  CHECK_EQ(sum.regions[0].values.integers.max, kHighest);
  CHECK_EQ(sum.regions[0].values.count, 4);
}
