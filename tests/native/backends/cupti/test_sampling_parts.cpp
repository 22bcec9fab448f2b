// What samples instructions, part by part and without a hub: the gate, the contexts, the sessions.
#include <atomic>
#include <memory>
#include <thread>

#include "backends/cupti/sampling/sampled_sinks.h"
#include "base/error.h"
#include "check.h"
#include "cubin/module_store.h"
#include "model/losses.h"
#include "parts.h"

using namespace parts;

namespace {

constexpr int64_t kPatientNs = 60'000'000'000;
constexpr int64_t kShortNs = 1'000'000;

/// A thread that is inside a launch, from its making until it is told to leave.
class Launching {
 public:
  explicit Launching(SamplingGate& gate)
      : thread_([this, &gate] {
          gate.enter(*find_cell());
          state_ = gate.is_inside() ? 2 : 1;
          state_.notify_all();
          may_leave_.wait(false);
          SamplingGate::leave(*find_cell());
        }) {}
  ~Launching() { leave(); }
  /// Waits until it is inside; whether the gate agrees.
  bool is_inside() {
    state_.wait(0);
    return state_ == 2;
  }
  void leave() {
    if (!thread_.joinable()) return;
    may_leave_ = true;
    may_leave_.notify_all();
    thread_.join();
  }

 private:
  std::atomic<int> state_{0};
  std::atomic<bool> may_leave_{false};
  std::thread thread_;
};

Context current_context(const Library& library) {
  Context context = nullptr;
  library.current_context(&context);
  return context;
}

struct ContextsAlone {
  ContextsAlone() {
    base.start(sink, kNeedsSamples);
    gate.begin();
    FAKE(fake_sample)("k", 16, "wait", 3, 1);
  }
  ~ContextsAlone() { sampled.end_all(); }
  void add() {
    CHECK(sampled.switch_behind_gate([&] { sampled.add(context); }));
  }

  Base base{fake_driver()};
  Context context = current_context(base.library);
  Sink sink;
  SamplingGate gate;
  SamplingReport report{base.sinks};
  SamplingLimits limits{.inside_ns = kShortNs, .grace_ns = kShortNs};
  SampledContexts sampled{base.library, gate, report, limits};
};

/// The sampler's worker ends with the process, and so does what it works on.
Base& lasting_base() {
  static std::vector<std::unique_ptr<Base>>& all = *new std::vector<std::unique_ptr<Base>>;
  return *all.emplace_back(std::make_unique<Base>(fake_driver()));
}

/// Sessions that sample, with a subscription that is only loaded.
struct SinksAlone {
  SinksAlone() {
    FAKE(fake_clear)();
    subscription.load(fake::library_path(), fake::library_path());
    base.sampler.set_limits({.grace_ns = kShortNs});
    FAKE(fake_sample)("k", 16, "wait", 3, 1);
  }
  ~SinksAlone() { base.sampler.close(); }
  /// As the hub does: it counts as active, then it is sampled for.
  std::vector<std::string> start(Sink& sink, const SamplingOptions& options = {}) {
    sampled.add(sink, options);
    sampled.hand_over(sink, true);
    base.start(sink, kNeedsSamples);
    std::vector<std::string> warnings;
    sampled.open(sink, warnings);
    return warnings;
  }
  void stop(Sink& sink) {
    sampled.hand_over(sink, false);
    base.sinks.deactivate(sink);
    sampled.remove(sink);
  }

  BufferPool buffers;
  Base& base = lasting_base();
  Subscription subscription{{[](void*, int, uint32_t, const void*) {}, nullptr, nullptr, nullptr},
                            buffers};
  SampledSinks sampled{subscription, base.sampler, base.sinks};
};

}  // namespace

TEST(a_gate_closes_when_nobody_is_inside_and_opens_again_where_somebody_stays) {
  SamplingGate gate;
  Launching launching(gate);
  CHECK(launching.is_inside());
  CHECK(!gate.close(kShortNs));
  Launching passing(gate);  // it is open again
  CHECK(passing.is_inside());
  passing.leave();
  launching.leave();
  CHECK(gate.close(kPatientNs));
  gate.open();
}

