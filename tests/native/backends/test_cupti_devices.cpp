// Several devices and contexts, and what happens when one goes away in the middle of a recording.
#include "backends/cuda/devices.h"
#include "check.h"
#include "gpu.h"

namespace {

constexpr int kNotInitialised = 3;
constexpr int kDeviceUnavailable = 46;
constexpr int kEccUncorrectable = 214;
constexpr int kLaunchFailed = 719;

/// Device of each kernel row -> how often it ran.
std::map<std::string, int64_t> runs_by_device(gpu::Recording& recording) {
  recording.flush();
  const std::lock_guard gil(host::gil());
  const proton::CallTree tree = host::tree(recording.session(), 0, {});
  std::map<std::string, int64_t> found;
  for (uint32_t row = 1; row < tree.nodes.size(); ++row) {
    const auto device = host::metric(tree, row, "device_id");
    if (const auto* id = std::get_if<std::string>(&device)) {
      found[*id] += std::get<int64_t>(host::metric(tree, row, "count"));
    }
  }
  return found;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string attribute(const proton::Value::Map& device, const std::string& key) {
  for (const auto& [name, value] : device) {
    if (name == key) return std::get<std::string>(value.data);
  }
  return "";
}

/// Back to the first device, with every context of the test gone.
void end_contexts(const std::vector<void*>& contexts) {
  for (void* context : contexts) FAKE(fake_context_destroy)(context);
  FAKE(fake_clear)();
}

}  // namespace

TEST(kernels_of_several_devices_and_contexts_keep_their_device) {
  gpu::begin();
  gpu::set("device_count", 3);
  gpu::Recording recording;
  std::vector<void*> contexts;
  for (const int device : {2, 0, 2, 1}) {
    contexts.push_back(FAKE(fake_context_create)(device));
    gpu::launch("k");
  }
  const std::map<std::string, int64_t> expected{{"0", 1}, {"1", 1}, {"2", 2}};
  CHECK(runs_by_device(recording) == expected);
  CHECK_EQ(gpu::describe(recording.losses()), "");
  end_contexts(contexts);
}

TEST(a_flush_waits_for_every_context_that_is_there) {
  gpu::begin();
  gpu::set("device_count", 2);
  gpu::Recording recording;
  std::vector<void*> contexts{FAKE(fake_context_create)(0), FAKE(fake_context_create)(0),
                              FAKE(fake_context_create)(1)};
  const int64_t before = gpu::counter("cuCtxSynchronize");
  recording.flush();
  CHECK(gpu::counter("cuCtxSynchronize") - before >= 3);
  end_contexts({contexts[1]});
  const int64_t between = gpu::counter("cuCtxSynchronize");
  recording.flush();
  CHECK_EQ(joined(gpu::hub().take_problems()), "");
  CHECK(gpu::counter("cuCtxSynchronize") - between >= 2);
  end_contexts({contexts[0], contexts[2]});
}

TEST(work_in_a_context_older_than_the_session_is_waited_for) {
  gpu::begin();
  void* context = FAKE(fake_context_create)(0);
  gpu::set("hold", 1);
  gpu::launch("before", 10);
  for (int i = 0; i < 2; ++i) {  // the second time it is also older than the subscription
    gpu::Recording recording;
    for (int j = 0; j < 5; ++j) gpu::launch("k", 10);
    CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {5, 50}}}));
    CHECK_EQ(joined(gpu::hub().take_problems()), "");
  }
  end_contexts({context});
}

TEST(a_context_older_than_the_session_may_be_destroyed_in_it) {
  gpu::begin();
  void* context = FAKE(fake_context_create)(0);
  gpu::Recording recording;
  gpu::launch("k", 10);
  end_contexts({context});
  CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {1, 10}}}));
  CHECK_EQ(joined(gpu::hub().take_problems()), "");
}

TEST(copies_between_devices_are_named_as_such) {
  gpu::begin();
  gpu::set("device_count", 2);
  gpu::Recording recording;
  FAKE(fake_memcpy_peer)(0, 1, 4096, 25, nullptr);
  CHECK_EQ(recording.rows(), (gpu::Rows{{"<memcpy PtoP>", {1, 25}}}));
}

TEST(copies_between_devices_are_asked_for_where_there_are_several) {
  gpu::begin();
  gpu::Recording recording;
  const int64_t kinds = gpu::counter("enabled_kinds");
  recording.set_active(false);
  gpu::set("device_count", 2);
  recording.set_active(true);
  CHECK_EQ(gpu::counter("enabled_kinds"), kinds + 1);
}

