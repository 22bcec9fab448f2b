// Graphs: kernels of a replay stand below the launch and, in it, below the path that captured them.
#include <thread>

#include "check.h"
#include "graphs.h"

using gpu::below;
using gpu::capture;
using gpu::instantiate;
using gpu::kCaptured;
using gpu::replay;

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
  for (const int nodes : {10, 10'000}) {
    gpu::begin();
    gpu::Recording recording;
    void* exec = instantiate(capture([=](void* stream) {
      for (int i = 0; i < nodes; ++i) gpu::launch("k", 1, stream);
    }));
    const int64_t callbacks = gpu::counter("callbacks");
    const int64_t questions = gpu::counter("cuptiGetGraphNodeId");
    replay(exec, 3);
    CHECK_EQ(gpu::counter("callbacks") - callbacks, 6);  // in and out of each launch
    CHECK_EQ(gpu::counter("cuptiGetGraphNodeId"), questions);
    recording.flush();
    CHECK_EQ(recording.session().device.event_count(), 3u * static_cast<uint64_t>(nodes));
  }
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

TEST(cupti_lets_go_beside_a_graph_that_a_later_session_knows_again) {
  gpu::begin();
  const auto captured_in = [](const char* name) {
    return instantiate(capture([=](void* stream) {
      const gpu::Scope scope(name);
      gpu::launch("k", 1, stream);
    }));
  };
  void* first = nullptr;
  {
    gpu::Recording recording;
    first = captured_in("first");
  }
  CHECK(gpu::hub().detach());
  CHECK_EQ(gpu::counter("cuptiFinalize"), 1);
  gpu::Recording recording;
  void* second = captured_in("second");
  replay(first, 3);
  replay(second, 2);
  CHECK_EQ(recording.rows(), (gpu::Rows{{std::string(kCaptured) + "/first/k", {3, 3}},
                                        {std::string(kCaptured) + "/second/k", {2, 2}}}));
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