TEST(threads_wait_before_a_closed_gate_but_not_the_one_that_closed_it) {
  SamplingGate gate;
  CHECK(gate.close(kPatientNs));
  gate.enter(*find_cell());  // CUPTI launches kernels of its own
  SamplingGate::leave(*find_cell());
  std::atomic<bool> is_open{false}, was_open{false};
  std::thread waiting([&] {
    gate.enter(*find_cell());
    was_open = is_open.load();
    SamplingGate::leave(*find_cell());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it may come to the gate
  is_open = true;
  gate.open();
  waiting.join();
  CHECK(was_open);
  CHECK(!gate.has_hung());
}

TEST(launches_from_before_the_gate_was_watched_hold_nobody_up) {
  SamplingGate gate;
  Launching launching(gate);
  CHECK(launching.is_inside());
  gate.begin();
  CHECK(gate.close(kShortNs));
  gate.open();
}

TEST(a_call_that_does_not_come_back_is_given_up_and_named) {
  SamplingGate gate;
  gate.set_limit(kShortNs);
  gate.give_up_if_late();
  CHECK(!gate.has_hung());  // it is open
  CHECK(gate.close(kPatientNs));
  gate.set_call("cuptiPCSamplingStart");
  Launching launching(gate);
  CHECK(launching.is_inside());
  CHECK(gate.has_hung());
  CHECK_EQ(gate.hung(), "cuptiPCSamplingStart did not come back within 1 ms");
  gate.open();
}

TEST(a_context_is_sampled_from_its_start_and_left_as_it_was) {
  ContextsAlone alone;
  alone.add();
  CHECK(alone.sampled.has(alone.context));
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 1);
  CHECK_EQ(FAKE(fake_sampled_contexts)(1), 0);  // not running
  alone.sampled.set_running(true);
  CHECK(alone.sampled.switch_behind_gate([&] { alone.sampled.start_all(); }));
  CHECK_EQ(FAKE(fake_sampled_contexts)(1), 1);
  FAKE(fake_launch)("k", 1000, nullptr);
  CHECK(alone.sampled.read_whole());
  CHECK_EQ(alone.sink.samples, 3u);
  CHECK_EQ(alone.report.stats().samples, 3u);
  CHECK_EQ(alone.report.stats().contexts, 1u);
  CHECK_EQ(FAKE(fake_sampled_contexts)(1), 1);  // it goes on
  FAKE(fake_launch)("k", 1000, nullptr);
  alone.sampled.end_all();
  CHECK_EQ(alone.sink.samples, 6u);  // nothing is left behind
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 0);
  CHECK(alone.sampled.is_empty());
  CHECK(alone.sink.losses.empty());
  CHECK_EQ(FAKE(fake_counter)("violations"), 0);
}

TEST(options_are_those_of_the_context_when_it_is_added) {
  ContextsAlone alone;
  alone.sampled.set_options({.period_exponent = 9});
  alone.sampled.set_running(true);
  alone.add();
  CHECK_EQ(FAKE(fake_sampling_period)(alone.context), 9u);
  CHECK_EQ(FAKE(fake_sampled_contexts)(1), 1);  // it was to run
}

TEST(a_context_that_cannot_be_started_is_not_sampled_at_all) {
  ContextsAlone alone;
  alone.sampled.set_running(true);
  FAKE(fake_set_failure)("cuptiPCSamplingStart", 999, 0, 1);
  CHECK_THROWS(alone.sampled.switch_behind_gate([&] { alone.sampled.add(alone.context); }),
               BackendError);
  CHECK_EQ(FAKE(fake_sampled_contexts)(0), 0);
  CHECK(alone.sampled.is_empty());
  Launching launching(alone.gate);  // the gate is open
  CHECK(launching.is_inside());
}

TEST(a_switch_is_put_off_while_a_launch_is_under_way) {
  ContextsAlone alone;
  Launching launching(alone.gate);
  CHECK(launching.is_inside());
  bool was_called = false;
  CHECK(!alone.sampled.switch_behind_gate([&] { was_called = true; }));
  CHECK(!was_called);
  CHECK_EQ(alone.report.stats().put_off, 1u);
  CHECK(!SampledContexts::is_calling());
  launching.leave();
  CHECK(alone.sampled.switch_behind_gate([&] { was_called = SampledContexts::is_calling(); }));
  CHECK(was_called);
  CHECK_EQ(alone.report.stats().switches, 1u);
}

TEST(a_buffer_of_the_hardware_that_was_full_is_a_loss_and_sampling_goes_on) {
  ContextsAlone alone;
  alone.sampled.set_running(true);
  alone.add();
  FAKE(fake_set_option)("hardware_samples", 3);
  for (int i = 0; i < 3; ++i) FAKE(fake_launch)("k", 1000, nullptr);
  alone.sampled.read_all();
  CHECK(alone.report.stats().overflows > 0);
  CHECK_EQ(alone.sink.losses[losses::kSampleOverflow], alone.report.stats().overflows);
  const uint64_t before = alone.sink.samples;
  FAKE(fake_set_option)("hardware_samples", 0);
  FAKE(fake_launch)("k", 1000, nullptr);
  CHECK(alone.sampled.read_whole());
  CHECK_EQ(alone.sink.samples, before + 3);
}

