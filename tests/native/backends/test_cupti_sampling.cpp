// Samples of instructions: every count reaches the sessions that asked for it, once, whatever comes
// and goes meanwhile; what is lost is counted.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "check.h"
#include "cubin/module_store.h"
#include "sampling.h"

using gpu::SampledSession;
using gpu::SamplingOptions;
using gpu::SeenMap;

namespace {

void expect_no_violation() { CHECK_EQ(std::string(FAKE(fake_violations)()), ""); }

void expect_nothing_left() {
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 0);
  expect_no_violation();
}

}  // namespace

TEST(samples_of_launches_reach_the_session_with_exact_counts) {
  gpu::begin_sampling();
  FAKE(fake_sample)("k", 16, "long_scoreboard", 5, 3);
  FAKE(fake_sample)("k", 32, "selected", 2, 0);
  FAKE(fake_sample)("other", 16, "wait", 1, 1);
  SampledSession session;
  for (int i = 0; i < 100; ++i) gpu::launch("k");
  for (int i = 0; i < 7; ++i) gpu::launch("other");
  gpu::launch("unsampled");
  CHECK(session.flush());
  const SeenMap expected{
      {"k+16 long_scoreboard", {500, 300}}, {"k+32 selected", {200, 0}}, {"other+16 wait", {7, 7}}};
  CHECK_EQ(session.sink.seen(), expected);
  CHECK_EQ(gpu::describe(session.sink.losses()), "");
  CHECK_EQ(session.sink.event_count(), 108u);
  const auto stats = gpu::hub().stats().sampling;
  CHECK_EQ(stats.contexts, 1u);
  session.close();
  expect_nothing_left();
}

TEST(samples_of_our_own_kernels_are_counted_beside_the_programs) {
  gpu::begin_sampling();
  FAKE(fake_sample)("k", 16, "wait", 5, 0);
  FAKE(fake_sample)("proton_count_replay", 16, "wait", 3, 0);
  SampledSession session;
  gpu::launch("k");
  for (int i = 0; i < 4; ++i) gpu::launch("proton_count_replay");
  CHECK(session.flush());
  const SeenMap expected{{"k+16 wait", {5, 0}}};
  CHECK_EQ(session.sink.seen(), expected);
  CHECK_EQ(session.sink.losses().size(), 1u);
  CHECK_EQ(session.sink.losses().at("non_user_samples"), 12u);
  CHECK_EQ(session.sink.event_count(), 1u);
  session.close();
  expect_nothing_left();
}

TEST(samples_that_come_late_arrive_with_a_flush_that_waits) {
  gpu::begin_sampling();
  gpu::set("late_samples", 1);
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  SampledSession session(SamplingOptions{.drain_ns = 1'000'000});
  for (int i = 0; i < 10; ++i) gpu::launch("k");
  gpu::hub().flush(gpu::kSecond, false);
  CHECK_EQ(session.sink.total(), 0u);
  CHECK(session.flush());
  CHECK_EQ(session.sink.total(), 10u);
  for (int i = 0; i < 10; ++i) gpu::launch("k");
  session.close();  // the last ones come with the end
  CHECK_EQ(session.sink.total(), 20u);
  expect_nothing_left();
}

TEST(the_worker_reads_while_the_program_runs) {
  gpu::begin_sampling();
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  SampledSession session(SamplingOptions{.drain_ns = 1'000'000});
  gpu::launch("k");
  CHECK(gpu::eventually([&] { return session.sink.total() == 1; }));
  gpu::launch("k");
  CHECK(gpu::eventually([&] { return session.sink.total() == 2; }));
  expect_no_violation();
}

