/// The rules of sampling as the fake driver keeps them: each is broken here once, and noted.
#include <chrono>
#include <thread>
#include <vector>

#include "check.h"
#include "fake_cuda/fake.h"
#include "fake_cuda/sampling_records.h"

using namespace fake;

namespace {

constexpr size_t kReasons = 40;

int call_sampling(const char* name, void* context) {
  SamplingContext given{sizeof(SamplingContext), nullptr, context};
  return find<int (*)(SamplingContext*)>(name)(&given);
}

/// A buffer for a few instructions.
struct Buffer {
  Buffer() {
    for (size_t i = 0; i < records.size(); ++i) {
      records[i].size = sizeof(PcRecord);
      records[i].stalls = stalls.data() + i * kReasons;
    }
    raw.size = sizeof(PcBuffer);
    raw.capacity = records.size();
    raw.records = records.data();
  }
  std::vector<PcRecord> records = std::vector<PcRecord>(4);
  std::vector<StallCount> stalls = std::vector<StallCount>(4 * kReasons);
  PcBuffer raw{};
};

int read_into(Buffer& buffer, void* context) {
  SamplingRead given{sizeof(SamplingRead), nullptr, context, &buffer.raw};
  return find<int (*)(SamplingRead*)>("cuptiPCSamplingGetData")(&given);
}

/// A context that is sampled, with the buffer it was configured with.
struct SampledContext {
  explicit SampledContext(bool is_started = true) {
    FAKE(fake_reset)();
    context = FAKE(fake_context_create)(0);
    CHECK_EQ(call_sampling("cuptiPCSamplingEnable", context), 0);
    std::vector<uint32_t> numbers(kReasons);
    SamplingSetting settings[3] = {};
    settings[0].attribute = kReasonsSetting;
    settings[0].reasons = {kReasons, numbers.data()};
    settings[1].attribute = kPeriodSetting;
    settings[1].number = 12;
    settings[2].attribute = kBufferSetting;
    settings[2].buffer = &configured.raw;
    SamplingSettings given{sizeof(SamplingSettings), nullptr, context, 3, settings};
    CHECK_EQ(find<int (*)(SamplingSettings*)>("cuptiPCSamplingSetConfigurationAttribute")(&given),
             0);
    if (is_started) CHECK_EQ(call_sampling("cuptiPCSamplingStart", context), 0);
  }
  void* context;
  Buffer configured;
};

std::string violations() { return FAKE(fake_violations)(); }

}  // namespace

TEST(launches_yield_what_was_said_while_sampling_runs) {
  SampledContext sampled;
  FAKE(fake_sample)("k", 48, "barrier", 7, 2);
  for (int i = 0; i < 3; ++i) FAKE(fake_launch)("k", 1, nullptr);
  Buffer buffer;
  CHECK_EQ(read_into(buffer, sampled.context), 0);
  CHECK_EQ(buffer.raw.record_count, 1u);
  CHECK_EQ(buffer.raw.sample_count, 21u);
  CHECK_EQ(buffer.records[0].pc_offset, 48u);
  CHECK_EQ(std::string(buffer.records[0].function_name), "k");
  CHECK_EQ(buffer.records[0].stall_count, 2u);
  CHECK_EQ(buffer.records[0].stalls[0].samples, 21u);
  CHECK_EQ(buffer.records[0].stalls[1].samples, 6u);
  CHECK_EQ(call_sampling("cuptiPCSamplingStop", sampled.context), 0);
  FAKE(fake_launch)("k", 1, nullptr);
  CHECK_EQ(read_into(buffer, sampled.context), 0);
  CHECK_EQ(buffer.raw.record_count, 0u);
  CHECK_EQ(violations(), "");
}

TEST(what_was_not_read_is_in_the_configured_buffer_at_the_end) {
  SampledContext sampled;
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  FAKE(fake_launch)("k", 1, nullptr);
  call_sampling("cuptiPCSamplingStop", sampled.context);
  CHECK_EQ(call_sampling("cuptiPCSamplingDisable", sampled.context), 0);
  CHECK_EQ(sampled.configured.raw.record_count, 1u);
  CHECK_EQ(violations(), "");
}

TEST(a_switch_beside_a_launch_is_noted) {
  SampledContext sampled(false);
  FAKE(fake_set_option)("launch_delay_ns", 200'000'000);
  std::thread launcher([&] {
    find<int (*)(void*)>("cuCtxSetCurrent")(sampled.context);
    FAKE(fake_launch)("k", 1, nullptr);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  call_sampling("cuptiPCSamplingStart", sampled.context);
  launcher.join();
  CHECK_HAS(violations(), "cuptiPCSamplingStart called while a thread is in a launch");
}

TEST(a_launch_beside_a_switch_is_noted) {
  SampledContext sampled(false);
  FAKE(fake_set_option)("switch_delay_ns", 200'000'000);
  std::thread starter([&] { call_sampling("cuptiPCSamplingStart", sampled.context); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  FAKE(fake_launch)("k", 1, nullptr);
  starter.join();
  CHECK_HAS(violations(), "a launch began while sampling was being switched");
}

TEST(reasons_are_told_of_contexts_that_are_switched_on) {
  SampledContext sampled;
  size_t count = 0;
  ReasonCount given{sizeof(ReasonCount), nullptr, sampled.context, &count};
  const auto ask = find<int (*)(ReasonCount*)>("cuptiPCSamplingGetNumStallReasons");
  CHECK_EQ(ask(&given), 0);
  CHECK_EQ(count, kReasons);
  call_sampling("cuptiPCSamplingStop", sampled.context);
  call_sampling("cuptiPCSamplingDisable", sampled.context);
  CHECK_EQ(ask(&given), 7);
}

TEST(a_second_start_is_noted) {
  SampledContext sampled;
  CHECK_EQ(call_sampling("cuptiPCSamplingStart", sampled.context), 7);
  CHECK_HAS(violations(), "sampling is not configured, or runs");
}

TEST(the_configured_buffer_is_not_to_be_read_into) {
  SampledContext sampled;
  CHECK(read_into(sampled.configured, sampled.context) != 0);
  CHECK_HAS(violations(), "given the configured buffer");
}

TEST(an_unread_module_and_a_sampled_context_may_not_go) {
  SampledContext sampled;
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  void* const module = FAKE(fake_module_load)("cubin", 5);
  FAKE(fake_launch_many)(FAKE(fake_module_function)(module, "k", 1), 1, nullptr);
  FAKE(fake_module_unload)(module);
  CHECK_HAS(violations(), "unloaded before its samples were read");
  FAKE(fake_context_destroy)(sampled.context);
  CHECK_HAS(violations(), "destroyed while it was sampled");
}
