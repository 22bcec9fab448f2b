// Launches of kernels that CUPTI gives no record of, because another tool took its records: they
// are counted. What has no record by its nature is not.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "backends/cupti/driver/abi.h"
#include "check.h"
#include "graphs.h"

namespace {

using proton::cupti::kConcurrentKernelActivity;

constexpr const char* kNone = "";

/// What another tool may ask of CUPTI, whoever is subscribed.
int set_kernels(bool is_on) {
  using Switch = int (*)(uint32_t);
  return fake::find<Switch>(is_on ? "cuptiActivityEnable"
                                  : "cuptiActivityDisable")(kConcurrentKernelActivity);
}

// Buffers of another tool.
std::vector<uint64_t> foreign_memory(8192);
std::atomic<int> foreign_buffers{0};

void take_records() {
  using Register = int (*)(proton::cupti::BufferRequested, proton::cupti::BufferCompleted);
  fake::find<Register>("cuptiActivityRegisterCallbacks")(
      [](uint8_t** buffer, size_t* size, size_t* most) {
        *buffer = reinterpret_cast<uint8_t*>(foreign_memory.data());
        *size = foreign_memory.size() * sizeof(uint64_t);
        *most = 0;
      },
      [](void*, uint32_t, uint8_t*, size_t, size_t) { ++foreign_buffers; });
}

void launch_many(int count, const char* name = "k") {
  for (int i = 0; i < count; ++i) gpu::launch(name);
}

}  // namespace

TEST(launches_after_another_tool_switched_kernels_off_are_counted_once) {
  gpu::begin();
  gpu::Recording recording;
  launch_many(5);
  CHECK_EQ(set_kernels(false), 0);
  launch_many(7);
  CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {5, 50}}}));
  CHECK_EQ(gpu::describe(recording.losses()), "unrecorded_launch: 7 ");
  CHECK_EQ(gpu::describe(recording.losses()), "unrecorded_launch: 7 ");
  launch_many(2);
  CHECK_EQ(gpu::describe(recording.losses()), "unrecorded_launch: 9 ");
}

TEST(launches_whose_records_another_tool_got_are_counted_and_a_pause_heals_it) {
  gpu::begin();
  foreign_buffers = 0;
  gpu::Recording recording;
  take_records();
  launch_many(3, "theirs");
  CHECK_EQ(gpu::describe(recording.losses()), "unrecorded_launch: 3 ");
  CHECK_EQ(foreign_buffers.load(), 1);
  set_kernels(false);
  recording.set_active(false);
  recording.set_active(true);
  launch_many(4);
  CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {4, 40}}}));
  CHECK_EQ(gpu::describe(recording.losses()), "unrecorded_launch: 3 ");
}

TEST(the_activation_of_one_session_heals_the_others) {
  gpu::begin();
  gpu::Recording first;
  set_kernels(false);
  launch_many(2);
  gpu::Recording second;
  launch_many(3);
  CHECK_EQ(first.rows(), (gpu::Rows{{"k", {3, 30}}}));
  CHECK_EQ(gpu::describe(first.losses()), "unrecorded_launch: 2 ");
  CHECK_EQ(gpu::describe(second.losses()), kNone);
}

TEST(a_buffer_of_another_tool_is_read_and_left_alone) {
  gpu::begin();
  gpu::Recording recording;
  take_records();
  launch_many(3);  // into a buffer of theirs
  const uint64_t before = foreign_memory[0];
  recording.set_active(false);
  recording.set_active(true);
  launch_many(2);
  CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {5, 50}}}));
  CHECK_EQ(gpu::describe(recording.losses()), kNone);
  CHECK(before != 0);
  CHECK_EQ(foreign_memory[0], before);  // not zeroed, as one of ours would be
  CHECK_EQ(gpu::counter("violations"), 0);
}

TEST(each_session_counts_the_launches_that_it_was_active_at) {
  gpu::begin();
  gpu::Recording first;
  gpu::SinkOptions options;
  options.with_frames = true;
  gpu::Recording second(options);
  set_kernels(false);
  launch_many(2);
  second.set_active(false);
  launch_many(4);
  CHECK_EQ(gpu::describe(first.losses()), "unrecorded_launch: 6 ");
  CHECK_EQ(gpu::describe(second.losses()), "unrecorded_launch: 2 ");
}

TEST(launches_before_a_pause_are_counted_after_it) {
  gpu::begin();
  gpu::Recording recording;
  set_kernels(false);
  launch_many(3);
  recording.set_active(false);
  launch_many(5);
  CHECK_EQ(gpu::describe(recording.losses()), "unrecorded_launch: 3 ");
}

TEST(launches_that_moved_aside_are_counted_too) {
  gpu::begin();
  gpu::Recording recording;
  set_kernels(false);
  const uint64_t count = proton::CorrelationMap::kCapacity + 1000;
  FAKE(fake_launch_many)(FAKE(fake_function)("k", 1), count, nullptr);
  CHECK_EQ(recording.losses()["unrecorded_launch"], count);
}

