#include "session/metrics/metric_names.h"

#include "base/error.h"
#include "check.h"

using namespace proton;

TEST(suffixes_give_the_kind_and_leave_the_key) {
  CHECK_EQ(parse_metric_name("x").key, "x");
  CHECK(parse_metric_name("x").kind == MetricKind::kInclusive);
  CHECK_EQ(parse_metric_name("x (inc)").key, "x (inc)");
  CHECK_EQ(parse_metric_name("x (ns)(exc)").key, "x (ns)");
  CHECK(parse_metric_name("x (ns)(exc)").kind == MetricKind::kExclusive);
  CHECK_EQ(parse_metric_name("x (pty)").key, "x");
  CHECK(parse_metric_name("x (pty)").kind == MetricKind::kProperty);
  CHECK_EQ(parse_metric_name("x (exc) y").key, "x (exc) y");
}

TEST(some_names_force_a_type) {
  CHECK(parse_metric_name("flops").forced == ForcedType::kFloat);
  CHECK(parse_metric_name("flops64").forced == ForcedType::kFloat);
  CHECK(parse_metric_name("bytes").forced == ForcedType::kInteger);
  CHECK(parse_metric_name("flops128").forced == ForcedType::kNone);
}

TEST(names_with_nothing_left_are_refused) {
  CHECK_THROWS(parse_metric_name(""), Error);
  CHECK_THROWS(parse_metric_name("(pty)"), Error);
  CHECK_THROWS(parse_metric_name(std::string_view("a\0b", 3)), Error);
}

TEST(equal_keys_of_one_kind_share_an_id) {
  MetricNames names;
  CHECK_EQ(names.name(names.cpu_time()).key, "cpu_time (ns)");
  CHECK_EQ(names.intern("x (exc)"), names.intern("x(exc)"));
  CHECK(names.intern("x") != names.intern("x (exc)"));
}
