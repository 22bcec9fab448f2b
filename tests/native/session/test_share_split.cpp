#include "session/samples/share_split.h"

#include <cmath>
#include <numeric>
#include <random>

#include "check.h"

using namespace proton;

TEST(parts_add_up_and_sums_follow_the_shares) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> weights(1 + random() % 40);
    for (int64_t& weight : weights) weight = static_cast<int64_t>(random() % 1'000'000);
    if (round % 3 == 0) weights[0] += 50'000'000;  // one that dwarfs the others
    weights[0] += 1;
    const double sum =
        static_cast<double>(std::accumulate(weights.begin(), weights.end(), int64_t{0}));
    ShareSplit split(weights);
    std::vector<uint64_t> parts(weights.size());
    std::vector<uint64_t> sums(weights.size());
    uint64_t total = 0;
    for (int cell = 0; cell < 60; ++cell) {
      const uint64_t count = random() % (round % 2 == 0 ? 3 : 100'000);
      total += count;
      split.split(count, parts);
      CHECK_EQ(std::accumulate(parts.begin(), parts.end(), uint64_t{0}), count);
      for (size_t i = 0; i < parts.size(); ++i) {
        sums[i] += parts[i];
        const double due = static_cast<double>(weights[i]) / sum * static_cast<double>(total);
        CHECK(std::abs(static_cast<double>(sums[i]) - due) < 2.0);
      }
    }
  }
}

TEST(single_samples_do_not_all_go_to_the_largest_share) {
  const int64_t weights[] = {60, 40};
  ShareSplit split(weights);
  uint64_t sums[2] = {};
  for (int i = 0; i < 1000; ++i) {
    uint64_t parts[2];
    split.split(1, parts);
    sums[0] += parts[0];
    sums[1] += parts[1];
  }
  CHECK_EQ(sums[0], 600u);
  CHECK_EQ(sums[1], 400u);
}

TEST(shares_without_weight_are_equal_when_there_is_no_other) {
  const int64_t none[] = {0, 0, 0};
  uint64_t parts[3];
  ShareSplit(none).split(9, parts);
  for (const uint64_t part : parts) CHECK_EQ(part, 3u);
  const int64_t some[] = {0, 5};
  ShareSplit(some).split(9, {parts, 2});
  CHECK_EQ(parts[0], 0u);
  CHECK_EQ(parts[1], 9u);
}

TEST(one_share_takes_all) {
  const int64_t weights[] = {3};
  uint64_t part = 0;
  ShareSplit(weights).split(UINT64_MAX / 2, {&part, 1});
  CHECK_EQ(part, UINT64_MAX / 2);
}
