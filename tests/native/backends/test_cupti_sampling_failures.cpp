// Where instructions cannot be sampled: the reason and what to do about it, before the program
// runs; and nothing hangs.
#include <atomic>
#include <thread>

#include "check.h"
#include "sampling.h"

using gpu::SampledSession;
using gpu::SamplingOptions;

namespace {

void begin_without_contexts() {
  gpu::begin_sampling();
  FAKE(fake_device_reset)(0);
  gpu::begin_sampling();
}

}  // namespace

TEST(a_machine_that_can_sample_passes_the_check) {
  begin_without_contexts();
  CHECK(!gpu::hub().has_contexts());
  CHECK_EQ(gpu::hub().check_sampling(), "");
  CHECK_EQ(gpu::hub().probe_sampling(), "");
  CHECK_EQ(gpu::counter("cuDevicePrimaryCtxRetain"), 1);
  CHECK_EQ(gpu::counter("cuDevicePrimaryCtxRelease_v2"), 1);
  gpu::launch("k");
  CHECK(gpu::hub().has_contexts());
  CHECK_EQ(gpu::hub().check_sampling(), "");
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 0);
  CHECK_EQ(gpu::counter("is_subscribed"), 0);
  SampledSession session;
  CHECK_EQ(gpu::hub().check_sampling(), "");
  CHECK_EQ(gpu::hub().probe_sampling(), "");  // leaves those alone that are sampled
  CHECK_EQ(std::string(FAKE(fake_violations)()), "");
}

TEST(the_check_neither_initialises_the_driver_nor_asks_contexts) {
  for (const bool has_context : {false, true}) {
    begin_without_contexts();
    if (has_context) gpu::launch("k");
    const int64_t before = gpu::counter("cuInit");
    CHECK_EQ(gpu::hub().check_sampling(), "");
    CHECK_EQ(gpu::hub().has_contexts(), has_context);
    CHECK_EQ(gpu::counter("cuInit"), before);
    CHECK_EQ(gpu::counter("cuptiPCSamplingEnable"), 0);
    CHECK_EQ(gpu::counter("cuptiPCSamplingGetNumStallReasons"), 0);
    if (!has_context) CHECK_EQ(gpu::counter("cuDevicePrimaryCtxRetain"), 0);
  }
}

TEST(a_library_without_cupti_is_refused_by_the_function_it_lacks) {
  std::string text;
  try {
    proton::cupti::Library::open("libm.so.6", fake::library_path());
  } catch (const proton::BackendError& error) {
    text = std::string(error.what()) + "; " + error.remedy();
  }
  CHECK_HAS(text, "libm.so.6 has no function cuptiGetVersion");
  CHECK_HAS(text, "CUDA 12.8 or newer");
}

TEST(each_refusal_says_what_to_do_in_the_probe_and_at_the_start) {
  struct Refusal {
    const char* function;
    int code;
    const char* text;
    const char* remedy;
  };
  for (const auto& [function, code, text, remedy] : {
           Refusal{"cuptiPCSamplingEnable", 35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (error 35)",
                   "NVreg_RestrictProfilingToAdminUsers=0"},
           Refusal{"cuptiPCSamplingEnable", 27, "CUPTI_ERROR_NOT_SUPPORTED (error 27)",
                   "compute capability 7.0"},
           Refusal{"cuptiPCSamplingEnable", 26, "CUPTI_ERROR_HARDWARE_BUSY (error 26)",
                   "the other profiler"},
           Refusal{"cuptiPCSamplingGetNumStallReasons", 999, "CUPTI_ERROR_UNKNOWN (error 999)",
                   "proton doctor"},
       }) {
    begin_without_contexts();
    FAKE(fake_set_failure)(function, code, 0, -1);
    const std::string probed = gpu::hub().probe_sampling();
    CHECK_HAS(probed, std::string(function) + " failed with " + text);
    CHECK_HAS(probed, remedy);
    gpu::launch("k");
    CHECK_EQ(gpu::error_of_sampling(), probed);
    CHECK_EQ(FAKE(fake_sampled_contexts)(0), 0);
    CHECK_EQ(std::string(FAKE(fake_violations)()), "");
  }
  gpu::begin_sampling();
  CHECK_EQ(gpu::error_of_sampling(), "");
}