TEST(a_context_that_ends_hands_over_its_last_samples) {
  ContextsAlone alone;
  alone.sampled.set_running(true);
  alone.add();
  FAKE(fake_launch)("k", 1000, nullptr);
  CHECK(alone.sampled.end(alone.context));
  CHECK_EQ(alone.sink.samples, 3u);
  CHECK(!alone.sampled.has(alone.context));
  CHECK_EQ(alone.report.stats().contexts, 0u);
  CHECK(alone.sampled.end(alone.context));  // it is not known
}

TEST(problems_are_told_once_and_only_so_many) {
  ContextsAlone alone;
  static int told = 0;
  told = 0;
  alone.report.set_problem_hook([] { ++told; });
  for (int i = 0; i < 100; ++i) alone.report.note_problem("again");
  CHECK_EQ(alone.report.take_problems().size(), 20u);
  CHECK_EQ(told, 20);
  CHECK(alone.report.take_problems().empty());
}

TEST(only_sessions_that_asked_for_samples_have_them_taken) {
  SinksAlone alone;
  Sink other, sink;
  std::vector<std::string> warnings;
  alone.sampled.open(other, warnings);
  CHECK(!alone.base.sampler.is_open());
  CHECK(!alone.subscription.was_sampled());
  alone.start(sink, {.period_exponent = 11});
  CHECK(alone.base.sampler.is_open());
  CHECK(alone.subscription.was_sampled());
  CHECK_EQ(alone.base.sampler.options().period_exponent, 11u);
  alone.stop(sink);
  CHECK(!alone.base.sampler.is_open());
  alone.sampled.open(sink, warnings);  // it has been removed
  CHECK(!alone.base.sampler.is_open());
  CHECK(warnings.empty());
}

TEST(a_second_session_with_other_options_is_warned_and_they_stay) {
  SinksAlone alone;
  Sink first, same, other;
  CHECK(alone.start(first, {.period_exponent = 11}).empty());
  CHECK(alone.start(same, {.period_exponent = 11}).empty());
  const auto warnings = alone.start(other, {.period_exponent = 12});
  CHECK_EQ(warnings.size(), 1u);
  CHECK_HAS(warnings.at(0), "another session samples with other options");
  CHECK_EQ(alone.base.sampler.options().period_exponent, 11u);
  for (Sink* sink : {&first, &same}) alone.stop(*sink);
  CHECK(alone.base.sampler.is_open());  // for the other
  alone.stop(other);
  CHECK(!alone.base.sampler.is_open());
}

TEST(samples_up_to_a_change_are_of_those_that_were_there) {
  SinksAlone alone;
  Sink first, second;
  alone.start(first);
  FAKE(fake_launch)("k", 1000, nullptr);
  alone.start(second);
  FAKE(fake_launch)("k", 1000, nullptr);
  CHECK_EQ(alone.sampled.collect(kPatientNs, true), "");
  CHECK_EQ(first.samples, 6u);
  CHECK_EQ(second.samples, 3u);
  for (Sink* sink : {&first, &second}) alone.stop(*sink);
  CHECK_EQ(alone.sampled.collect(kPatientNs, true), "");  // nobody samples
}

TEST(cubins_are_kept_by_the_number_that_samples_carry) {
  SinksAlone alone;
  auto& store = cubin::ModuleStore::get();
  const size_t before = store.size();
  static const std::string image = "the cubin of a module that tests load";
  ModuleData module{1, image.size(), image.data()};
  alone.sampled.on_module(kModuleLoaded, {nullptr, nullptr, &module});
  CHECK_EQ(store.size(), before + 1);
  alone.sampled.add_cubin(image, "");
  CHECK_EQ(store.size(), before + 1);  // it is the same
  alone.sampled.add_cubin("another cubin of these tests", "");
  CHECK_EQ(store.size(), before + 2);
  Subscription unloaded({nullptr, nullptr, nullptr, nullptr}, alone.buffers);
  SampledSinks none(unloaded, alone.base.sampler, alone.base.sinks);
  CHECK_THROWS(none.add_cubin(image, ""), BackendError);
}
