/// Chrome traces as text.
#include "files/writers.h"

#include <cmath>
#include <string>

#include "check.h"
#include "trees.h"

using proton::LaneKind;
using proton::SpanKind;
using proton::TraceLog;
using namespace proton::test;

namespace {

const std::string kEmptySummary =
    R"("proton":{"format":1,"losses":{},"warnings":[],"autotune":[],"metric_kinds":{},)"
    R"("devices":{}})";

}  // namespace

TEST(an_empty_trace_has_no_base_time) {
  CHECK_EQ(to_chrome(empty_log()),
           R"({"displayTimeUnit":"us","traceEvents":[],)" + kEmptySummary + "}");
}

TEST(a_host_only_trace_has_spans_and_no_names) {
  TraceLog log = empty_log();
  const uint32_t lane = add_lane(log, LaneKind::kHost, 3);
  const uint32_t outer = add_path(log, 0, "outer");
  add_span(log, SpanKind::kScope, lane, add_path(log, outer, "inner"), 2'500, 4'501).scope_id = 9;
  CHECK_EQ(to_chrome(log),
           R"({"displayTimeUnit":"us","baseTimeNanoseconds":1700000000000000000,"traceEvents":[)"
           R"({"ph":"X","cat":"scope","name":"inner","pid":0,"tid":3,"ts":1.500,"dur":2.001,)"
           R"("args":{"call_stack":["ROOT","outer","inner"],"scope_id":9}}],)" +
               kEmptySummary + "}");
}

TEST(rows_are_named_and_sorted_where_a_device_worked) {
  TraceLog log = empty_log();
  const uint32_t stream = add_lane(log, LaneKind::kDevice, 7);
  add_lane(log, LaneKind::kGraph, 7);
  add_lane(log, LaneKind::kHost, 0);
  add_span(log, SpanKind::kKernel, stream, add_path(log, 0, "k"), 1'000, 2'000);
  const std::string json = to_chrome(log);
  CHECK_HAS(json, R"({"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"Trace"}},)"
                  R"({"ph":"M","name":"process_sort_index","pid":0,"tid":0,)"
                  R"("args":{"sort_index":0}})");
  CHECK_HAS(json, R"("tid":0,"args":{"name":"CPU Thread 0"})");
  CHECK_HAS(json, R"("tid":100007,"args":{"name":"Graph: Stream 7"})");
  CHECK_HAS(json, R"("tid":200007,"args":{"name":"GPU Stream 7"})");
  CHECK_HAS(json, R"("tid":0,"args":{"sort_index":0})");
  CHECK_HAS(json, R"("tid":100007,"args":{"sort_index":1})");
  CHECK_HAS(json, R"("tid":200007,"args":{"sort_index":2})");
}

TEST(streams_of_a_second_device_get_rows_of_their_own) {
  TraceLog log = empty_log();
  const uint32_t path = add_path(log, 0, "k");
  add_span(log, SpanKind::kKernel, add_lane(log, LaneKind::kDevice, 7, 1), path, 1'000, 2'000);
  add_span(log, SpanKind::kKernel, add_lane(log, LaneKind::kDevice, 7, 0), path, 1'000, 2'000);
  const std::string json = to_chrome(log);
  CHECK_HAS(json, R"("tid":200007,"args":{"name":"GPU 0 Stream 7"})");
  CHECK_HAS(json, R"("tid":1200007,"args":{"name":"GPU 1 Stream 7"})");
}

