#include "session/metrics/metric_table.h"

#include "check.h"

using namespace proton;

namespace {

template <typename T>
SampleList one(T value) {
  SampleList list;
  list.add(3, MetricValue(value));
  return list;
}

}  // namespace

TEST(sums_grow_and_properties_are_replaced) {
  MetricTable table;
  for (int i = 0; i < 3; ++i) {
    CHECK(table.add(1, MetricKind::kInclusive, one(int64_t{2}), 0) == Booking::kBooked);
    CHECK(table.add(2, MetricKind::kProperty, one(1.5), 0) == Booking::kBooked);
  }
  CHECK_EQ(std::get<int64_t>(table.value(1, 3)), 6);
  CHECK_EQ(std::get<double>(table.value(2, 3)), 1.5);
  CHECK_EQ(table.cells().size(), 2);
}

TEST(another_type_or_length_is_refused_and_the_old_value_stands) {
  MetricTable table;
  table.add(1, MetricKind::kInclusive, one(int64_t{2}), 0);
  CHECK(table.add(1, MetricKind::kInclusive, one(2.0), 0) == Booking::kTypeClash);
  table.add(2, MetricKind::kInclusive, one(std::vector<double>{1, 2}), 0);
  CHECK(table.add(2, MetricKind::kInclusive, one(std::vector<double>{1}), 0) ==
        Booking::kLengthClash);
  CHECK(table.add(2, MetricKind::kInclusive, one(std::vector<int64_t>{1, 2}), 0) ==
        Booking::kTypeClash);
  CHECK_EQ(std::get<int64_t>(table.value(1, 3)), 2);
}

TEST(a_sum_never_wraps_around) {
  MetricTable table;
  table.add(1, MetricKind::kInclusive, one(INT64_MAX), 0);
  CHECK(table.add(1, MetricKind::kInclusive, one(int64_t{1}), 0) == Booking::kOverflow);
  CHECK_EQ(std::get<int64_t>(table.value(1, 3)), INT64_MAX);
  table.add(2, MetricKind::kInclusive, one(std::vector<int64_t>{0, INT64_MAX}), 0);
  CHECK(table.add(2, MetricKind::kInclusive, one(std::vector<int64_t>{1, 1}), 0) ==
        Booking::kOverflow);
  CHECK_EQ(std::get<std::vector<int64_t>>(table.value(2, 3))[0], 0);
}

TEST(a_list_of_many_samples_keeps_their_order) {
  SampleList list;
  for (int64_t i = 0; i < 10; ++i) list.add(static_cast<MetricId>(i), i);
  list.add(10, MetricValue(std::vector<double>{1}));
  CHECK_EQ(list.size(), 11);
  for (size_t i = 0; i < 10; ++i) CHECK_EQ(std::get<int64_t>(list.value(i)), i);
  CHECK_EQ(type_name(list.value(10)), "list of 1 floats");
}
