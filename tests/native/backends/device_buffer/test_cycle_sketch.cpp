// Quantiles over many values in bounded memory, against sorted values.
#include "backends/device_buffer/recorder/kernel_book.h"

#include <random>

#include "check.h"

using proton::device_buffer::CycleSketch;

namespace {

double exact(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::max<size_t>(rank, 1) - 1];
}

}  // namespace

TEST(quantiles_are_within_one_percent_over_twelve_orders_of_magnitude) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(0, 40);
  CycleSketch sketch;
  std::vector<double> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(std::exp2(exponent(random)));
    sketch.add(values.back());
  }
  for (const double share : {0.001, 0.1, 0.5, 0.9, 1.0}) {
    const double wanted = exact(values, share);
    CHECK(std::abs(sketch.quantile(share) / wanted - 1) < 0.01);
  }
}

TEST(sketches_that_are_added_up_say_what_one_of_all_values_says) {
  CycleSketch first, second, all;
  for (int i = 0; i < 500; ++i) {
    const double value = i % 2 == 0 ? 3.0 * i : 1e6 + i;
    (i % 3 == 0 ? first : second).add(value);
    all.add(value);
  }
  first.add(second);
  first.add(CycleSketch{});
  CHECK_EQ(first.count(), 500);
  for (const double share : {0.1, 0.5, 0.9}) {
    CHECK(std::abs(first.quantile(share) / all.quantile(share) - 1) < 1e-12);
  }
}

TEST(one_value_small_whole_ones_and_none_come_back_as_they_are) {
  CycleSketch sketch;
  CHECK_EQ(sketch.quantile(0.5), 0);
  for (const double value : {0.0, 0.0, 17.0, 18.0, 123.0}) sketch.add(value);
  CHECK_EQ(sketch.quantile(0.1), 0);
  CHECK_EQ(sketch.quantile(0.5), 17);
  CHECK_EQ(sketch.quantile(0.8), 18);
  CHECK_EQ(sketch.quantile(1), 123);
  CycleSketch far;
  far.add(0x1p70);
  far.add(-1);
  CHECK_EQ(far.quantile(1), 0x1p70);
}
