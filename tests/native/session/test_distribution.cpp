#include "session/metrics/distribution.h"

#include "check.h"

using proton::Distribution;

TEST(nothing_has_no_quantiles) { CHECK_EQ(Distribution().quantile(0.5), 0); }

TEST(quantiles_are_within_a_tenth) {
  Distribution spread;
  for (int64_t value = 1; value <= 100'000; ++value) spread.add(value);
  for (const double share : {0.01, 0.1, 0.5, 0.9, 0.99}) {
    const double exact = share * 100'000;
    const auto found = static_cast<double>(spread.quantile(share));
    CHECK(found > exact * 0.9 && found < exact * 1.1);
  }
}

TEST(small_values_are_exact) {
  Distribution spread;
  for (int64_t value = 0; value < 8; ++value) spread.add(value);
  CHECK_EQ(spread.quantile(0), 0);
  CHECK_EQ(spread.quantile(0.5), 3);
  CHECK_EQ(spread.quantile(1), 7);
}

TEST(a_rare_long_run_shows_in_the_last_percent_only) {
  Distribution spread;
  for (int i = 0; i < 990; ++i) spread.add(1000);
  for (int i = 0; i < 10; ++i) spread.add(1'000'000'000'000);
  CHECK(spread.quantile(0.5) < 1100);
  CHECK(spread.quantile(0.995) > 900'000'000'000);
}

TEST(merging_is_adding_all_values) {
  Distribution low, high, both;
  for (int64_t value = 1; value < 100; ++value) {
    low.add(value);
    high.add(value * 1000);
    both.add(value);
    both.add(value * 1000);
  }
  high.merge(low);
  for (const double share : {0.1, 0.5, 0.9}) {
    CHECK_EQ(high.quantile(share), both.quantile(share));
  }
}

TEST(values_below_zero_count_as_zero) {
  Distribution spread;
  spread.add(-5);
  CHECK_EQ(spread.quantile(0.5), 0);
}

TEST(few_values_are_exact_and_the_last_percent_of_two_is_the_larger) {
  Distribution spread;
  spread.add(500);
  CHECK_EQ(spread.quantile(0.99), 500);
  spread.add(700);
  CHECK_EQ(spread.quantile(0.5), 500);
  CHECK_EQ(spread.quantile(0.99), 700);
  for (int64_t value = 3; value <= 16; ++value) spread.add(value * 1000 + 1);
  CHECK_EQ(spread.quantile(0.5), 8001);
  CHECK_EQ(spread.quantile(0.99), 16'001);
}

TEST(few_and_many_values_merge) {
  Distribution few, many;
  few.add(1'000'000);
  few.add(2);
  for (int i = 0; i < 1000; ++i) many.add(1000);
  Distribution both = few;
  both.merge(many);
  many.merge(few);
  for (const Distribution* merged : {&both, &many}) {
    CHECK(merged->quantile(0) == 2);
    CHECK(merged->quantile(0.5) > 900 && merged->quantile(0.5) < 1100);
    CHECK(merged->quantile(1) > 900'000);
  }
}