TEST(refused_settings_name_the_one) {
  gpu::begin_sampling();
  gpu::launch("k");
  std::string text;
  try {
    SampledSession session(SamplingOptions{.period_exponent = 3});
  } catch (const proton::BackendError& error) {
    text = error.what();
  }
  CHECK_HAS(text, "cuptiPCSamplingSetConfigurationAttribute attribute 1 failed");
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 0);
}

TEST(no_stall_reasons_are_a_library_without_its_companions) {
  gpu::begin_sampling();
  gpu::set("zero_reasons", 1);
  CHECK_HAS(gpu::hub().probe_sampling(), "knows no stall reasons");
  gpu::launch("k");
  CHECK_HAS(gpu::error_of_sampling(), "libnvperf_host.so");
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 0);
}

TEST(a_part_of_a_gpu_cannot_be_sampled) {
  gpu::begin_sampling();
  gpu::set("is_mig", 1);
  CHECK_HAS(gpu::hub().probe_sampling(), "a part of a GPU");
  CHECK_HAS(gpu::hub().probe_sampling(), "MIG");
  gpu::launch("k");
  CHECK_HAS(gpu::error_of_sampling(), "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED");
}

TEST(another_holder_of_cupti_is_told) {
  gpu::begin_sampling();
  FAKE(fake_set_holder)("Kineto");
  CHECK_HAS(gpu::hub().check_sampling(), "another tool holds CUPTI");
  FAKE(fake_set_holder)(nullptr);
  CHECK_EQ(gpu::hub().check_sampling(), "");
}

TEST(a_context_that_is_refused_later_is_a_loss_and_a_line_for_the_user) {
  gpu::begin_sampling();
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  gpu::launch("k");
  SampledSession session;
  static std::atomic<int> told;  // at once, not with the next flush
  told = 0;
  gpu::hub().sampler().set_problem_hook([] { ++told; });
  FAKE(fake_set_failure)("cuptiPCSamplingEnable", 27, 0, -1);
  void* const context = FAKE(fake_context_create)(0);
  CHECK_EQ(told.load(), 1);
  gpu::launch("k");  // there: no reason to try again
  session.flush();
  CHECK_EQ(told.load(), 1);
  gpu::hub().sampler().set_problem_hook(nullptr);
  CHECK_EQ(session.sink.losses().at("sampling_lost_context"), 1u);
  const auto problems = gpu::hub().take_problems();
  CHECK_EQ(problems.size(), 1u);
  if (!problems.empty()) CHECK_HAS(problems[0], "CUPTI_ERROR_NOT_SUPPORTED");
  FAKE(fake_context_destroy)(context);
  session.close();
  CHECK_EQ(std::string(FAKE(fake_violations)()), "");
}

TEST(samples_that_cannot_be_read_are_a_loss) {
  gpu::begin_sampling();
  SampledSession session;
  gpu::launch("k");
  FAKE(fake_set_failure)("cuptiPCSamplingGetData", 999, 0, 1);
  session.flush();
  CHECK_EQ(session.sink.losses().at("sampling_lost_context"), 1u);
  const auto problems = gpu::hub().take_problems();
  CHECK(!problems.empty());
  if (!problems.empty()) CHECK_HAS(problems[0], "cuptiPCSamplingGetData failed");
}

// The last: sampling is over for the process.
TEST(zz_a_switch_that_hangs_lets_launches_go_on_and_is_told) {
  gpu::begin_sampling({.grace_ns = 1'000'000, .switch_ns = gpu::kSecond / 5});
  gpu::launch("k");
  SampledSession session;
  gpu::hub().sampler().gate().set_limit(50'000'000);
  gpu::set("switch_delay_ns", 2 * gpu::kSecond);
  std::thread launcher([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gpu::launch("k");  // held, then let go
  });
  const auto before = std::chrono::steady_clock::now();
  session.flush();
  launcher.join();
  session.close();
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::milliseconds(1500));
  const auto problems = gpu::hub().take_problems();
  std::string text;
  for (const std::string& problem : problems) text += problem + "\n";
  CHECK_HAS(text, "instruction sampling was given up: cuptiPCSamplingStop did not come back");
  CHECK(session.sink.losses().contains("sampling_lost_context"));
  CHECK_HAS(gpu::error_of_sampling(), "given up");
  gpu::set("switch_delay_ns", 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(2200));  // the late call ends
  SampledSession timed(std::nullopt);                            // kernels are still timed
  gpu::launch("k");
  CHECK(timed.flush());
  CHECK_EQ(timed.sink.event_count(), 1u);
}
