// The parts of a session, each alone: losses, the host side, the device side.
#include <thread>
#include <vector>

#include "check.h"
#include "host.h"
#include "model/losses.h"
#include "session/booking/device_booking.h"
#include "session/scopes/host_booking.h"
#include "session/scopes/loss_log.h"

using namespace proton;

namespace {

/// A booking on devices with what it needs.
struct Device {
  explicit Device(DataKind data) : booking(ContextKind::kShadow, data, losses) {}

  std::shared_ptr<const DevicePhase> phase(int number) const {
    return booking.find_phase(number).phase;
  }

  LossLog losses;
  DeviceBooking booking;
};

class NoSink : public EventSink {
 public:
  void on_events(std::span<const KernelEvent>) noexcept override {}
  void on_launches(std::span<const LaunchEvent>) noexcept override {}
  void on_values(std::span<const ValueEvent>) noexcept override {}
  void on_samples(const SampleBatch&) noexcept override {}
  void on_dropped(uint64_t) noexcept override {}
  void on_loss(const char*, uint64_t) noexcept override {}
};

/// A booking on the host with what it needs; active.
struct Host {
  explicit Host(DataKind data) : booking(ContextKind::kShadow, data, sink, losses, use_count) {
    host::install();
    booking.activate();
  }
  ~Host() { booking.close(); }

  LossLog losses;
  NoSink sink;
  std::atomic<uint64_t> use_count{0};
  HostBooking booking;
};

}  // namespace

TEST(losses_are_counted_by_any_thread) {
  LossLog losses;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 500; ++n) losses.count(losses::kDropped);
      losses.warn("slow");
    });
  }
  for (std::thread& thread : threads) thread.join();
  losses.count_refused(Booking::kBooked);
  losses.count_refused(Booking::kOverflow);
  losses.count_refused(Booking::kLengthClash);
  CHECK_EQ(losses.counts().at(losses::kDropped), 2000u);
  CHECK_EQ(losses.counts().at(losses::kMetricOverflow), 1u);
  CHECK_EQ(losses.counts().at(losses::kMetricConflict), 1u);
  CHECK(losses.warnings() == std::vector<std::string>({"slow (4 times)"}));
}

TEST(the_host_side_keeps_paths_by_phase) {
  std::lock_guard lock(host::gil());
  Host on(DataKind::kTree);
  host::enter("a");
  host::leave();
  host::enter("a");  // known by now
  host::leave();
  const auto first = on.booking.find_phase(0);
  CHECK_EQ(first->seen.size(), 1u);
  CHECK_EQ(on.booking.advance_phase(), 1);
  CHECK(on.booking.find_phase(1)->is_empty());
  host::enter("a");
  host::leave();
  CHECK_EQ(on.booking.find_phase(1)->seen.size(), 1u);
  on.booking.clear_phase(0);
  CHECK(!on.booking.has_phase(0));
  CHECK_EQ(first->seen.size(), 1u);  // a snapshot under way still has it
}

TEST(clearing_the_current_phase_changes_its_count) {
  std::lock_guard lock(host::gil());
  Host on(DataKind::kTree);
  host::enter("a");
  host::leave();
  const uint64_t before = on.booking.find_phase(0)->change_count();
  on.booking.clear_phase(0);
  CHECK(on.booking.find_phase(0)->change_count() > before);
  CHECK(on.booking.is_empty());
}

TEST(open_scopes_are_spans_that_end_now) {
  std::lock_guard lock(host::gil());
  Host on(DataKind::kTrace);
  host::enter("a");
  const auto open = on.booking.open_spans();
  CHECK_EQ(open.size(), 1u);
  CHECK(open.front().start_ns <= open.front().end_ns);
  CHECK_EQ(on.booking.find_phase(0)->spans.size(), 0u);
  on.booking.deactivate();  // cuts it
  CHECK_EQ(on.booking.find_phase(0)->spans.size(), 1u);
  host::leave();
}

TEST(metrics_of_an_open_scope_wait_where_replays_count) {
  std::lock_guard lock(host::gil());
  Host on(DataKind::kTree);
  on.booking.count_replays(true);
  ScopeEntry& entry = host::enter("a");
  SampleList metrics;
  metrics.add(process.metric_names.intern("loss"), 1.5);
  record_metrics(host::thread(), entry, metrics);
  const auto phase = on.booking.find_phase(0);
  CHECK(phase->scope_metrics.empty());
  CHECK_EQ(on.booking.metrics_of(*phase).size(), 1u);
  host::leave();
  CHECK_EQ(phase->scope_metrics.cells().size(), 1u);
}

TEST(the_device_side_adds_up_by_place_and_kernel) {
  Device on(DataKind::kTree);
  const KernelEvent events[] = {host::kernel(kRootPath, 10), host::kernel(kRootPath, 30)};
  on.booking.on_events(events);
  CHECK_EQ(on.booking.event_count(), 2u);
  CHECK_EQ(on.phase(0)->kernels.size(), 1u);
  CHECK_EQ(on.phase(0)->kernels[0].time_ns, 40);
  CHECK_EQ(on.booking.read([](const DeviceTables& tables) { return tables.kernels.all().size(); }),
           1u);
}

TEST(an_event_that_ends_before_it_began_is_counted) {
  Device on(DataKind::kTree);
  const KernelEvent event = host::kernel(kRootPath, -5);
  on.booking.on_events({&event, 1});
  CHECK_EQ(on.losses.counts().at(losses::kBadTime), 1u);
  CHECK_EQ(on.phase(0)->kernels[0].time_ns, 0);
}

TEST(a_cleared_device_phase_lives_on_for_who_holds_it) {
  Device on(DataKind::kTrace);
  const KernelEvent event = host::kernel();
  on.booking.on_events({&event, 1});
  const auto held = on.phase(0);
  const uint64_t before = on.booking.change_count(0);
  on.booking.clear_phase(0, {});
  CHECK(on.booking.change_count(0) >= before);
  CHECK(on.phase(0)->is_empty());
  CHECK_EQ(held->kernel_spans.size(), 1u);
  on.booking.begin_phase(1);
  on.booking.clear_phase(0, {});
  CHECK(on.phase(0) == nullptr);
  CHECK_EQ(on.booking.find_phase(0).current, 1);
}

TEST(rows_are_copied_while_others_are_added) {
  Device on(DataKind::kTrace);
  std::atomic<bool> is_done{false};
  std::thread driver([&] {
    const KernelEvent event = host::kernel();
    for (int i = 0; i < 20'000; ++i) on.booking.on_events({&event, 1});
    is_done = true;
  });
  size_t last = 0;
  while (!is_done) {
    std::vector<KernelSpan> copied;
    on.booking.copy_rows(on.phase(0)->kernel_spans, copied);
    CHECK(copied.size() >= last);
    last = copied.size();
  }
  driver.join();
  std::vector<KernelSpan> copied;
  on.booking.copy_rows(on.phase(0)->kernel_spans, copied);
  CHECK_EQ(copied.size(), 20'000u);
}