TEST(more_instructions_than_a_buffer_holds_are_read_in_turns) {
  gpu::begin_sampling();
  for (int i = 0; i < 40'000; ++i) FAKE(fake_sample)("k", 16 * i, "wait", 1, 0);
  SampledSession session;
  gpu::launch("k");
  CHECK(session.flush());
  CHECK_EQ(session.sink.total(), 40'000u);
  CHECK_EQ(session.sink.seen().size(), 40'000u);
}

TEST(period_and_kernels_of_graphs_are_as_asked) {
  gpu::begin_sampling();
  FAKE(fake_sample)("node", 0, "barrier", 3, 0);
  SampledSession session(SamplingOptions{.period_exponent = 11});
  void* const graph = FAKE(fake_graph_create)();
  FAKE(fake_graph_add_kernel)(graph, FAKE(fake_function)("node", 10));
  FAKE(fake_graph_add_kernel)(graph, FAKE(fake_function)("node", 10));
  void* const exec = FAKE(fake_graph_instantiate)(graph);
  for (int i = 0; i < 5; ++i) FAKE(fake_graph_launch)(exec, nullptr);
  CHECK(session.flush());
  CHECK_EQ(session.sink.total(), 30u);
  void* context = nullptr;
  fake::find<int (*)(void**)>("cuCtxGetCurrent")(&context);
  CHECK_EQ(FAKE(fake_sampling_period)(context), 11u);
}

TEST(contexts_that_come_and_go_are_sampled_from_first_to_last) {
  gpu::begin_sampling();
  gpu::set("device_count", 2);
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  gpu::launch("k");  // nobody samples yet
  SampledSession session;
  gpu::launch("k");
  void* const first = FAKE(fake_context_create)(1);
  gpu::launch("k");
  gpu::launch("k");
  CHECK_EQ(FAKE(fake_sampled_contexts)(1), 2);
  FAKE(fake_context_destroy)(first);
  CHECK_EQ(FAKE(fake_sampled_contexts)(1), 1);
  CHECK_EQ(session.sink.devices().at(1), 2u);  // read before it was gone
  FAKE(fake_clear)();
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  FAKE(fake_device_reset)(0);
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 0);
  gpu::launch("k");  // a new context of device 0
  CHECK(session.flush());
  CHECK_EQ(session.sink.devices().at(0), 2u);
  CHECK_EQ(gpu::describe(session.sink.losses()), "");
  session.close();
  expect_nothing_left();
}

TEST(a_context_that_nobody_was_told_of_is_sampled_from_its_first_launch_on) {
  gpu::begin_sampling();
  void* const context = FAKE(fake_context_create)(0);  // before anybody subscribed
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  SampledSession session;
  gpu::launch("k");
  CHECK(gpu::eventually([&] {
    gpu::launch("k");
    return gpu::hub().stats().sampling.contexts == 2;
  }));
  for (int i = 0; i < 10; ++i) gpu::launch("k");
  CHECK(session.flush());
  CHECK(session.sink.total() >= 10);
  FAKE(fake_context_destroy)(context);
  CHECK_EQ(gpu::hub().stats().sampling.contexts, 1u);
  session.close();
  expect_nothing_left();
}

TEST(modules_are_read_before_they_are_unloaded_and_their_cubins_kept) {
  gpu::begin_sampling();
  gpu::set("late_samples", 1);
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  SampledSession session;
  std::map<uint64_t, uint64_t> expected;
  for (int i = 0; i < 10; ++i) {
    const std::string cubin = "cubin number " + std::to_string(i);
    void* const module = FAKE(fake_module_load)(cubin.data(), cubin.size());
    const uint64_t crc = FAKE(fake_cubin_crc)(cubin.data(), cubin.size());
    FAKE(fake_launch_many)(FAKE(fake_module_function)(module, "k", 5), i + 1, nullptr);
    FAKE(fake_module_unload)(module);
    expected[crc] = static_cast<uint64_t>(i + 1);
    CHECK(!proton::cubin::ModuleStore::get().add(crc, cubin));  // it is there
  }
  CHECK_EQ(session.sink.modules() == expected, true);
  expect_no_violation();
}

TEST(a_cubin_can_be_given_later) {
  gpu::begin_sampling();
  const std::string cubin = "loaded before anybody looked";
  const size_t before = proton::cubin::ModuleStore::get().size();
  gpu::hub().sampled_sinks().add_cubin(cubin, "");
  gpu::hub().sampled_sinks().add_cubin(cubin, "its ptx");
  CHECK_EQ(proton::cubin::ModuleStore::get().size(), before + 1);
  CHECK(!proton::cubin::ModuleStore::get().add(FAKE(fake_cubin_crc)(cubin.data(), cubin.size()),
                                               cubin, "its ptx"));
  CHECK_THROWS(gpu::hub().sampled_sinks().add_cubin("", ""), proton::BackendError);
}

TEST(windows_open_and_close_and_only_they_see_samples) {
  gpu::begin_sampling();
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  SampledSession session(SamplingOptions{.window_ns = 2'000'000, .every_ns = 10'000'000});
  CHECK(gpu::eventually([] { return gpu::hub().stats().sampling.windows >= 4; }));
  CHECK(gpu::eventually([] { return FAKE(fake_sampled_contexts)(1) == 0; }));
  CHECK(gpu::eventually([] { return FAKE(fake_sampled_contexts)(1) == 1; }));
  uint64_t launched = 0;
  CHECK(gpu::eventually([&] {
    gpu::launch("k");
    ++launched;
    return session.sink.total() >= 3;
  }));
  session.close();
  CHECK(session.sink.total() >= 3);
  CHECK(session.sink.total() < launched);
  expect_nothing_left();
}

TEST(a_closed_window_is_armed_and_takes_nothing) {
  gpu::begin_sampling();
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  SampledSession session(SamplingOptions{.window_ns = 1'000'000, .every_ns = 3600 * gpu::kSecond});
  CHECK(gpu::eventually([] { return FAKE(fake_sampled_contexts)(1) == 0; }));
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 1);
  const uint64_t before = session.sink.total();
  for (int i = 0; i < 100; ++i) gpu::launch("k");
  void* const context = FAKE(fake_context_create)(0);  // armed as the others are
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 2);
  CHECK_EQ(FAKE(fake_sampled_contexts)(1), 0);
  CHECK(session.flush());
  CHECK_EQ(session.sink.total(), before);
  FAKE(fake_context_destroy)(context);
  session.close();
  expect_nothing_left();
}

