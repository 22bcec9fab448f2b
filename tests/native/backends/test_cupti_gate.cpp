// The gate: sampling is switched while threads launch, and nobody is ever inside; what hangs or
// takes too long is put off or given up, and said.
#include <atomic>
#include <thread>

#include "check.h"
#include "sampling.h"

using gpu::SampledSession;
using gpu::SamplingOptions;

namespace {

/// Threads that launch "k" until it ends, and how often they did.
class Launchers {
 public:
  explicit Launchers(int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this] {
        void* const stream = FAKE(fake_stream_create)();
        while (!is_over_.load()) {
          gpu::launch("k", 1, stream);
          launched_.fetch_add(1);
        }
      });
    }
  }
  ~Launchers() { end(); }
  void end() {
    is_over_.store(true);
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }
  uint64_t launched() const { return launched_.load(); }

 private:
  std::atomic<bool> is_over_{false};
  std::atomic<uint64_t> launched_{0};
  std::vector<std::thread> threads_;
};

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

TEST(sampling_starts_and_stops_a_hundred_times_while_eight_threads_launch) {
  gpu::begin_sampling({.inside_ns = 5 * gpu::kSecond, .grace_ns = 30'000'000});
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  gpu::launch("k");  // there is a context
  Launchers launchers(8);
  uint64_t total = 0;
  for (int i = 0; i < 100; ++i) {
    SampledSession session(SamplingOptions{.drain_ns = 1'000'000});
    CHECK(gpu::eventually(
        [&, before = launchers.launched()] { return launchers.launched() > before + 20; }));
    if (i % 3 == 0) session.flush();
    session.close();
    total += session.sink.total();
  }
  launchers.end();
  CHECK(total > 100);
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 0);
  CHECK_EQ(std::string(FAKE(fake_violations)()), "");
}

TEST(windows_contexts_and_modules_come_and_go_while_threads_launch) {
  gpu::begin_sampling({.inside_ns = 5 * gpu::kSecond, .grace_ns = 30'000'000});
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  gpu::launch("k");
  SampledSession session(
      SamplingOptions{.drain_ns = 1'000'000, .window_ns = 2'000'000, .every_ns = 4'000'000});
  Launchers launchers(4);
  std::thread contexts([] {
    for (int i = 0; i < 20; ++i) {
      void* const context = FAKE(fake_context_create)(0);
      for (int k = 0; k < 10; ++k) gpu::launch("k");
      FAKE(fake_context_destroy)(context);
    }
  });
  std::thread modules([] {
    for (int i = 0; i < 20; ++i) {
      const std::string cubin = "cubin " + std::to_string(i);
      void* const module = FAKE(fake_module_load)(cubin.data(), cubin.size());
      FAKE(fake_launch_many)(FAKE(fake_module_function)(module, "k", 5), 10, nullptr);
      FAKE(fake_module_unload)(module);
    }
  });
  contexts.join();
  modules.join();
  launchers.end();
  session.close();
  CHECK(session.sink.total() > 0);
  CHECK_EQ(gpu::describe(session.sink.losses()), "");
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 0);
  CHECK_EQ(std::string(FAKE(fake_violations)()), "");
}

TEST(every_sample_of_many_threads_and_reads_is_counted_once) {
  gpu::begin_sampling({.inside_ns = 5 * gpu::kSecond, .grace_ns = 30'000'000});
  gpu::launch("k");
  SampledSession session(SamplingOptions{.drain_ns = 1'000'000});
  FAKE(fake_sample)("k", 0, "wait", 3, 1);
  // Sampling stops for a moment in a flush, behind the gate: no launch is missed.
  Launchers launchers(4);
  for (int i = 0; i < 20; ++i) session.flush();
  launchers.end();
  CHECK(session.flush());
  const gpu::SeenMap expected{{"k+0 wait", {3 * launchers.launched(), launchers.launched()}}};
  CHECK_EQ(session.sink.seen(), expected);
  CHECK_EQ(std::string(FAKE(fake_violations)()), "");
}

TEST(a_launch_that_takes_too_long_puts_a_switch_off) {
  gpu::begin_sampling({.inside_ns = 5'000'000, .grace_ns = 1'000'000});
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  SampledSession session;
  gpu::launch("k");
  gpu::set("launch_delay_ns", gpu::kSecond);
  std::thread slow([] { gpu::launch("k"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto before = std::chrono::steady_clock::now();
  session.flush();
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::milliseconds(600));
  CHECK_EQ(session.sink.total(), 1u);  // read without a stop
  CHECK(gpu::hub().stats().sampling.put_off >= 1);
  CHECK_HAS(join(gpu::hub().take_problems()), "newest samples");
  gpu::set("launch_delay_ns", 0);
  slow.join();
  CHECK(session.flush());
  CHECK_EQ(session.sink.total(), 2u);
  CHECK_EQ(std::string(FAKE(fake_violations)()), "");
}

TEST(a_context_that_a_long_launch_keeps_from_being_sampled_is_sampled_later) {
  gpu::begin_sampling({.inside_ns = 5'000'000, .grace_ns = 1'000'000});
  SampledSession session(SamplingOptions{.drain_ns = 1'000'000});
  gpu::launch("k");
  gpu::set("launch_delay_ns", gpu::kSecond);
  std::thread slow([] { gpu::launch("k"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  gpu::set("launch_delay_ns", 0);
  void* const context = FAKE(fake_context_create)(0);
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 1);
  slow.join();
  CHECK(gpu::eventually([] { return FAKE(fake_sampled_contexts)(1) == 2; }));
  FAKE(fake_context_destroy)(context);
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 1);
  CHECK_EQ(gpu::describe(session.sink.losses()), "");
  session.close();
  CHECK_EQ(std::string(FAKE(fake_violations)()), "");
}