TEST(lanes_with_numbers_too_large_for_their_range_keep_apart) {
  TraceLog log = empty_log();
  const uint32_t path = add_path(log, 0, "k");
  for (const uint64_t number : {uint64_t{100'000}, ~uint64_t{0}}) {
    add_span(log, SpanKind::kScope, add_lane(log, LaneKind::kHost, number), path, 1'000, 2'000);
  }
  add_span(log, SpanKind::kKernel, add_lane(log, LaneKind::kGraph, 0), path, 1'000, 2'000);
  const std::string json = to_chrome(log);
  CHECK_HAS(json, R"("tid":100000,"args":{"name":"Graph: Stream 0"})");
  CHECK_HAS(json, R"("tid":2000000000,"args":{"name":"CPU Thread 100000"})");
  CHECK_HAS(json, R"("tid":2000000001,"args":{"name":"CPU Thread 18446744073709551615"})");
}

TEST(streams_of_equal_number_on_devices_of_two_types_keep_apart) {
  TraceLog log = empty_log();
  const uint32_t path = add_path(log, 0, "k");
  add_span(log, SpanKind::kKernel, add_lane(log, LaneKind::kDevice, 1), path, 1'000, 2'000);
  add_span(log, SpanKind::kKernel, add_lane(log, LaneKind::kDevice, 1), path, 3'000, 4'000);
  const std::string json = to_chrome(log);
  CHECK_HAS(json, R"("tid":200001,"ts":0.000)");
  CHECK_HAS(json, R"("tid":2000000000,"ts":2.000)");
}

TEST(lanes_of_a_gpu_and_of_the_interpreter_are_named_by_their_own_type) {
  TraceLog log = empty_log();
  log.summary.devices = {{"CPU", "0", {}}, {"CUDA", "0", {}}};
  const uint32_t path = add_path(log, 0, "k");
  for (const char* type : {"CPU", "CUDA"}) {
    const uint32_t lane = add_lane(log, LaneKind::kDevice, 0);
    log.lanes[lane].device_type = type;
    add_span(log, SpanKind::kKernel, lane, path, 1'000, 2'000);
  }
  const std::string json = to_chrome(log);
  CHECK_HAS(json, R"("tid":200000,"args":{"name":"GPU Stream 0"})");
  CHECK_HAS(json, R"("tid":1200000,"args":{"name":"Interpreter Stream 0"})");
}

TEST(interpreted_kernels_do_not_claim_a_gpu) {
  TraceLog log = empty_log();
  log.summary.devices = {{"CPU", "0", {}}};
  const uint32_t lane = add_lane(log, LaneKind::kDevice, 0);
  log.lanes[lane].device_type = "CPU";
  add_span(log, SpanKind::kKernel, lane, add_path(log, 0, "k"), 1'000, 2'000);
  const std::string json = to_chrome(log);
  CHECK_HAS(json, R"("tid":200000,"args":{"name":"Interpreter Stream 0"})");
  CHECK_HAS(json, R"("devices":{"CPU":{"0":{}}})");
}

TEST(metrics_are_texts_on_metric_spans_and_numbers_on_kernels) {
  TraceLog log = empty_log();
  const uint32_t lane = add_lane(log, LaneKind::kHost, 0);
  const uint32_t path = add_path(log, 0, "s");
  add_span(log, SpanKind::kMetric, lane, path, 1'000, 2'000,
           {{"m", 1.0}, {"n", int64_t{2}}, {"v", std::vector<double>{0.1}}, {"bad", std::nan("")}});
  add_span(log, SpanKind::kKernel, lane, path, 3'000, 4'000, {{"flops", 2.5}});
  const std::string json = to_chrome(log);
  CHECK_HAS(json, R"("cat":"metric","name":"s: <m, 1.000000>, <n, 2>, <v, [0.100000]>")");
  CHECK_HAS(json, R"("scope_id":0,"metrics":{"m":"1.000000","n":"2","v":"[0.1]"})");
  CHECK_HAS(json, R"("call_stack":["ROOT","s"],"metrics":{"flops":2.5})");
  CHECK_HAS(json, R"("losses":{"non_finite_metric":1})");
}

TEST(captured_scopes_on_a_graph_lane_have_no_scope_id) {
  TraceLog log = empty_log();
  const uint32_t lane = add_lane(log, LaneKind::kGraph, 7);
  add_span(log, SpanKind::kScope, lane, add_path(log, 0, "layer"), 1'000, 2'000);
  const std::string json = to_chrome(log);
  CHECK_HAS(json, R"("tid":100007,"args":{"name":"Graph: Stream 7"})");
  CHECK_HAS(json, R"("cat":"scope","name":"layer","pid":0,"tid":100007,)");
  CHECK_HAS(json, R"("args":{"call_stack":["ROOT","layer"]}})");
}

TEST(launch_attributes_stand_in_tables) {
  TraceLog log = empty_log();
  using proton::Value;
  const Value::List grid = {{int64_t{4}}, {int64_t{2}}, {int64_t{1}}};
  log.attributes.push_back({{"grid", {grid}}, {"registers", {int64_t{32}}}});
  const uint32_t lane = add_lane(log, LaneKind::kDevice, 0);
  add_span(log, SpanKind::kKernel, lane, add_path(log, 0, "k"), 1'000, 2'000).attributes = 1;
  add_span(log, SpanKind::kCopy, lane, add_path(log, 0, "<memset>"), 3'000, 4'000);
  const std::string json = to_chrome(log);
  CHECK_HAS(json, R"("args":{"call_stack":["ROOT","k"]}},)");
  CHECK_HAS(json, R"("spans":{"attributes":[{"grid":[4,2,1],"registers":32}],)"
                  R"("attributes_of":[1,0],"names":[],"names_of":[]})");
}

TEST(metrics_are_counters_too) {
  TraceLog log = empty_log();
  const uint32_t lane = add_lane(log, LaneKind::kHost, 0);
  const uint32_t path = add_path(log, 0, "s");
  add_span(log, SpanKind::kMetric, lane, path, 1'000, 2'000, {{"n", int64_t{2}}});
  add_span(log, SpanKind::kMetric, lane, path, 3'000, 4'000, {{"n", int64_t{3}}});
  const std::string json = to_chrome(log);
  CHECK_HAS(json, R"({"ph":"C","name":"n","pid":0,"tid":0,"ts":1.000,"args":{"value":2}},)"
                  R"({"ph":"C","name":"n","pid":0,"tid":0,"ts":3.000,"args":{"value":5}})");
}

TEST(a_flow_joins_a_launch_to_its_kernel) {
  TraceLog log = empty_log();
  const uint32_t host = add_lane(log, LaneKind::kHost, 0);
  const uint32_t stream = add_lane(log, LaneKind::kDevice, 0);
  const uint32_t path = add_path(log, 0, "k");
  log.attributes.push_back({{"function", {std::string("cuLaunchKernel")}}});
  const uint32_t call = add_path(log, add_path(log, 0, "s"), "launch k");
  auto& launch = add_span(log, SpanKind::kLaunch, host, call, 1'000, 2'000);
  launch.flow_id = 5;
  launch.is_flow_source = true;
  launch.attributes = 1;
  add_span(log, SpanKind::kKernel, stream, path, 3'000, 4'000).flow_id = 5;
  const std::string json = to_chrome(log);
  CHECK_HAS(json, R"({"ph":"X","cat":"launch","name":"cuLaunchKernel","pid":0,"tid":0,"ts":0.000,)"
                  R"("dur":1.000,"args":{"call_stack":["ROOT","s","cuLaunchKernel"]},)"
                  R"("bind_id":5,"flow_out":true})");
  CHECK_HAS(json, R"("args":{"call_stack":["ROOT","k"]},"bind_id":5,"flow_in":true})");
  CHECK_HAS(json, R"("attributes_of":[1,0],"names":["launch k"],"names_of":[0]})");
}

TEST(a_flow_with_one_end_is_left_out) {
  TraceLog log = empty_log();
  const uint32_t stream = add_lane(log, LaneKind::kDevice, 0);
  add_span(log, SpanKind::kKernel, stream, add_path(log, 0, "k"), 3'000, 4'000).flow_id = 5;
  CHECK(!contains(to_chrome(log), "flow"));
}

TEST(spans_stand_by_time_the_longer_first) {
  TraceLog log = empty_log();
  const uint32_t lane = add_lane(log, LaneKind::kHost, 0);
  add_span(log, SpanKind::kScope, lane, add_path(log, 0, "late"), 5'000, 6'000);
  add_span(log, SpanKind::kScope, lane, add_path(log, 0, "short"), 1'000, 2'000);
  add_span(log, SpanKind::kScope, lane, add_path(log, 0, "long"), 1'000, 9'000);
  const std::string json = to_chrome(log);
  CHECK(json.find("\"name\":\"long\"") < json.find("\"name\":\"short\""));
  CHECK(json.find("\"name\":\"short\"") < json.find("\"name\":\"late\""));
}

TEST(a_span_before_the_base_has_a_negative_time) {
  TraceLog log = empty_log();
  const uint32_t lane = add_lane(log, LaneKind::kHost, 0);
  add_span(log, SpanKind::kScope, lane, add_path(log, 0, "s"), 400, 1'000);
  CHECK_HAS(to_chrome(log), R"("ts":-0.600,"dur":0.600)");
}

TEST(a_span_that_ends_before_it_starts_is_counted) {
  TraceLog log = empty_log();
  const uint32_t lane = add_lane(log, LaneKind::kHost, 0);
  add_span(log, SpanKind::kScope, lane, add_path(log, 0, "s"), 2'000, 1'000);
  const std::string json = to_chrome(log);
  CHECK_HAS(json, R"("ts":1.000,"dur":0.000)");
  CHECK_HAS(json, R"("losses":{"negative_duration":1})");
}

TEST(insides_of_kernels_have_the_rows_that_known_traces_give_them) {
  TraceLog log = empty_log();
  const uint32_t kernel = add_path(log, 0, "k");
  const uint32_t sm = add_lane(log, LaneKind::kSm, 7);
  const uint32_t warp = add_lane(log, LaneKind::kWarp, 3);
  log.lanes[warp].inside = {"k", 7, 12, 1};
  const uint32_t other = add_lane(log, LaneKind::kWarp, 3, 1);
  log.lanes[other].inside = {"k", 7, 12, 0};
  add_span(log, SpanKind::kCta, sm, add_path(log, kernel, "CTA 12"), 1'000, 2'000);
  add_span(log, SpanKind::kRegion, warp, add_path(log, kernel, "load"), 1'100, 1'200);
  add_span(log, SpanKind::kRegion, other, add_path(log, kernel, "store"), 1'100, 1'200);
  const std::string json = to_chrome(log);
  CHECK_HAS(json, R"("displayTimeUnit":"ns")");
  CHECK_HAS(json, R"("tid":300007,"args":{"name":"GPU 0 SM 7"})");
  CHECK_HAS(json, R"({"ph":"X","cat":"cta","name":"CTA 12","pid":0,"tid":300007,"ts":0)");
  CHECK_HAS(json, R"({"ph":"X","cat":"k","name":"load","pid":"k GPU 0 Core7 CTA12",)"
                  R"~("tid":"warp 3 (line 1)","ts":0.100,"dur":0.100,)~"
                  R"("args":{"call_stack":["ROOT","k","load"]}})");
  CHECK_HAS(json, R"~("name":"store","pid":"k GPU 1 Core7 CTA12","tid":"warp 3 (line 0)")~");
  CHECK(json.find(R"("name":"thread_name","pid":"k)") == std::string::npos);
}
