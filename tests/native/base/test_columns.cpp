/// Passes over columns; what both halves do alike is compared from Python.
#include "base/columns.h"

#include <cmath>
#include <limits>
#include <vector>

#include "check.h"

using namespace proton;

TEST(rows_are_sorted_column_by_column_and_equals_stay) {
  const std::vector<uint32_t> group = {1, 0, 1, 0, 0};
  const std::vector<double> time = {2, 0.0, -3, -0.0, -1};
  const std::vector<columns::Column> given = {columns::Numbers(group), columns::Times(time)};
  CHECK(columns::order_by(given) == (std::vector<uint32_t>{4, 1, 3, 2, 0}));
}

TEST(equal_rows_are_grouped_in_the_order_of_the_first) {
  const std::vector<uint32_t> number = {7, 2, 7, 2};
  const std::vector<columns::Column> given = {columns::Numbers(number)};
  const columns::Groups groups = columns::group_by(given);
  CHECK(groups.places == (std::vector<uint32_t>{0, 2, 1, 3}));
  CHECK(groups.bounds == (std::vector<uint32_t>{0, 2, 4}));
}

TEST(a_time_that_is_no_whole_number_is_told) {
  std::vector<uint32_t> whole;
  CHECK(columns::to_whole(std::vector<double>{1.0004, 4294967295.0}, whole));
  CHECK(whole == (std::vector<uint32_t>{1, 4294967295}));
  CHECK(!columns::to_whole(std::vector<double>{1, -1}, whole));
  CHECK(!columns::to_whole(std::vector<double>{std::numeric_limits<double>::quiet_NaN()}, whole));
}

TEST(a_gap_is_cut_where_the_host_sat_in_a_copy_and_where_other_work_ended) {
  const std::vector<double> start = {0, 100}, end = {10, 110}, launched = {0, 60};
  const std::vector<uint32_t> thread = {columns::kNone, 0};
  const std::vector<double> calls_begin = {20}, calls_end = {30};
  const std::vector<columns::Calls> blocking = {{calls_begin, calls_end}};
  const std::vector<double> busy_end = {10, 80};
  const std::vector<uint8_t> cause = {columns::Gaps::kCopy, columns::Gaps::kStream};
  const columns::Gaps gaps =
      columns::cut_gaps({start, end, launched, thread}, blocking, {busy_end, cause});
  CHECK(gaps.start_ns == (std::vector<double>{10, 20, 30, 60, 80}));
  CHECK(gaps.end_ns == (std::vector<double>{20, 30, 60, 80, 100}));
  using enum columns::Gaps::Cause;
  CHECK(gaps.cause == (std::vector<uint8_t>{kHost, kCopy, kHost, kStream, kLaunch}));
}
