// Metrics of captured scopes: once a replay, in trees and traces, by node and by graph.
#include <thread>

#include "check.h"
#include "graphs.h"

using gpu::below;
using gpu::instantiate;
using gpu::metric_at;
using gpu::MetricScope;
using gpu::replay;
using gpu::span_metrics;
using gpu::whole_graphs;

namespace {

/// Captures one scope with a metric.
void* capture_with(int64_t value, bool is_at_entry, const char* kernel = "k") {
  return gpu::capture([=](void* stream) {
    const MetricScope scope("layer", "tokens", value, is_at_entry);
    gpu::launch(kernel, 2, stream);
    gpu::launch(kernel, 2, stream);
  });
}

}  // namespace

TEST(metrics_of_a_captured_scope_count_once_a_replay) {
  for (const bool is_at_entry : {false, true}) {
    gpu::begin();
    gpu::Recording recording;
    void* exec = instantiate(capture_with(10, is_at_entry));
    CHECK_EQ(metric_at(recording, "layer", "tokens"), -1);  // capturing is not running
    {
      const gpu::Scope scope("run");
      replay(exec, 3);
    }
    CHECK_EQ(metric_at(recording, below("run", "layer"), "tokens"), 30);
    CHECK_EQ(metric_at(recording, "layer", "tokens"), -1);
    CHECK_EQ(gpu::describe(recording.losses()), "");
  }
}

TEST(metrics_given_at_entry_and_exit_of_nested_scopes_all_count) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = instantiate(gpu::capture([](void* stream) {
    const MetricScope outer("outer", "tokens", 1, true);
    const MetricScope inner("inner", "tokens", 10);
    gpu::launch("k", 1, stream);
  }));
  replay(exec, 4);
  CHECK_EQ(metric_at(recording, below("", "outer"), "tokens"), 4);
  CHECK_EQ(metric_at(recording, below("", "outer/inner"), "tokens"), 40);
}

TEST(metrics_given_at_entry_are_booked_once_where_nothing_is_captured) {
  gpu::begin();
  gpu::Recording recording;
  {
    const MetricScope scope("plain", "tokens", 5, true);
    gpu::launch("k");
    CHECK_EQ(metric_at(recording, "plain", "tokens"), 5);  // while it is open, too
  }
  CHECK_EQ(metric_at(recording, "plain", "tokens"), 5);
  {
    const MetricScope scope("paused", "tokens", 6, true);
    recording.set_active(false);
    recording.set_active(true);
  }
  CHECK_EQ(metric_at(recording, "paused", "tokens"), 6);
}

TEST(metrics_given_at_entry_stay_in_the_phase_of_the_entry) {
  gpu::begin();
  gpu::Recording recording;
  {
    const MetricScope scope("long", "tokens", 5, true);
    const std::lock_guard gil(host::gil());
    recording.session().advance_phase();
  }
  CHECK_EQ(metric_at(recording, "long", "tokens", 0), 5);
  CHECK_EQ(metric_at(recording, "long", "tokens", 1), -1);
}

TEST(a_scope_that_only_instantiates_is_not_captured) {
  gpu::begin();
  gpu::Recording recording;
  void* graph = gpu::capture([](void* stream) {
    gpu::launch("k", 1, stream);
    FAKE(fake_memcpy)(1, 100, 7, stream);  // the driver replaces its node
  });
  void* exec = nullptr;
  {
    const MetricScope scope("instantiate", "tokens", 3);
    exec = instantiate(graph);
  }
  replay(exec, 5);
  CHECK_EQ(metric_at(recording, "instantiate", "tokens"), 3);
}

TEST(metrics_ride_on_work_that_has_records) {
  gpu::begin();
  gpu::Recording recording;
  void* graph = FAKE(fake_graph_create)();
  {
    const MetricScope scope("layer", "tokens", 2);
    FAKE(fake_graph_add_kernel)(graph, FAKE(fake_function)("k", 1));
    void* body = nullptr;
    FAKE(fake_graph_add_conditional)(graph, 0, &body);  // no work of its own
  }
  replay(instantiate(graph), 3);
  CHECK_EQ(metric_at(recording, below("", "layer"), "tokens"), 6);
}

TEST(work_that_other_threads_capture_for_a_scope_counts_for_it) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = instantiate(gpu::capture([](void* stream) {
    const MetricScope scope("backward", "tokens", 3);
    std::thread([=] { gpu::launch("k", 1, stream); }).join();  // as autograd's threads do
  }));
  replay(exec, 5);
  CHECK_EQ(recording.rows(), (gpu::Rows{{below("", "backward/k"), {5, 5}}}));
  CHECK_EQ(metric_at(recording, below("", "backward"), "tokens"), 15);
}

TEST(a_thread_that_captures_does_not_touch_scopes_of_others) {
  gpu::begin();
  gpu::Recording recording;
  {
    const MetricScope scope("eager", "tokens", 3);
    std::thread([] { instantiate(gpu::capture_in("elsewhere")); }).join();
  }
  CHECK_EQ(metric_at(recording, "eager", "tokens"), 3);
}

