// The parts of the hub that talk to CUPTI, put together without the hub: the subscription, what is
// asked for, the reading of records and flushes.
#include "backends/cupti/flusher.h"
#include "backends/cupti/needs.h"
#include "base/error.h"
#include "check.h"
#include "common/sinks.h"
#include "fake_cuda/fake.h"

namespace {

using namespace proton::cupti;
using neutral::KeepingSink;

constexpr int64_t kPatientNs = 60'000'000'000;
constexpr uint32_t kPlainNeeds = proton::kNeedsShadow | proton::kNeedsNodes;

/// Subscribed, with launches in the context 44 and nothing asked for yet.
struct SmallHub {
  SmallHub() {
    FAKE(fake_clear)();
    current = this;
    subscription.load(fake::library_path(), fake::library_path());
    proton::ContextSource source{};
    source.shadow = []() noexcept -> proton::ContextId { return 44; };
    source.epoch = []() noexcept { return 1u; };
    launches.set_source(source);
    launches.table().open(false);
    reader.start_clock(subscription.open());
    launches.table().begin_generation();
  }
  ~SmallHub() {
    subscription.close();
    needs.clear();
  }
  void start(KeepingSink& sink) {
    sinks.add(sink, kPlainNeeds);
    sinks.activate(sink);
    needs.update(sinks.active_needs(), Needs::Change::kActivation, warnings);
    sinks.begin(sink);
  }
  void pause(KeepingSink& sink) {
    sinks.pause(sink, false);
    needs.update(sinks.active_needs(), Needs::Change::kPause, warnings);
  }

  static void on_callback(void* user, int domain, uint32_t cbid, const void* data) {
    if (domain != kDriverDomain) return;
    static_cast<SmallHub*>(user)->launches.on_launch(cbid, *static_cast<const CallbackData*>(data));
  }
  static void on_requested(uint8_t** buffer, size_t* size, size_t* most) {
    *buffer = current->buffers.take(*size);
    *most = 0;
  }
  static void on_buffer(Context context, uint32_t stream, uint8_t* buffer, size_t size,
                        size_t valid) {
    current->reader.on_completed(context, stream, buffer, size, valid);
  }
  static inline SmallHub* current = nullptr;

  std::vector<std::string> warnings;
  BufferPool buffers;
  Subscription subscription{{on_callback, this, on_requested, on_buffer}, buffers};
  const Library& library = subscription.library();
  ContextList contexts{library};
  LaunchRecorder launches{contexts, sampler};
  proton::SinkTable sinks{launches.table()};
  Sampler sampler{library, contexts, sinks};
  SampledSinks sampled_sinks{subscription, sampler, sinks};
  GraphTable graphs{library, launches};
  Needs needs{subscription, launches, graphs, sampler.gate()};
  ValueDispatch values{library, launches.table(), sinks, graphs};
  ActivityReader reader{library, buffers, launches.table(), sinks, graphs, values};
  Flusher flusher{subscription, contexts, launches.table(), sinks, sampled_sinks, values, reader};
};

}  // namespace

TEST(a_subscription_is_refused_beside_another_and_opens_when_that_one_has_closed) {
  FAKE(fake_clear)();
  BufferPool buffers;
  const SubscriberFunctions functions{[](void*, int, uint32_t, const void*) {}, nullptr,
                                      SmallHub::on_requested, SmallHub::on_buffer};
  Subscription first(functions, buffers), second(functions, buffers);
  CHECK_THROWS(first.expect_usable(), proton::BackendError);
  CHECK_HAS(first.check(), "CUPTI is not loaded");
  for (Subscription* each : {&first, &second}) {
    each->load(fake::library_path(), fake::library_path());
    each->expect_usable();
  }
  first.open();
  CHECK(first.is_open() && first.is_attached());
  CHECK_EQ(first.check(), "");
  CHECK_HAS(second.check(), "another tool holds CUPTI");
  CHECK_THROWS(second.open(), proton::BackendError);
  CHECK(!second.is_open());
  first.close();
  CHECK_EQ(second.check(), "");
  second.open();
  second.close();
  CHECK(second.let_go());
  CHECK(!second.is_attached());
  second.abandon();
  CHECK_THROWS(second.expect_usable(), proton::BackendError);
}

TEST(what_sinks_need_is_asked_for_while_they_are_active) {
  SmallHub hub;
  KeepingSink sink;
  CHECK_EQ(hub.launches.captures(), 0u);
  hub.start(sink);
  CHECK((hub.launches.captures() & proton::kNeedsShadow) != 0);
  CHECK((hub.launches.captures() & LaunchRecorder::kRecorded) != 0);
  CHECK((hub.launches.captures() & proton::kNeedsPython) == 0);
  hub.pause(sink);
  CHECK_EQ(hub.launches.captures(), 0u);
  CHECK(hub.warnings.empty());
}

TEST(a_flush_brings_the_records_of_launches_to_the_sink_that_was_active) {
  SmallHub hub;
  KeepingSink sink;
  hub.start(sink);
  FAKE(fake_launch)("wanted", 1000, nullptr);
  hub.pause(sink);
  FAKE(fake_launch)("unwanted", 1000, nullptr);
  CHECK(hub.flusher.flush(kPatientNs, true));
  CHECK_EQ(sink.events.size(), 1u);
  CHECK_EQ(sink.events[0].context, 44u);
  CHECK_EQ(sink.events[0].end_ns - sink.events[0].start_ns, 1000);
  CHECK_EQ(hub.reader.stats().events.kernels, 1u);
  CHECK(sink.losses.empty());
  CHECK(hub.flusher.take_problems().empty());
}

TEST(a_flush_that_takes_too_long_says_what_it_waited_for_and_goes_on) {
  SmallHub hub;
  KeepingSink sink;
  hub.start(sink);
  FAKE(fake_set_option)("flush_delay_ns", 200'000'000);
  FAKE(fake_launch)("held", 1000, nullptr);
  CHECK(!hub.flusher.flush(50'000'000, true));
  const auto problems = hub.flusher.take_problems();
  CHECK_EQ(problems.size(), 1u);
  CHECK_HAS(problems[0], "waited 50 ms for CUPTI to hand over its events");
  FAKE(fake_set_option)("flush_delay_ns", 0);
  CHECK(hub.flusher.flush(kPatientNs, true));
  CHECK_EQ(sink.events.size(), 1u);
}
