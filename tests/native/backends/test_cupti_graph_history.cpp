// Graphs over several sessions: captured before, between and in earlier ones.
#include "check.h"
#include "graphs.h"

using gpu::below;
using gpu::capture_in;
using gpu::instantiate;
using gpu::kUnseen;
using gpu::replay;

namespace {

std::string unseen(const std::string& replayed, void* graph, const std::string& kernel) {
  return below(replayed, std::string(kUnseen) + "/" + gpu::graph_name(graph) + "/" + kernel);
}

/// The warnings that a file would have.
std::vector<std::string> file_warnings(gpu::Recording& recording) {
  recording.flush();
  const std::lock_guard gil(host::gil());
  return host::tree(recording.session(), 0, {}).summary.warnings;
}

}  // namespace

TEST(graphs_captured_before_the_session_are_named_as_such_and_told_apart) {
  gpu::begin();
  void* first = instantiate(capture_in("unseen", "a", 2));
  void* second = instantiate(capture_in("unseen", "a", 3));
  gpu::Recording recording;
  {
    const gpu::Scope scope("run");
    replay(first, 2);
    replay(second, 1);
  }
  const gpu::Rows expected{{unseen("run", first, "a"), {2, 4}},
                           {unseen("run", second, "a"), {1, 3}}};
  CHECK_EQ(recording.rows(), expected);
  const auto warnings = file_warnings(recording);
  CHECK_EQ(warnings.size(), 1u);
  CHECK(warnings[0].starts_with("2 graphs were captured while nothing was recorded"));
  CHECK(warnings[0].find("start the session before graphs are captured") != std::string::npos);
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(no_warning_where_every_capture_was_seen) {
  gpu::begin();
  gpu::Recording recording;
  replay(instantiate(capture_in("seen")));
  CHECK_EQ(recording.rows().size(), 1u);
  CHECK(file_warnings(recording).empty());
}

TEST(an_older_graph_that_is_instantiated_again_and_again_is_one_graph) {
  gpu::begin();
  void* graph = capture_in("unseen", "k", 1);
  gpu::Recording recording;
  for (int i = 0; i < 3; ++i) {
    void* exec = instantiate(graph);
    replay(exec);
    FAKE(fake_graph_exec_destroy)(exec);
  }
  CHECK_EQ(recording.rows(), (gpu::Rows{{unseen("", graph, "k"), {3, 3}}}));
}

TEST(a_graph_captured_while_the_session_paused_is_not_guessed) {
  gpu::begin();
  gpu::Recording recording;
  recording.set_active(false);
  void* exec = instantiate(capture_in("paused"));
  recording.set_active(true);
  replay(exec, 2);
  CHECK_EQ(recording.rows(), (gpu::Rows{{unseen("", exec, "k"), {2, 2}}}));
}

TEST(a_graph_keeps_its_paths_when_the_session_that_captured_it_has_ended) {
  gpu::begin();
  void* exec = nullptr;
  {
    gpu::Recording first;
    const gpu::Scope outer("capture");
    exec = instantiate(capture_in("layer", "k", 3));
    replay(exec);
    first.flush();
  }
  for (int i = 0; i < 3; ++i) {  // tables are cleared between sessions
    gpu::Recording again;
    {
      const gpu::Scope other(i == 0 ? "other" : "again");
      replay(exec, 2);
    }
    CHECK_EQ(again.rows(),
             (gpu::Rows{{below(i == 0 ? "other" : "again", "capture/layer/k"), {2, 6}}}));
    CHECK(file_warnings(again).empty());
  }
}

TEST(copies_in_a_graph_keep_their_paths_too) {
  gpu::begin();
  void* exec = nullptr;
  {
    gpu::Recording first;
    exec = instantiate(gpu::capture([](void* stream) {
      const gpu::Scope scope("load");
      FAKE(fake_memcpy)(1, 100, 7, stream);
      gpu::launch("k", 1, stream);
    }));
  }
  gpu::Recording again;
  replay(exec);
  const gpu::Rows expected{{below("", "load/<memcpy HtoD>"), {1, 7}},
                           {below("", "load/k"), {1, 1}}};
  CHECK_EQ(again.rows(), expected);
}

TEST(a_graph_keeps_its_launch_metadata_too) {
  gpu::begin();
  void* exec = nullptr;
  {
    gpu::Recording first;
    const gpu::Scope scope("model");
    exec = instantiate(
        gpu::capture([](void* stream) { gpu::launch_op("matmul", "flops", 5.0, stream); }));
  }
  gpu::Recording again;
  again.session().device.use_launch_metadata(true);
  replay(exec, 4);
  CHECK_EQ(again.rows(), (gpu::Rows{{below("", "model/matmul"), {4, 12}}}));
  const std::lock_guard gil(host::gil());
  const proton::CallTree tree = host::tree(again.session(), 0, {});
  const uint32_t row = host::row_of(tree, below("", "model/matmul"));
  CHECK_EQ(std::get<double>(host::metric(tree, row, "flops")), 20.0);
}

TEST(metrics_of_a_captured_scope_count_in_later_sessions) {
  gpu::begin();
  void* exec = nullptr;
  {
    gpu::Recording first;
    exec = instantiate(gpu::capture([](void* stream) {
      const gpu::MetricScope scope("layer", "tokens", 7);
      gpu::launch("k", 1, stream);
    }));
  }
  gpu::Recording again;
  replay(exec, 3);
  CHECK_EQ(gpu::metric_at(again, below("", "layer"), "tokens"), 21);
}

TEST(nothing_stays_of_graphs_that_were_destroyed) {
  gpu::begin();
  for (const int64_t silent : {0, 1}) {  // whether each node is told of
    gpu::set("silent_nodes", silent);
    const size_t nodes = gpu::hub().stats().graph_nodes;
    const size_t before = proton::process.captured_metrics.size();
    for (int i = 0; i < 5; ++i) {
      gpu::Recording recording;
      void* graph = gpu::capture([](void* stream) {
        const gpu::MetricScope scope("layer", "tokens", 7);
        gpu::launch("k", 1, stream);
      });
      void* exec = instantiate(graph);
      replay(exec);
      FAKE(fake_graph_destroy)(graph);
      FAKE(fake_graph_exec_destroy)(exec);
      CHECK_EQ(recording.rows().size(), 1u);
    }
    CHECK_EQ(gpu::hub().stats().graph_nodes, nodes);
    CHECK_EQ(proton::process.captured_metrics.size(), before);
  }
}

TEST(paths_of_graphs_that_are_gone_do_not_stay_in_the_tables) {
  gpu::begin();
  static std::deque<std::string> names;
  for (int i = 0; i < 50; ++i) {
    gpu::Recording recording;
    void* graph = capture_in(names.emplace_back("step" + std::to_string(i)).c_str());
    void* exec = instantiate(graph);
    replay(exec);
    recording.flush();
    FAKE(fake_graph_destroy)(graph);
    FAKE(fake_graph_exec_destroy)(exec);
  }
  const std::lock_guard gil(host::gil());
  CHECK(proton::process.paths.size() < 30);  // those of other tests' graphs, which live on
}