TEST(metrics_in_a_conditional_body_count_whenever_it_runs) {
  gpu::begin();
  gpu::Recording recording;
  void* graph = FAKE(fake_graph_create)();
  void* function = FAKE(fake_function)("k", 1);
  {
    const MetricScope whole("whole", "tokens", 1);
    FAKE(fake_graph_add_kernel)(graph, function);
    void* body = nullptr;
    FAKE(fake_graph_add_conditional)(graph, 4, &body);
    const MetricScope inner("body", "tokens", 10);
    FAKE(fake_graph_add_kernel)(body, function);
  }
  replay(instantiate(graph), 2);
  CHECK_EQ(metric_at(recording, below("", "whole"), "tokens"), 2);
  CHECK_EQ(metric_at(recording, below("", "whole/body"), "tokens"), 80);
}

TEST(a_second_session_counts_replays_of_what_the_first_saw) {
  gpu::begin();
  gpu::Recording first;
  void* exec = instantiate(capture_with(10, true));
  gpu::Recording second;
  replay(exec, 2);
  CHECK_EQ(metric_at(first, below("", "layer"), "tokens"), 20);
  CHECK_EQ(metric_at(second, below("", "layer"), "tokens"), 20);
}

TEST(in_a_trace_the_replayed_kernel_carries_them) {
  for (const bool is_at_entry : {false, true}) {
    gpu::begin();
    gpu::SinkOptions options;
    options.with_launches = true;
    gpu::Recording recording(options, proton::DataKind::kTrace);
    void* exec = instantiate(capture_with(10, is_at_entry));
    replay(exec, 3);
    const std::vector<int64_t> thrice{10, 10, 10};  // on the last of the scope's kernels
    CHECK(span_metrics(recording, proton::SpanKind::kKernel, "tokens") == thrice);
    CHECK(span_metrics(recording, proton::SpanKind::kMetric, "tokens").empty());
  }
}

TEST(scopes_that_end_at_one_kernel_are_summed_on_its_span) {
  gpu::begin();
  gpu::Recording recording({}, proton::DataKind::kTrace);
  void* exec = instantiate(gpu::capture([](void* stream) {
    const MetricScope outer("outer", "tokens", 1);
    const MetricScope inner("inner", "tokens", 10);
    gpu::launch("k", 1, stream);
  }));
  replay(exec);
  const std::vector<int64_t> sum{11};
  CHECK(span_metrics(recording, proton::SpanKind::kKernel, "tokens") == sum);
}

TEST(graph_level_gives_one_named_event_a_replay) {
  gpu::begin();
  gpu::Recording recording(whole_graphs());
  void* exec = instantiate(gpu::capture([](void* stream) {
    for (int i = 0; i < 10; ++i) gpu::launch("k", 3, stream);
  }));
  void* other = instantiate(gpu::capture_in("b", "k", 5));
  {
    const gpu::Scope scope("run");
    replay(exec, 4);
    replay(other, 1);
  }
  gpu::launch("alone", 1);
  const gpu::Rows expected{{"run/" + gpu::graph_name(exec), {4, 120}},
                           {"run/" + gpu::graph_name(other), {1, 5}},
                           {"alone", {1, 1}}};
  CHECK_EQ(recording.rows(), expected);
  CHECK_EQ(recording.session().device.event_count(), 6u);
}

TEST(graph_level_counts_metrics_of_captured_scopes_too) {
  gpu::begin();
  gpu::Recording recording(whole_graphs());
  void* graph = FAKE(fake_graph_create)();
  FAKE(fake_graph_add_child)(graph, capture_with(10, false));
  {
    const MetricScope scope("direct", "tokens", 1, true);
    FAKE(fake_graph_add_kernel)(graph, FAKE(fake_function)("k", 1));
  }
  void* exec = instantiate(graph);
  {
    const gpu::Scope scope("run");
    replay(exec, 3);
  }
  CHECK_EQ(metric_at(recording, below("run", "layer"), "tokens"), 30);
  CHECK_EQ(metric_at(recording, below("run", "direct"), "tokens"), 3);
  CHECK_EQ(recording.session().device.event_count(), 3u);
}

TEST(graph_level_traces_carry_the_metrics_on_the_graphs_span) {
  gpu::begin();
  gpu::Recording recording(whole_graphs(), proton::DataKind::kTrace);
  void* exec = instantiate(capture_with(10, true));
  replay(exec, 2);
  const std::vector<int64_t> twice{10, 10};
  CHECK(span_metrics(recording, proton::SpanKind::kGraph, "tokens") == twice);
}

TEST(a_session_by_node_makes_all_sessions_see_nodes) {
  gpu::begin();
  gpu::Recording by_graph(whole_graphs());
  void* exec = instantiate(capture_with(10, false));
  replay(exec);
  by_graph.flush();
  gpu::Recording by_node;
  replay(exec);
  const std::string kernels = below("", "layer/k");
  CHECK_EQ(by_node.rows(), (gpu::Rows{{kernels, {2, 4}}}));
  const gpu::Rows mixed{{gpu::graph_name(exec), {1, 4}}, {kernels, {2, 4}}};
  CHECK_EQ(by_graph.rows(), mixed);
  CHECK_EQ(metric_at(by_graph, below("", "layer"), "tokens"), 20);
}