TEST(the_devices_are_counted_once_the_program_has_initialised_the_driver) {
  for (const int count : {1, 2}) {
    gpu::begin();
    gpu::set("device_count", count);
    FAKE(fake_set_failure)("cuDeviceGetCount", kNotInitialised, 0, -1);
    gpu::Recording recording;
    const int64_t kinds = gpu::counter("enabled_kinds");
    const int64_t asked = gpu::counter("cuDeviceGetCount");
    FAKE(fake_set_failure)("cuDeviceGetCount", 0, 0, 0);
    void* context = FAKE(fake_context_create)(0);
    CHECK(gpu::eventually([&] { return gpu::counter("cuDeviceGetCount") > asked; }));
    if (count == 1) {
      CHECK(gpu::eventually([&] { return gpu::counter("enabled_kinds") == kinds - 1; }));
    } else {
      FAKE(fake_memcpy_peer)(0, 1, 4096, 25, nullptr);
      CHECK_EQ(recording.rows(), (gpu::Rows{{"<memcpy PtoP>", {1, 25}}}));
      CHECK_EQ(gpu::counter("enabled_kinds"), kinds);
    }
    CHECK_EQ(gpu::counter("cuptiActivityFlushAll"), count == 1 ? 0 : 2);  // no sweep besides
    end_contexts({context});
  }
}

TEST(devices_have_names_and_ids_also_as_parts_of_a_gpu) {
  gpu::begin();
  gpu::set("device_count", 2);
  gpu::set("is_mig", 1);
  const auto devices = proton::list_devices(gpu::hub().library());
  CHECK_EQ(devices.size(), 2u);
  CHECK_EQ(attribute(devices[1], "name"), "Fake GPU MIG 1g.18gb");
  CHECK_EQ(attribute(devices[1], "uuid"), "00000000-0000-0000-0000-000000000001");
}

TEST(contexts_may_be_destroyed_before_the_session_ends) {
  gpu::begin();
  gpu::Recording recording;
  void* context = FAKE(fake_context_create)(0);
  gpu::launch("k", 10);
  FAKE(fake_context_destroy)(context);
  FAKE(fake_clear)();
  CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {1, 10}}}));
  CHECK_EQ(joined(gpu::hub().take_problems()), "");
}

TEST(a_program_may_reset_the_device_and_go_on) {
  gpu::begin();
  gpu::Recording recording;
  for (int i = 0; i < 3; ++i) {
    gpu::launch("k", 10);
    FAKE(fake_device_reset)(0);
    FAKE(fake_clear)();  // the thread has no context: the next launch makes one
  }
  gpu::launch("k", 10);
  CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {4, 40}}}));
  CHECK_EQ(gpu::describe(recording.losses()), "");
  CHECK_EQ(joined(gpu::hub().take_problems()), "");
}

TEST(a_device_that_fails_is_said_and_what_had_ended_is_kept) {
  for (const int code : {kDeviceUnavailable, kEccUncorrectable, kLaunchFailed}) {
    gpu::begin();
    gpu::Recording recording;
    gpu::launch("k", 10);
    FAKE(fake_set_failure)("cuLaunchKernel", code, 0, -1);
    FAKE(fake_set_failure)("cuCtxSynchronize", code, 0, -1);
    CHECK_EQ(gpu::launch("lost"), 0u);
    CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {1, 10}}}));
    const std::string said = joined(gpu::hub().take_problems());
    CHECK_HAS(said, "device 0: cuCtxSynchronize failed with ");
    CHECK_HAS(said, "(error " + std::to_string(code) + ")");
    CHECK_HAS(said, "nvidia-smi");
    CHECK_EQ(joined(gpu::hub().take_problems()), "");
  }
}

TEST(devices_that_cannot_be_counted_any_more_end_nothing) {
  gpu::begin();
  gpu::Recording recording;
  gpu::launch("k", 10);
  FAKE(fake_set_failure)("cuDeviceGetCount", kDeviceUnavailable, 0, -1);
  CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {1, 10}}}));
}

TEST(a_flush_in_vain_says_what_it_waited_for) {
  gpu::begin();
  gpu::Recording recording;
  gpu::launch("k");
  gpu::set("flush_delay_ns", gpu::kSecond / 5);
  CHECK(!recording.flush(gpu::kSecond / 20));
  CHECK_HAS(joined(gpu::hub().take_problems()), "waited 50 ms for CUPTI to hand over its events");
  gpu::set("flush_delay_ns", 0);
  CHECK(recording.flush());
}

TEST(a_flush_that_cupti_refuses_is_said) {
  gpu::begin();
  gpu::Recording recording;
  FAKE(fake_set_failure)("cuptiActivityFlushAll", 999, 0, 2);
  recording.flush();
  CHECK_HAS(joined(gpu::hub().take_problems()), "cuptiActivityFlushAll failed with");
}

TEST(a_session_that_cannot_see_launches_is_refused) {
  gpu::begin();
  FAKE(fake_set_failure)("cuptiEnableCallback", 2, 2, -1);  // those of contexts are granted
  try {
    gpu::Recording recording;
    CHECK(false);
  } catch (const proton::BackendError& error) {
    CHECK_HAS(error.what(), "cuptiEnableCallback failed with");
  }
  CHECK_EQ(gpu::counter("is_subscribed"), 0);
}
