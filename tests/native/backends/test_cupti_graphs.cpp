// Graphs: kernels of a replay stand below the launch and, in it, below the path that captured them.
#include <thread>

#include "check.h"
#include "gpu.h"

namespace {

constexpr const char* kCaptured = "<captured_at>";

/// A graph captured on a new stream: `work` launches on it.
template <typename Work>
void* capture(Work work) {
  void* stream = FAKE(fake_stream_create)();
  FAKE(fake_capture_begin)(stream);
  work(stream);
  return FAKE(fake_capture_end)(stream);
}

void* instantiate(void* graph) { return FAKE(fake_graph_instantiate)(graph); }
void replay(void* exec, int times = 1) {
  for (int i = 0; i < times; ++i) FAKE(fake_graph_launch)(exec, nullptr);
}

std::string below(const std::string& replayed, const std::string& captured) {
  return replayed + "/" + kCaptured + "/" + captured;
}

}  // namespace

TEST(kernels_of_a_replay_stand_below_the_path_that_captured_them) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = nullptr;
  {
    const gpu::Scope scope("capture");
    exec = instantiate(capture([](void* stream) {
      {
        const gpu::Scope first("first");
        gpu::launch("a", 3, stream);
      }
      const gpu::Scope second("second");
      gpu::launch("b", 4, stream);
      gpu::launch("b", 4, stream);
    }));
  }
  {
    const gpu::Scope scope("train");
    replay(exec, 5);
  }
  const gpu::Rows expected{{below("train", "capture/first/a"), {5, 15}},
                           {below("train", "capture/second/b"), {10, 40}}};
  CHECK_EQ(recording.rows(), expected);
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(a_replay_costs_the_host_nothing_per_node) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = instantiate(capture([](void* stream) {
    for (int i = 0; i < 1000; ++i) gpu::launch("k", 1, stream);
  }));
  const int64_t before = gpu::counter("callbacks");
  replay(exec, 3);
  CHECK_EQ(gpu::counter("callbacks") - before, 6);  // in and out of each launch
  CHECK_EQ(recording.session().event_count(), 0u);
  recording.flush();
  CHECK_EQ(recording.session().event_count(), 3000u);
}

TEST(a_graph_captured_before_the_session_is_named_as_such) {
  gpu::begin();
  void* exec = instantiate(capture([](void* stream) {
    const gpu::Scope scope("unseen");
    gpu::launch("k", 2, stream);
  }));
  gpu::Recording recording;
  const gpu::Scope scope("run");
  replay(exec, 2);
  const gpu::Rows rows = recording.rows();
  CHECK_EQ(rows.size(), 1u);
  const auto& [path, row] = *rows.begin();
  CHECK_EQ(row, (gpu::Row{2, 4}));
  CHECK(path.starts_with("run/<captured_at>/<"));
  CHECK(path.ends_with("/k"));
}

TEST(streams_that_join_a_capture_belong_to_it) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = instantiate(capture([](void* stream) {
    void* other = FAKE(fake_stream_create)();
    FAKE(fake_capture_join)(stream, other);
    const gpu::Scope scope("both");
    gpu::launch("a", 1, stream);
    gpu::launch("b", 1, other);
  }));
  replay(exec);
  const gpu::Rows expected{{std::string(kCaptured) + "/both/a", {1, 1}},
                           {std::string(kCaptured) + "/both/b", {1, 1}}};
  CHECK_EQ(recording.rows(), expected);
}

TEST(child_and_conditional_graphs_keep_their_paths) {
  gpu::begin();
  gpu::Recording recording;
  void* child = nullptr;
  {
    const gpu::Scope scope("child");
    child = capture([](void* stream) { gpu::launch("inner", 1, stream); });
  }
  void* graph = FAKE(fake_graph_create)();
  FAKE(fake_graph_add_child)(graph, child);
  void* body = nullptr;
  FAKE(fake_graph_add_conditional)(graph, 3, &body);
  {
    const gpu::Scope scope("body");
    FAKE(fake_graph_add_kernel)(body, FAKE(fake_function)("looped", 1));
  }
  replay(instantiate(graph), 2);
  const gpu::Rows expected{{std::string(kCaptured) + "/child/inner", {2, 2}},
                           {std::string(kCaptured) + "/body/looped", {6, 6}}};
  CHECK_EQ(recording.rows(), expected);
}

TEST(copies_in_graphs_are_booked_like_kernels) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = instantiate(capture([](void* stream) {
    const gpu::Scope scope("load");
    FAKE(fake_memcpy)(1, 100, 7, stream);
    FAKE(fake_memset)(0, 100, 3, stream);
  }));
  replay(exec, 2);
  const gpu::Rows expected{{std::string(kCaptured) + "/load/<memcpy HtoD>", {2, 14}},
                           {std::string(kCaptured) + "/load/<memset>", {2, 6}}};
  CHECK_EQ(recording.rows(), expected);
}

TEST(graph_level_gives_one_event_a_replay) {
  gpu::begin();
  gpu::SinkOptions options;
  options.per_graph = true;
  gpu::Recording recording(options);
  void* exec = instantiate(capture([](void* stream) {
    for (int i = 0; i < 10; ++i) gpu::launch("k", 3, stream);
  }));
  {
    const gpu::Scope scope("run");
    replay(exec, 4);
  }
  gpu::launch("alone", 1);
  const gpu::Rows rows = recording.rows();
  CHECK_EQ(rows.size(), 2u);
  CHECK_EQ(rows.at("alone"), (gpu::Row{1, 1}));
  CHECK_EQ(rows.begin()->second.count + rows.rbegin()->second.count, 5);
  CHECK_EQ(recording.session().event_count(), 5u);
}

TEST(a_graph_destroyed_while_in_flight_still_counts) {
  gpu::begin();
  gpu::Recording recording;
  void* graph = capture([](void* stream) {
    const gpu::Scope scope("short_lived");
    gpu::launch("k", 2, stream);
  });
  void* exec = instantiate(graph);
  replay(exec, 3);
  FAKE(fake_graph_exec_destroy)(exec);
  FAKE(fake_graph_destroy)(graph);
  CHECK_EQ(recording.rows(), (gpu::Rows{{std::string(kCaptured) + "/short_lived/k", {3, 6}}}));
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(many_short_lived_graphs_leave_no_nodes_behind) {
  gpu::begin();
  gpu::Recording recording;
  const uint64_t before = gpu::hub().stats().graph_nodes;
  for (int i = 0; i < 200; ++i) {
    void* graph = capture([](void* stream) {
      for (int j = 0; j < 10; ++j) gpu::launch("k", 1, stream);
    });
    void* exec = instantiate(graph);
    replay(exec);
    FAKE(fake_graph_exec_destroy)(exec);
    FAKE(fake_graph_destroy)(graph);
  }
  recording.flush();
  CHECK_EQ(gpu::hub().stats().graph_nodes, before);
}

TEST(graphs_are_replayed_from_many_threads) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = instantiate(capture([](void* stream) {
    const gpu::Scope scope("captured");
    for (int i = 0; i < 20; ++i) gpu::launch("k", 1, stream);
  }));
  std::vector<std::thread> threads;
  static const char* const names[] = {"t0", "t1", "t2", "t3"};
  for (const char* name : names) {
    threads.emplace_back([=] {
      const gpu::Scope scope(name);
      replay(exec, 200);
    });
  }
  for (auto& thread : threads) thread.join();
  gpu::Rows expected;
  for (const std::string name : names) expected[below(name, "captured/k")] = {4000, 4000};
  CHECK_EQ(recording.rows(), expected);
}
