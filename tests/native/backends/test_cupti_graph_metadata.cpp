// Launch metadata of captured kernels where a replay is one event: summed on the graph's row.
#include "check.h"
#include "graphs.h"

using gpu::instantiate;
using gpu::launch_op;
using gpu::replay;

namespace {

/// A session that takes launch metadata.
class WithMetadata : public gpu::Recording {
 public:
  explicit WithMetadata(bool per_graph = true, proton::DataKind data = proton::DataKind::kTree)
      : gpu::Recording(options(per_graph), data) {
    session().device.use_launch_metadata(true);
  }

 private:
  static gpu::SinkOptions options(bool per_graph) {
    gpu::SinkOptions options;
    options.per_graph = per_graph;
    return options;
  }
};

/// Two ops with flops, one with bytes, one kernel with nothing.
void* capture_ops() {
  return gpu::capture([](void* stream) {
    const gpu::Scope scope("layer");
    launch_op("a", "flops", 5.0, stream);
    launch_op("b", "flops", 7.0, stream);
    launch_op("b", "bytes", int64_t{100}, stream);
    gpu::launch("plain", 1, stream);
  });
}

double flops_at(gpu::Recording& recording, const std::string& path) {
  recording.flush();
  const std::lock_guard gil(host::gil());
  const proton::CallTree tree = host::tree(recording.session(), 0, {});
  const proton::MetricValue value = host::metric(tree, host::row_of(tree, path), "flops");
  const double* flops = std::get_if<double>(&value);
  return flops == nullptr ? -1 : *flops;
}

}  // namespace

TEST(every_replay_books_the_sum_of_its_kernels_metadata) {
  gpu::begin();
  WithMetadata recording;
  gpu::Recording without(gpu::SinkOptions{.per_graph = true});
  void* exec = instantiate(capture_ops());
  {
    const gpu::Scope scope("run");
    replay(exec, 3);
  }
  const std::string row = "run/" + gpu::graph_name(exec);
  CHECK_EQ(flops_at(recording, row), 36.0);
  CHECK_EQ(gpu::metric_at(recording, row, "bytes"), 300);
  CHECK_EQ(recording.rows(), (gpu::Rows{{row, {3, 30}}}));
  CHECK_EQ(gpu::describe(recording.losses()), "");
  CHECK_EQ(flops_at(without, row), -1);
}

TEST(by_node_the_metadata_stays_with_its_kernels) {
  gpu::begin();
  WithMetadata recording(false);
  void* exec = instantiate(capture_ops());
  replay(exec, 3);
  CHECK_EQ(flops_at(recording, gpu::below("", "layer/a")), 15.0);
  CHECK_EQ(flops_at(recording, gpu::below("", "layer/b")), 21.0);
  CHECK_EQ(gpu::metric_at(recording, gpu::below("", "layer/b"), "bytes"), 300);
}

TEST(executables_of_several_graphs_keep_their_own_sums) {
  gpu::begin();
  WithMetadata recording;
  void* exec = instantiate(capture_ops());
  replay(exec);
  void* other =
      instantiate(gpu::capture([](void* stream) { launch_op("c", "flops", 1000.0, stream); }));
  for (int i = 0; i < 2; ++i) {
    replay(other);
    replay(exec);
  }
  CHECK_EQ(flops_at(recording, gpu::graph_name(exec)), 36.0);
  CHECK_EQ(flops_at(recording, gpu::graph_name(other)), 2000.0);
}

TEST(child_graphs_count_as_often_as_they_are_in_the_graph) {
  gpu::begin();
  WithMetadata recording;
  void* child = capture_ops();
  void* graph = FAKE(fake_graph_create)();
  FAKE(fake_graph_add_child)(graph, child);
  FAKE(fake_graph_add_child)(graph, child);
  void* exec = instantiate(graph);
  replay(exec, 2);
  CHECK_EQ(flops_at(recording, gpu::graph_name(exec)), 48.0);
}

TEST(a_graph_destroyed_while_in_flight_still_books_its_metadata) {
  gpu::begin();
  WithMetadata recording;
  void* graph = FAKE(fake_graph_create)();
  FAKE(fake_graph_add_child)(graph, capture_ops());
  void* exec = instantiate(graph);
  const std::string row = gpu::graph_name(exec);
  replay(exec, 2);
  FAKE(fake_graph_exec_destroy)(exec);
  FAKE(fake_graph_destroy)(graph);
  CHECK_EQ(flops_at(recording, row), 24.0);
}

TEST(an_updated_executable_books_what_it_holds_then_where_cupti_tells) {
  gpu::begin();
  WithMetadata recording;
  const auto capture = [](double flops, const char* kernel) {
    return gpu::capture([=](void* stream) { launch_op("a", "flops", flops, stream, kernel); });
  };
  void* exec = instantiate(capture(5.0, "k"));
  replay(exec, 2);
  CHECK_EQ(flops_at(recording, gpu::graph_name(exec)), 10.0);
  CHECK_EQ(FAKE(fake_graph_exec_update)(exec, capture(100.0, "other")), 0);
  replay(exec, 3);
  const bool is_told = FAKE(fake_cupti_version)() >= 130000;
  CHECK_EQ(flops_at(recording, gpu::graph_name(exec)), is_told ? 310.0 : 25.0);
}

TEST(a_trace_has_the_sum_on_the_graphs_span) {
  gpu::begin();
  WithMetadata recording(true, proton::DataKind::kTrace);
  replay(instantiate(capture_ops()), 2);
  recording.flush();
  const std::lock_guard gil(host::gil());
  const proton::TraceLog log = proton::build_trace(recording.session(), 0, {});
  std::vector<double> found;
  for (const proton::TraceSpan& span : log.spans) {
    for (uint32_t i = 0; span.kind == proton::SpanKind::kGraph && i < span.metric_count; ++i) {
      const proton::Metric& metric = log.metrics[span.first_metric + i];
      if (*metric.key == "flops") found.push_back(std::get<double>(metric.value));
    }
  }
  CHECK(found == (std::vector<double>{12.0, 12.0}));
}

TEST(what_does_not_add_up_is_counted_as_lost_at_every_replay) {
  gpu::begin();
  WithMetadata recording;
  void* exec = instantiate(gpu::capture([](void* stream) {
    launch_op("a", "tokens", int64_t{1}, stream);
    launch_op("b", "tokens", 0.5, stream);
    launch_op("c", "share (pty)", int64_t{9}, stream);  // c's, not the graph's
  }));
  replay(exec, 3);
  CHECK_EQ(gpu::metric_at(recording, gpu::graph_name(exec), "tokens"), 3);
  CHECK_EQ(gpu::metric_at(recording, gpu::graph_name(exec), "share"), -1);
  CHECK_EQ(gpu::describe(recording.losses()), "metric_conflict: 3 ");
}
