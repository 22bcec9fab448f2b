/// Hatchet files as text, byte by byte where that is short enough to read.
#include "files/writers.h"

#include <cmath>
#include <limits>
#include <string>

#include "check.h"
#include "trees.h"

using proton::CallTree;
using proton::FrameKind;
using proton::MetricKind;
using proton::Value;
using namespace proton::test;

namespace {

const std::string kSummaryUpToKinds =
    R"("proton":{"format":1,"losses":{},"warnings":[],"autotune":[],"metric_kinds":{},"kinds":")";

}  // namespace

TEST(a_tree_of_a_root_alone_is_whole) {
  CallTree tree;
  add_node(tree, 0, "ROOT");
  CHECK_EQ(to_json(tree),
           R"([{"frame":{"name":"ROOT","type":"function"},"metrics":{},"children":[],)" +
               kSummaryUpToKinds + R"(r"}},{}])");
}

TEST(keys_stand_in_the_order_readers_know_and_ours_last) {
  CallTree tree;
  add_node(tree, 0, "ROOT", {{"count", int64_t{0}}});
  const uint32_t scope = add_node(tree, 0, "layer");
  add_node(tree, scope, "matmul", {{"time_ns", int64_t{12}}, {"device_id", std::string("0")}},
           FrameKind::kKernel);
  CHECK_EQ(to_json(tree),
           R"([{"frame":{"name":"ROOT","type":"function"},"metrics":{"count":0},"children":[)"
           R"({"frame":{"name":"layer","type":"function"},"metrics":{},"children":[)"
           R"({"frame":{"name":"matmul","type":"function"},"metrics":{)"
           R"("time_ns":12,"device_id":"0"},"children":[]}]}],)" +
               kSummaryUpToKinds + R"(rsk"}},{}])");
}

TEST(kinds_stand_in_depth_first_order_not_in_the_order_of_rows) {
  CallTree tree;
  add_node(tree, 0, "ROOT");
  const uint32_t first = add_node(tree, 0, "first");
  add_node(tree, 0, "state", {}, FrameKind::kState);
  add_node(tree, first, "kernel", {}, FrameKind::kKernel);
  CHECK_HAS(to_json(tree), R"("kinds":"rskt")");
}

TEST(details_of_kernels_name_nodes_as_the_file_counts_them) {
  CallTree tree;
  add_node(tree, 0, "ROOT");
  const uint32_t late = add_node(tree, 0, "late");
  add_node(tree, 0, "first kernel", {}, FrameKind::kKernel);
  add_node(tree, late, "second kernel", {}, FrameKind::kKernel);
  tree.details.push_back({2, 1, 9, 4, 8, {{"registers", {int64_t{32}}}}});
  tree.details.push_back({3, 2, 3, 2, 3, {}});
  CHECK_HAS(to_json(tree),
            R"("kinds":"rskk","kernels":[[2,2,3,2,3,{}],[3,1,9,4,8,{"registers":32}]]})");
  CHECK_HAS(to_msgpack(tree), "kernels");
}

TEST(metric_values_of_every_kind_are_written) {
  CallTree tree;
  add_node(tree, 0, "ROOT",
           {{"huge", std::numeric_limits<int64_t>::max()},
            {"flops", 1e9},
            {"ints", std::vector<int64_t>{1, -2}},
            {"floats", std::vector<double>{0.5, 2.0}},
            {"none", std::vector<double>{}},
            {"label", std::string("a\"b")}});
  CHECK_HAS(to_json(tree), R"("metrics":{"huge":9223372036854775807,"flops":1e+09,"ints":[1,-2],)"
                           R"("floats":[0.5,2.0],"none":[],"label":"a\"b"})");
}

TEST(metrics_that_are_not_finite_are_left_out_and_counted) {
  CallTree tree;
  const double infinity = std::numeric_limits<double>::infinity();
  tree.summary.losses["non_finite_metric"] = 1;
  add_node(tree, 0, "ROOT", {{"a", std::nan("")}, {"b", 1.5}, {"c", -infinity}});
  add_node(tree, 0, "x", {{"d", std::vector<double>{1.0, infinity}}});
  const std::string json = to_json(tree);
  CHECK_HAS(json, R"("metrics":{"b":1.5})");
  CHECK_HAS(json, R"("losses":{"non_finite_metric":4})");
  CHECK(!contains(json, "nan"));
  CHECK(!contains(json, "inf"));
}