TEST(what_the_hardware_loses_is_counted_and_sampling_goes_on) {
  gpu::begin_sampling();
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  SampledSession session;
  gpu::set("hardware_samples", 10);
  for (int i = 0; i < 25; ++i) gpu::launch("k");
  gpu::set("hardware_samples", 0);
  CHECK(session.flush());
  CHECK_EQ(session.sink.total(), 10u);
  CHECK_EQ(session.sink.losses().at("dropped_samples"), 15u);
  CHECK_EQ(session.sink.losses().at("sample_buffer_overflow"), 1u);
  gpu::set("drop_samples", 4);
  gpu::set("non_user_samples", 2);
  for (int i = 0; i < 10; ++i) gpu::launch("k");
  CHECK(session.flush());
  CHECK_EQ(session.sink.total(), 16u);
  CHECK_EQ(session.sink.losses().at("dropped_samples"), 19u);
  CHECK_EQ(session.sink.losses().at("non_user_samples"), 20u);
  const auto stats = gpu::hub().stats().sampling;
  CHECK(stats.overflows >= 1);
}

TEST(a_full_buffer_is_started_again_without_being_asked) {
  gpu::begin_sampling();
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  SampledSession session(SamplingOptions{.drain_ns = 1'000'000});
  gpu::set("hardware_samples", 5);
  for (int i = 0; i < 8; ++i) gpu::launch("k");
  CHECK(gpu::eventually([&] { return session.sink.losses().contains("sample_buffer_overflow"); }));
  CHECK(gpu::eventually([&] {
    gpu::launch("k");
    return session.sink.total() > 5;
  }));
  expect_no_violation();
}