TEST(dropped_records_are_not_counted_twice) {
  gpu::begin();
  gpu::Recording recording;
  gpu::set("drop_next", 3);
  launch_many(5);
  CHECK_EQ(gpu::describe(recording.losses()), "dropped_event: 3 ");
  CHECK_EQ(gpu::describe(recording.losses()), "dropped_event: 3 ");
  set_kernels(false);
  launch_many(2);
  CHECK_EQ(gpu::describe(recording.losses()), "dropped_event: 3 unrecorded_launch: 2 ");
}

TEST(incomplete_records_are_not_counted_twice) {
  gpu::begin();
  gpu::Recording recording;
  launch_many(2);
  gpu::set("hold", 1);
  FAKE(fake_set_failure)("cuCtxSynchronize", 999, 0, -1);  // the GPU is not done
  launch_many(3);
  const auto losses = recording.losses();
  CHECK_EQ(gpu::describe(losses), "incomplete_event: 3 ");
}

TEST(incomplete_records_are_losses_of_the_sessions_that_were_active) {
  gpu::begin();
  gpu::Recording paused;
  launch_many(2);
  CHECK_EQ(gpu::describe(paused.losses()), kNone);
  paused.set_active(false);
  gpu::Recording other;
  gpu::set("hold", 1);
  FAKE(fake_set_failure)("cuCtxSynchronize", 999, 0, -1);  // the GPU is not done
  launch_many(3);
  CHECK_EQ(gpu::describe(other.losses()), "incomplete_event: 3 ");
  CHECK_EQ(gpu::describe(paused.losses()), kNone);
}

TEST(what_has_no_record_by_its_nature_is_not_counted) {
  gpu::begin();
  gpu::Recording recording;
  launch_many(3);
  FAKE(fake_set_failure)("cuLaunchKernel", 1, 0, 2);
  launch_many(2, "failed");
  FAKE(fake_memcpy)(1, 10, 10, nullptr);
  void* const captured = gpu::instantiate(gpu::capture_in("captured"));
  gpu::replay(captured, 2);
  gpu::replay(gpu::instantiate(FAKE(fake_graph_create)()));  // empty
  void* const copies = FAKE(fake_graph_create)();
  FAKE(fake_graph_add_memset)(copies, 10, 10);
  gpu::replay(gpu::instantiate(copies));
  gpu::capture([](void* stream) { gpu::launch("never", 1, stream); });  // and not replayed
  std::thread([] {
    void* const context = FAKE(fake_context_create)(0);
    launch_many(2, "other_context");
    CHECK_EQ(FAKE(fake_context_destroy)(context), 0);
    launch_many(1, "failed");  // its context is gone
  }).join();
  CHECK_EQ(FAKE(fake_device_reset)(0), 0);
  launch_many(1);
  CHECK_EQ(gpu::describe(recording.losses()), kNone);
  CHECK_EQ(recording.rows().at("k").count, 4);
}

TEST(a_launch_that_fails_while_its_session_pauses_and_another_goes_on_is_not_counted) {
  gpu::begin();
  gpu::Recording shadow;
  gpu::SinkOptions options;
  options.with_frames = true;
  gpu::Recording python(options);
  gpu::set("launch_delay_ns", 200'000'000);
  FAKE(fake_set_failure)("cuLaunchKernel", 1, 0, 1);
  const int64_t before = gpu::counter("callbacks");
  std::thread launching([] { launch_many(1, "failed"); });
  while (gpu::counter("callbacks") == before) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  python.set_active(false);
  launching.join();
  CHECK_EQ(gpu::describe(python.losses()), kNone);
  CHECK_EQ(gpu::describe(shadow.losses()), kNone);
}

TEST(a_launch_before_a_graph_is_made_still_counts) {
  gpu::begin();
  gpu::Recording recording;
  set_kernels(false);
  launch_many(1);
  gpu::instantiate(gpu::capture_in("captured"));
  void* const graph = FAKE(fake_graph_create)();
  launch_many(1);
  FAKE(fake_graph_add_kernel)(graph, FAKE(fake_function)("node", 1));
  CHECK_EQ(gpu::describe(recording.losses()), "unrecorded_launch: 2 ");
}

TEST(nothing_is_counted_in_sessions_that_come_pause_and_go_beside_launching_threads) {
  gpu::begin();
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      void* const stream = FAKE(fake_stream_create)();
      while (!is_over.load()) {
        gpu::launch("k", 1, i % 2 == 0 ? nullptr : stream);
        if (i == 3) std::this_thread::yield();
      }
    });
  }
  uint64_t lost = 0;
  for (uint64_t round = 0; round < gpu::scaled(20); ++round) {
    gpu::Recording first;
    gpu::Recording second;
    for (int pause = 0; pause < 5; ++pause) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      first.set_active(false);
      if (pause % 2 == 0) second.set_active(false);
      first.flush();
      second.set_active(true);
      first.set_active(true);
    }
    for (gpu::Recording* one : {&first, &second}) lost += one->losses()["unrecorded_launch"];
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(lost, 0);
}

TEST(beside_launching_threads_the_count_is_that_of_launches_without_kernels) {
  gpu::begin();
  gpu::Recording recording;
  set_kernels(false);
  std::atomic<int64_t> launched{0};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!is_over.load()) {
        gpu::launch("k", 1);
        ++launched;
      }
    });
  }
  for (int i = 0; i < 10; ++i) recording.flush();
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(static_cast<int64_t>(recording.losses()["unrecorded_launch"]), launched.load());
}