TEST(invalid_names_are_replaced_and_counted) {
  CallTree tree;
  add_node(tree, 0, "ROOT");
  add_node(tree, 0, "bad \xFF");
  const std::string json = to_json(tree);
  CHECK_HAS(json, "\"bad \xEF\xBF\xBD\"");
  CHECK_HAS(json, R"("losses":{"invalid_text":1})");
}

TEST(the_device_map_groups_devices_by_type) {
  CallTree tree;
  add_node(tree, 0, "ROOT");
  tree.summary.devices = {
      {"CUDA", "0", {{"arch", {std::string("90")}}, {"num_sms", {int64_t{132}}}}},
      {"CPU", "0", {}},
      {"CUDA", "1", {}}};
  CHECK(to_json(tree).ends_with(
      R"(,{"CUDA":{"0":{"arch":"90","num_sms":132},"1":{}},"CPU":{"0":{}}}])"));
}

TEST(the_summary_carries_the_header_and_adds_what_the_session_knows) {
  CallTree tree;
  add_node(tree, 0, "ROOT");
  tree.summary.header = {{"session", {std::string("run")}},
                         {"triton", {}},
                         {"ok", {true}},
                         {"share", {0.25}},
                         {"bad", {std::nan("")}},
                         {"command", {Value::List{{std::string("a.py")}, {int64_t{1}}}}},
                         {"losses", {int64_t{7}}}};  // ours to write
  tree.summary.losses = {{"dropped_event", 3}};
  tree.summary.warnings = {"clock jumped"};
  tree.summary.autotune = {{Value::Map{{"kernel", {std::string("k")}}}}};
  tree.summary.metric_kinds = {{"x", MetricKind::kProperty}, {"t", MetricKind::kExclusive}};
  CHECK_HAS(to_json(tree),
            R"("proton":{"format":1,"session":"run","triton":null,"ok":true,"share":0.25,)"
            R"("bad":null,"command":["a.py",1],"losses":{"dropped_event":3},)"
            R"("warnings":["clock jumped"],"autotune":[{"kernel":"k"}],)"
            R"("metric_kinds":{"t":"exclusive","x":"property"},"kinds":"r"})");
}

TEST(a_tree_of_twenty_thousand_levels_is_written) {
  constexpr uint32_t kDepth = 20'000;
  CallTree tree;
  add_node(tree, 0, "ROOT");
  for (uint32_t row = 0; row < kDepth; ++row) add_node(tree, row, "f");
  const std::string json = to_json(tree);
  CHECK_EQ(count_of(json, "\"children\":[{"), kDepth);
  CHECK_HAS(json, std::string("]}") + "]}");
  CHECK_EQ(count_of(to_msgpack(tree), "children"), kDepth + 1);
}

TEST(msgpack_holds_the_same_object) {
  CallTree tree;
  add_node(tree, 0, "ROOT", {{"count", int64_t{0}}, {"bad", std::nan("")}});
  add_node(tree, 0, "k", {{"flops", 1.0}}, FrameKind::kKernel);
  const std::string expected =
      "\x92\x84\xA5"
      "frame\x82\xA4name\xA4ROOT\xA4type\xA8"
      "function"
      "\xA7metrics\x81\xA5"
      "count" +
      std::string(1, '\0') +
      "\xA8"
      "children\x91\x83\xA5"
      "frame\x82\xA4name\xA1k\xA4type\xA8"
      "function"
      "\xA7metrics\x81\xA5"
      "flops\xCB\x3F\xF0" +
      std::string(6, '\0') +
      "\xA8"
      "children\x90"
      "\xA6proton\x86\xA6"
      "format\x01\xA6losses\x81\xB1non_finite_metric\x01"
      "\xA8warnings\x90\xA8"
      "autotune\x90\xACmetric_kinds\x80\xA5kinds\xA2rk\x80";
  CHECK(to_msgpack(tree) == expected);
}