TEST(a_session_without_sampling_gets_no_samples_and_disturbs_none) {
  gpu::begin_sampling();
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  SampledSession plain(std::nullopt);
  gpu::launch("k");
  CHECK_EQ(FAKE(fake_counter)("cuptiPCSamplingEnable"), 0);
  {
    SampledSession sampled;
    for (int i = 0; i < 5; ++i) gpu::launch("k");
    CHECK(sampled.flush());
    sampled.close();
    CHECK_EQ(sampled.sink.total(), 5u);
    CHECK_EQ(sampled.sink.event_count(), 5u);
  }
  gpu::launch("k");
  CHECK(plain.flush());
  CHECK_EQ(plain.sink.total(), 0u);
  CHECK_EQ(plain.sink.event_count(), 7u);
  plain.close();
  expect_nothing_left();
}

TEST(of_two_sessions_each_gets_the_samples_of_its_own_time) {
  gpu::begin_sampling();
  gpu::set("late_samples", 1);
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  SampledSession first;
  gpu::launch("k");
  SampledSession second(SamplingOptions{.period_exponent = 20});
  CHECK_EQ(second.warnings.size(), 1u);
  if (!second.warnings.empty()) CHECK_HAS(second.warnings[0], "other options");
  gpu::launch("k");
  gpu::launch("k");
  first.close();
  gpu::launch("k");
  second.close();
  CHECK_EQ(first.sink.total(), 3u);
  CHECK_EQ(second.sink.total(), 3u);
  expect_nothing_left();
}

TEST(a_paused_session_is_not_sampled) {
  gpu::begin_sampling();
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  SampledSession session;
  gpu::launch("k");
  gpu::hub().set_active(session.sink, false);
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 0);
  gpu::launch("k");
  gpu::hub().set_active(session.sink, true);
  gpu::launch("k");
  session.close();
  CHECK_EQ(session.sink.total(), 2u);
  expect_nothing_left();
}

TEST(code_that_first_runs_in_a_pause_is_sampled_after_it) {
  gpu::begin_sampling();
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  SampledSession session;
  gpu::hub().set_active(session.sink, false);
  for (int i = 0; i < 5; ++i) gpu::launch("k");
  gpu::hub().set_active(session.sink, true);
  gpu::launch("k");
  CHECK(session.flush());
  session.close();
  CHECK_EQ(session.sink.total(), 1u);
  CHECK_EQ(session.sink.event_count(), 1u);
  CHECK_EQ(gpu::describe(session.sink.losses()), "");
  expect_nothing_left();
}

TEST(code_that_first_runs_between_sessions_is_sampled_by_the_next_also_while_a_graph_lives) {
  gpu::begin_sampling();
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  void* graph = nullptr;
  {
    SampledSession session;
    graph = FAKE(fake_graph_create)();
    FAKE(fake_graph_add_kernel)(graph, FAKE(fake_function)("node", 10));
  }
  gpu::launch("k");
  SampledSession session;
  gpu::launch("k");
  FAKE(fake_graph_destroy)(graph);
  CHECK(session.flush());
  CHECK_EQ(session.sink.total(), 1u);
  CHECK_EQ(gpu::describe(session.sink.losses()), "");
  session.close();
  expect_nothing_left();
}

TEST(a_forked_child_calls_nothing_and_can_end) {
  gpu::begin_sampling();
  FAKE(fake_sample)("k", 0, "wait", 1, 0);
  SampledSession session(SamplingOptions{.drain_ns = 1'000'000});
  gpu::launch("k");
  const pid_t child = fork();
  if (child == 0) {
    gpu::hub().abandon();
    gpu::hub().set_active(session.sink, false);
    gpu::hub().flush(gpu::kSecond, true);
    gpu::hub().stop(session.sink);
    const bool is_refused = !gpu::hub().check_sampling().empty();
    _exit(is_refused && gpu::counter("violations") == 0 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK_EQ(status, 0);
  gpu::launch("k");
  CHECK(session.flush());
  CHECK_EQ(session.sink.total(), 2u);
}
