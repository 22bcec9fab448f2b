// What the driver refuses, drops or holds back: clear errors, counted losses, waits with a limit.
#include <chrono>
#include <thread>

#include "base/error.h"
#include "check.h"
#include "gpu.h"

namespace {

using Clock = std::chrono::steady_clock;

/// What starting a session says, or "" where it starts.
std::string error_of_start() {
  try {
    gpu::Recording recording;
    return "";
  } catch (const proton::BackendError& error) {
    return std::string(error.what()) + "; " + error.remedy();
  }
}

void expect_working() {
  gpu::Recording recording;
  gpu::launch("k");
  CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {1, 10}}}));
}

}  // namespace

TEST(a_holder_of_cupti_is_named_where_the_library_can_tell) {
  gpu::begin();
  FAKE(fake_set_holder)("Kineto");
  const std::string text = error_of_start();
  CHECK_HAS(text, "another tool holds CUPTI");
  CHECK_HAS(text, "error 39");
  CHECK_HAS(text, "torch.profiler");
  if (FAKE(fake_cupti_version)() >= 130000) CHECK_HAS(text, "Kineto");
  FAKE(fake_set_holder)(nullptr);
  expect_working();
}

TEST(a_refused_subscription_names_function_error_and_remedy) {
  gpu::begin();
  FAKE(fake_set_failure)("cuptiSubscribe", 15, 0, 1);
  const std::string text = error_of_start();
  CHECK_HAS(text, "cuptiSubscribe failed with CUPTI_ERROR_NOT_INITIALIZED (error 15)");
  CHECK_HAS(text, "libcupti");
  expect_working();
}

TEST(refused_permission_says_how_to_get_it) {
  gpu::begin();
  FAKE(fake_set_failure)("cuptiActivityEnable", 35, 0, 1);
  const std::string text = error_of_start();
  CHECK_HAS(text, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (error 35)");
  CHECK_HAS(text, "NVreg_RestrictProfilingToAdminUsers=0");
}

TEST(remedies_fit_their_errors) {
  using proton::cupti::remedy_for;
  CHECK_HAS(remedy_for(26), "the other profiler");
  CHECK_HAS(remedy_for(33), "virtual GPU");
  CHECK_HAS(remedy_for(40), "NVreg_RestrictProfilingToAdminUsers=0");
  CHECK_HAS(remedy_for(999), "proton doctor");
}

TEST(every_refusal_of_the_start_is_an_error_and_leaves_cupti_free) {
  for (const char* function :
       {"cuptiSubscribe", "cuptiActivityRegisterCallbacks", "cuptiGetTimestamp"}) {
    gpu::begin();
    FAKE(fake_set_failure)(function, 999, 0, -1);
    CHECK_HAS(error_of_start(), function);
    CHECK_EQ(gpu::counter("is_subscribed"), 0);
  }
  gpu::begin();
  expect_working();
}

TEST(a_failed_start_can_be_tried_again) {
  gpu::begin();
  for (int i = 0; i < 20; ++i) {
    FAKE(fake_set_failure)("cuptiActivityRegisterCallbacks", 999, 0, 1);
    CHECK(!error_of_start().empty());
    expect_working();
  }
}

TEST(without_copies_kernels_are_still_timed) {
  gpu::begin();
  FAKE(fake_set_failure)("cuptiActivityEnable", 27, 1, -1);  // all but the first, the kernels
  gpu::Recording recording;
  gpu::launch("k");
  FAKE(fake_memcpy)(1, 10, 10, nullptr);
  CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {1, 10}}}));
}

TEST(dropped_records_are_counted) {
  gpu::begin();
  gpu::Recording recording;
  gpu::launch("k");
  gpu::set("drop_next", 7);
  for (int i = 0; i < 10; ++i) gpu::launch("k");
  CHECK_EQ(recording.rows().at("k").count, 4);
  CHECK_EQ(recording.losses().at("dropped_event"), 7u);
}

TEST(dropped_records_are_counted_also_when_no_buffer_comes_back) {
  gpu::begin();
  gpu::Recording recording;
  gpu::set("drop_next", 5);
  for (int i = 0; i < 5; ++i) gpu::launch("k");
  const auto losses = recording.losses();
  CHECK(losses.contains("dropped_event"));
  if (losses.contains("dropped_event")) CHECK_EQ(losses.at("dropped_event"), 5u);
}

TEST(a_flush_waits_for_work_under_way) {
  gpu::begin();
  gpu::set("hold", 1);
  gpu::Recording recording;
  gpu::launch("k", 30);
  CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {1, 30}}}));
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(a_flush_without_waiting_brings_what_is_done) {
  gpu::begin();
  gpu::Recording recording;
  gpu::launch("done");
  gpu::hub().flush(10 * gpu::kSecond, false);
  CHECK_EQ(recording.session().device.event_count(), 1u);
  gpu::set("hold", 1);
  gpu::launch("under_way");
  gpu::hub().flush(10 * gpu::kSecond, false);
  CHECK_EQ(recording.session().device.event_count(), 1u);
}

TEST(a_flush_that_takes_too_long_says_so_in_time) {
  gpu::begin();
  gpu::Recording recording;
  gpu::launch("k");
  gpu::set("flush_delay_ns", gpu::kSecond / 2);
  const auto start = Clock::now();
  CHECK(!recording.flush(gpu::kSecond / 20));
  CHECK(Clock::now() - start < std::chrono::milliseconds(400));
  gpu::set("flush_delay_ns", 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(600));  // the late flush ends
  CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {1, 10}}}));
}

TEST(a_session_ends_in_time_while_cupti_hangs) {
  gpu::begin();
  auto recording = std::make_unique<gpu::Recording>();
  gpu::launch("k");
  gpu::set("flush_delay_ns", 3 * gpu::kSecond);
  const auto start = Clock::now();
  recording.reset();
  CHECK(Clock::now() - start < std::chrono::milliseconds(2700));
  gpu::set("flush_delay_ns", 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(4500));  // the late flushes end
  expect_working();
}

TEST(flushing_while_others_launch_loses_nothing) {
  gpu::begin();
  gpu::Recording recording({}, proton::DataKind::kTree, 64 << 10);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      const gpu::Scope scope("s");
      FAKE(fake_launch_many)(FAKE(fake_function)("k", 1), 20'000, nullptr);
    });
  }
  for (int i = 0; i < 20; ++i) gpu::hub().flush(10 * gpu::kSecond, i % 2 == 0);
  for (auto& thread : threads) thread.join();
  CHECK_EQ(recording.rows(), (gpu::Rows{{"s/k", {80'000, 80'000}}}));
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(a_refused_launch_is_no_event) {
  gpu::begin();
  gpu::Recording recording;
  FAKE(fake_set_failure)("cuLaunchKernel", 719, 0, 1);
  CHECK_EQ(gpu::launch("k"), 0u);
  gpu::launch("k");
  CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {1, 10}}}));
}

TEST(buffer_sizes_that_cannot_be_are_refused) {
  gpu::begin();
  CHECK_THROWS(gpu::Recording({}, proton::DataKind::kTree, 1000), proton::Error);
  CHECK_THROWS(gpu::Recording({}, proton::DataKind::kTree, size_t{1} << 40), proton::Error);
  expect_working();
}
