// Scopes with metrics that hold a capture, but were entered before it: their metrics count at every
// replay only if they hold nothing else.
#include "check.h"
#include "graphs.h"

using gpu::below;
using gpu::capture_layer;
using gpu::in_scope;
using gpu::instantiate;
using gpu::metric_at;
using gpu::MetricScope;
using gpu::once;
using gpu::replay;
using gpu::ridden;

TEST(a_scope_that_holds_nothing_but_a_capture_counts_at_every_replay) {
  for (const bool is_at_entry : {false, true}) {
    gpu::begin();
    gpu::Recording recording;
    gpu::launch("before");
    void* exec = nullptr;
    in_scope([&] { exec = instantiate(gpu::capture_in("layer")); }, is_at_entry);
    gpu::launch("after");
    replay(exec, 2);
    CHECK_EQ(ridden(recording), 6);
    CHECK_EQ(once(recording), -1);
  }
}

TEST(a_scope_that_holds_nothing_but_the_making_of_a_graph_counts_at_every_replay) {
  gpu::begin();
  gpu::Recording recording;
  gpu::launch("before");
  void* exec = nullptr;
  in_scope([&] {
    void* graph = FAKE(fake_graph_create)();
    FAKE(fake_graph_add_kernel)(graph, FAKE(fake_function)("k", 1));
    FAKE(fake_graph_add_kernel)(graph, FAKE(fake_function)("k", 1));
    exec = instantiate(graph);
  });
  replay(exec, 2);
  CHECK_EQ(ridden(recording), 6);
}

TEST(a_scope_with_a_launch_before_the_capture_counts_once) {
  for (const bool is_at_entry : {false, true}) {
    gpu::begin();
    gpu::Recording recording;
    void* exec = nullptr;
    in_scope(
        [&] {
          gpu::launch("seed");  // as torch does
          exec = instantiate(capture_layer());
        },
        is_at_entry);
    replay(exec, 5);
    CHECK_EQ(once(recording), 3);
    CHECK_EQ(ridden(recording), -1);
    CHECK_EQ(metric_at(recording, below("", "all/layer"), "tokens"), 50);
    CHECK_EQ(gpu::describe(recording.losses()), "");
  }
}

TEST(a_scope_with_a_launch_after_the_capture_counts_once) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = nullptr;
  in_scope([&] {
    void* graph = capture_layer();
    gpu::launch("eager");
    exec = instantiate(graph);  // its clones are of no launch
  });
  replay(exec, 5);
  CHECK_EQ(once(recording), 3);
  CHECK_EQ(ridden(recording), -1);
}

TEST(a_scope_with_a_copy_beside_the_capture_counts_once) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = nullptr;
  in_scope([&] {
    FAKE(fake_memcpy)(1, 100, 7, nullptr);
    exec = instantiate(capture_layer());
  });
  replay(exec, 5);
  CHECK_EQ(once(recording), 3);
  CHECK_EQ(ridden(recording), -1);
}

TEST(a_scope_with_a_replay_after_the_capture_counts_once) {
  gpu::begin();
  gpu::Recording recording;
  in_scope([&] { replay(instantiate(capture_layer()), 5); });
  CHECK_EQ(once(recording), 3);
  CHECK_EQ(metric_at(recording, below("all", "all"), "tokens"), -1);
  CHECK_EQ(metric_at(recording, below("all", "all/layer"), "tokens"), 50);
}

TEST(steps_of_a_loop_count_once_each_whatever_they_capture) {
  for (const bool is_at_entry : {false, true}) {
    gpu::begin();
    gpu::Recording recording;
    void* exec = nullptr;
    for (int step = 0; step < 10; ++step) {
      in_scope(
          [&] {
            if (step == 0) return void(gpu::launch("k"));  // warms up
            if (step == 1) exec = instantiate(capture_layer());
            replay(exec);
          },
          is_at_entry);
    }
    CHECK_EQ(once(recording), 30);
    CHECK_EQ(metric_at(recording, below("all", "all/layer"), "tokens"), 90);
    CHECK_EQ(metric_at(recording, below("all", "all"), "tokens"), -1);
  }
}

