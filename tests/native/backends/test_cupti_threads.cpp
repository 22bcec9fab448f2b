// Attribution by correlation id: whoever launches, in whatever order records come back, a kernel
// stands below the scopes of its launch. Kernels are named after the scopes they belong to, so
// that one in the wrong place shows.
#include <atomic>
#include <deque>
#include <thread>

#include "check.h"
#include "gpu.h"

namespace {

/// The names of `count` things, which live for ever: scopes keep the pointer.
const char* name_of(const std::string& text) {
  static std::deque<std::string> names;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return names.emplace_back(text).c_str();
}

/// Each of `thread_count` threads launches in three scopes by turns; what the tree must say.
gpu::Rows launch_from_threads(int thread_count, uint64_t launch_count, uint64_t run_length) {
  gpu::Rows expected;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < thread_count; ++thread) {
    const std::string outer = "t" + std::to_string(thread);
    std::vector<std::pair<const char*, void*>> places;
    for (int i = 0; i < 3; ++i) {
      const std::string inner = "s" + std::to_string(i);
      const uint64_t time_ns = static_cast<uint64_t>(10 * thread + i + 1);
      const std::string kernel = "k_" + outer + "_" + inner;
      places.emplace_back(name_of(inner), FAKE(fake_function)(kernel.c_str(), time_ns));
      uint64_t count = 0;
      for (uint64_t at = 0, turn = 0; at < launch_count; at += run_length, ++turn) {
        if (turn % 3 == static_cast<uint64_t>(i)) count += std::min(run_length, launch_count - at);
      }
      const auto runs = static_cast<int64_t>(count);
      expected[outer + "/" + inner + "/" + kernel] = {runs, runs * static_cast<int64_t>(time_ns)};
    }
    threads.emplace_back([=, scope = name_of(outer)] {
      const gpu::Scope of_thread(scope);
      void* const stream = FAKE(fake_stream_create)();
      const auto launch_many = FAKE(fake_launch_many);
      for (uint64_t at = 0, turn = 0; at < launch_count; at += run_length, ++turn) {
        const auto& [inner, function] = places[turn % 3];
        const gpu::Scope of_turn(inner);
        launch_many(function, std::min(run_length, launch_count - at), stream);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return expected;
}

}  // namespace

TEST(sixteen_threads_of_many_launches_are_attributed_without_a_miss) {
  gpu::begin();
  gpu::Recording recording;
  const gpu::Rows expected = launch_from_threads(16, gpu::scaled(100'000), 97);
  CHECK_EQ(recording.rows(), expected);
  CHECK_EQ(gpu::describe(recording.losses()), "");
  CHECK_EQ(recording.session().device.event_count(), 16 * gpu::scaled(100'000));
  CHECK_EQ(gpu::counter("violations"), 0);
}

TEST(records_out_of_order_find_their_launches) {
  gpu::begin();
  gpu::set("reverse_records", 1);
  gpu::set("reverse_buffers", 1);
  gpu::Recording recording({}, proton::DataKind::kTree, 64 << 10);
  const gpu::Rows expected = launch_from_threads(4, 5'000, 7);
  CHECK_EQ(recording.rows(), expected);
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(one_shared_buffer_as_before_13_serves_as_well) {
  gpu::begin();
  gpu::set("per_thread_buffers", 0);
  gpu::Recording recording({}, proton::DataKind::kTree, 64 << 10);
  const gpu::Rows expected = launch_from_threads(8, 5'000, 11);
  CHECK_EQ(recording.rows(), expected);
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(a_thread_that_launches_rarely_is_not_forgotten) {
  // With buffers of their own, a quiet thread's records come back late: millions of launches of
  // others may lie between. They must not take its context away.
  gpu::begin();
  gpu::Recording recording;
  std::atomic<bool> is_done{false};
  std::atomic<bool> has_launched{false};
  std::thread quiet([&] {
    const gpu::Scope scope("quiet");
    gpu::launch("once", 5);
    has_launched = true;
    while (!is_done) std::this_thread::yield();
    gpu::launch("again", 5);
  });
  while (!has_launched) std::this_thread::yield();
  {
    const gpu::Scope scope("busy");
    FAKE(fake_launch_many)(FAKE(fake_function)("many", 1), 1'500'000, nullptr);
  }
  is_done = true;
  quiet.join();
  const gpu::Rows expected{
      {"quiet/once", {1, 5}}, {"quiet/again", {1, 5}}, {"busy/many", {1'500'000, 1'500'000}}};
  CHECK_EQ(recording.rows(), expected);
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(a_thread_without_scopes_follows_the_lead) {
  gpu::begin();
  gpu::Recording recording;
  {
    const gpu::Scope scope("backward");
    std::thread([] { gpu::launch("grad"); }).join();
  }
  std::thread([] { gpu::launch("late"); }).join();
  const gpu::Rows expected{{"backward/grad", {1, 10}}, {"late", {1, 10}}};
  CHECK_EQ(recording.rows(), expected);
}

TEST(buffers_are_used_again) {
  gpu::begin();
  gpu::Recording recording({}, proton::DataKind::kTree, 64 << 10);
  FAKE(fake_launch_many)(FAKE(fake_function)("k", 1), 100'000, nullptr);
  recording.flush();
  CHECK(gpu::counter("buffers_requested") >= 300);
  CHECK(gpu::hub().stats().buffer_count <= 16);
  CHECK_EQ(gpu::counter("buffers_held"), 0);
}

TEST(nothing_but_whole_records_of_a_buffer_is_read) {
  gpu::begin();
  gpu::set("scribble", 1);
  gpu::Recording recording({}, proton::DataKind::kTree, 64 << 10);
  for (int i = 0; i < 1000; ++i) gpu::launch("k");
  CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {1000, 10'000}}}));
}

TEST(buffers_are_zeroed_for_us_alone) {
  gpu::begin();
  gpu::set("scribble", 1);  // the fake looks at every buffer
  {
    gpu::Recording recording({}, proton::DataKind::kTree, 64 << 10);
    FAKE(fake_launch_many)(FAKE(fake_function)("k", 1), 10'000, nullptr);
    CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {10'000, 10'000}}}));
  }
  uint8_t is_zeroed = 7;
  size_t size = 1;
  fake::find<int (*)(int, size_t*, void*)>("cuptiActivityGetAttribute")(5, &size, &is_zeroed);
  CHECK_EQ(is_zeroed, 0);
}

TEST(threads_come_and_go_while_sessions_start_and_stop) {
  gpu::begin();
  std::atomic<bool> is_done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!is_done) {
        std::thread([] {
          const gpu::Scope scope("worker");
          for (int j = 0; j < 20; ++j) gpu::launch("k", 1);
        }).join();
      }
    });
  }
  for (int i = 0; i < 30; ++i) {
    gpu::Recording recording;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (const auto& [path, row] : recording.rows()) {
      CHECK_EQ(path, "worker/k");
      CHECK_EQ(row.count, row.time_ns);
    }
  }
  is_done = true;
  for (auto& thread : threads) thread.join();
  CHECK_EQ(std::string(FAKE(fake_violations)()), "");
}
