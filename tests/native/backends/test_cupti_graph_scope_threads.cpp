// Scopes with metrics around captures where not all is seen, or not on one thread: pauses, threads
// that capture for others, sessions that begin within a scope.
#include <thread>

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

TEST(a_capture_that_another_thread_begins_for_a_scope_counts_once) {
  gpu::begin();
  gpu::Recording recording;
  in_scope([] {  // as autograd's threads do for compiled programs: they capture, then replay
    std::thread([] {
      void* stream = FAKE(fake_stream_create)();
      FAKE(fake_capture_begin)(stream);
      gpu::launch("k", 1, stream);
      replay(instantiate(FAKE(fake_capture_end)(stream)), 4);
    }).join();
  });
  CHECK_EQ(once(recording), 3);
  CHECK_EQ(recording.rows(), (gpu::Rows{{below("all", "all/k"), {4, 4}}}));
  CHECK_EQ(metric_at(recording, below("all", "all"), "tokens"), -1);
}

TEST(scopes_of_every_thread_are_judged_by_its_own_launches) {
  gpu::begin();
  gpu::Recording recording;
  for (int round = 0; round < 3; ++round) {  // later threads take over what earlier ones counted
    void* exec = nullptr;
    std::thread([&] {
      in_scope([&] { exec = instantiate(gpu::capture_in("layer")); });
      in_scope([&] {
        gpu::launch("eager");
        instantiate(gpu::capture_in("layer"));
      });
    }).join();
    replay(exec);
  }
  CHECK_EQ(ridden(recording), 9);
  CHECK_EQ(once(recording), 9);
}

TEST(a_scope_entered_before_the_session_counts_once) {
  gpu::begin();
  const MetricScope* scope = new MetricScope("all", "tokens", 3);
  gpu::Recording recording;
  void* exec = instantiate(capture_layer());
  delete scope;
  replay(exec, 5);
  CHECK_EQ(once(recording), 3);
  CHECK_EQ(ridden(recording), -1);
}

TEST(of_a_pause_nobody_knows_what_was_launched) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = nullptr;
  in_scope([&] {
    recording.set_active(false);
    gpu::launch("eager");
    recording.set_active(true);
    exec = instantiate(capture_layer());
  });
  replay(exec, 5);
  CHECK_EQ(once(recording), 3);
  CHECK_EQ(ridden(recording), -1);
  CHECK_EQ(metric_at(recording, below("", "all/layer"), "tokens"), 50);
}

TEST(a_capture_that_begins_in_a_pause_began_after_the_scope) {
  gpu::begin();
  gpu::Recording recording;
  void* stream = FAKE(fake_stream_create)();
  in_scope([&] {
    gpu::launch("eager");
    recording.set_active(false);
    FAKE(fake_capture_begin)(stream);
    recording.set_active(true);
    gpu::launch("k", 1, stream);
  });
  in_scope([&] { gpu::launch("k", 1, stream); });  // within the capture
  replay(instantiate(FAKE(fake_capture_end)(stream)), 2);
  CHECK_EQ(once(recording), 3);
  CHECK_EQ(ridden(recording), 6);
}

TEST(a_captured_scope_that_pauses_counts_at_every_replay) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = instantiate(gpu::capture([&](void* stream) {
    in_scope([&] {
      gpu::launch("k", 1, stream);
      for (int i = 0; i < 100; ++i) {
        recording.set_active(false);
        recording.set_active(true);
      }
      gpu::launch("k", 1, stream);
    });
  }));
  replay(exec, 2);
  CHECK_EQ(ridden(recording), 6);
  CHECK_EQ(once(recording), -1);
}

TEST(steps_beside_a_capture_of_another_thread_count_once) {
  gpu::begin();
  gpu::Recording recording;
  void* stream = FAKE(fake_stream_create)();
  const auto on_a_thread = [](const std::function<void()>& work) { std::thread(work).join(); };
  std::thread([&] {  // it has no scope, as those of a library
    FAKE(fake_capture_begin)(stream);
    on_a_thread([&] { gpu::launch("k", 1, stream); });
  })
      .join();
  in_scope([&] {
    gpu::launch("eager");
    on_a_thread([&] { gpu::launch("k", 1, stream); });
  });
  replay(instantiate(FAKE(fake_capture_end)(stream)), 5);
  CHECK_EQ(once(recording), 3);
  CHECK_EQ(ridden(recording), -1);
}

TEST(a_step_during_which_another_thread_takes_the_lead_counts_once) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = nullptr;
  in_scope([&] {
    std::thread([] {
      const std::lock_guard gil(host::gil());
      proton::process.threads.lead(host::thread());
    }).join();
    gpu::launch("eager");
    exec = instantiate(gpu::capture([](void* stream) {
      for (int i = 0; i < 2000; ++i) gpu::launch("k", 1, stream);  // more than the lead had made
    }));
  });
  replay(exec, 5);
  CHECK_EQ(once(recording), 3);
  CHECK_EQ(ridden(recording), -1);
}