TEST(a_scope_entered_within_a_capture_counts_at_every_replay_beside_eager_work) {
  gpu::begin();
  gpu::Recording recording;
  void* other = FAKE(fake_stream_create)();
  void* exec = instantiate(gpu::capture([&](void* stream) {
    in_scope([&] {
      gpu::launch("eager", 1, other);
      gpu::launch("k", 1, stream);
      gpu::launch("eager", 1, other);
    });
    in_scope([&] {
      gpu::launch("eager", 1, other);
      gpu::launch("k", 1, stream);
    });
  }));
  replay(exec, 2);
  CHECK_EQ(ridden(recording), 12);
  CHECK_EQ(once(recording), -1);
}

TEST(of_nested_scopes_each_is_judged_by_itself) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = nullptr;
  {
    const MetricScope step("step", "tokens", 100, true);
    gpu::launch("eager");
    const MetricScope build("build", "tokens", 20);
    exec = instantiate(capture_layer());
  }
  replay(exec, 3);
  CHECK_EQ(metric_at(recording, "step", "tokens"), 100);
  CHECK_EQ(metric_at(recording, below("", "step"), "tokens"), -1);
  CHECK_EQ(metric_at(recording, below("", "step/build"), "tokens"), 60);
  CHECK_EQ(metric_at(recording, below("", "step/build/layer"), "tokens"), 30);
}

TEST(in_a_trace_a_span_that_is_not_captured_keeps_its_metrics) {
  for (const bool is_at_entry : {false, true}) {
    gpu::begin();
    gpu::Recording recording({}, proton::DataKind::kTrace);
    in_scope(
        [&] {
          gpu::launch("eager");
          replay(instantiate(gpu::capture_in("layer")), 2);
        },
        is_at_entry);
    CHECK(gpu::span_metrics(recording, proton::SpanKind::kMetric, "tokens") ==
          std::vector<int64_t>{3});
    CHECK(gpu::span_metrics(recording, proton::SpanKind::kKernel, "tokens").empty());
  }
}

TEST(graph_level_counts_a_scope_beside_eager_work_once) {
  gpu::begin();
  gpu::Recording recording(gpu::whole_graphs());
  void* exec = nullptr;
  in_scope([&] {
    gpu::launch("eager");
    exec = instantiate(capture_layer());
  });
  replay(exec, 4);
  CHECK_EQ(once(recording), 3);
  CHECK_EQ(ridden(recording), -1);
  CHECK_EQ(metric_at(recording, below("", "all/layer"), "tokens"), 40);
}

TEST(a_scope_left_during_the_capture_is_judged_as_one_around_it) {
  gpu::begin();
  gpu::Recording recording;
  void* stream = FAKE(fake_stream_create)();
  const auto capture_half = [&] {
    FAKE(fake_capture_begin)(stream);
    gpu::launch("k", 1, stream);
  };
  const auto capture_rest = [&] {
    gpu::launch("k", 1, stream);
    return instantiate(FAKE(fake_capture_end)(stream));
  };
  in_scope(capture_half);
  replay(capture_rest(), 2);
  CHECK_EQ(ridden(recording), 6);
  CHECK_EQ(once(recording), -1);
  in_scope([&] {
    gpu::launch("eager");
    capture_half();
  });
  replay(capture_rest(), 5);
  CHECK_EQ(ridden(recording), 6);
  CHECK_EQ(once(recording), 3);
}

TEST(a_scope_that_holds_two_captures_counts_once) {
  gpu::begin();
  gpu::Recording recording;
  void* execs[2] = {};
  in_scope([&] {
    for (void*& exec : execs) exec = instantiate(capture_layer());
  });
  for (void* exec : execs) replay(exec, 2);
  CHECK_EQ(once(recording), 3);
  CHECK_EQ(ridden(recording), -1);
}
