/// The device side of a session: kernels, copies, launches, values and samples, by phase. Any
/// thread, with or without the GIL: one mutex guards it all, and nobody waits for the GIL under it.
/// In a tree memory grows with distinct places, never with events.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "model/event_sink.h"
#include "model/losses.h"
#include "session/booking/device_tables.h"
#include "session/booking/phase.h"
#include "session/scopes/captured_metrics.h"
#include "session/scopes/host_booking.h"
#include "session/scopes/loss_log.h"

namespace proton {

class DeviceBooking final : public EventSink {
 public:
  DeviceBooking(ContextKind context, DataKind data, LossLog& losses);

  // Settings
  /// Whether launch metadata renames kernels and adds metrics.
  bool uses_launch_metadata() const { return uses_metadata_.load(std::memory_order_relaxed); }
  void use_launch_metadata(bool is_used) { uses_metadata_.store(is_used); }
  /// Whether a backend times kernels. Else those that record are booked with their own times.
  bool has_kernel_times() const { return has_kernel_times_.load(std::memory_order_relaxed); }
  void set_kernel_times(bool are_there) { has_kernel_times_.store(are_there); }
  /// The newest correlation id of the backend: phases begin after it. Null: it has none. GIL held.
  using NewestLaunch = CorrelationId (*)() noexcept;
  void set_launch_counter(NewestLaunch newest) { newest_launch_ = newest; }
  /// Whether launches after the first id, up to the second, still have no event.
  using LaunchesUnderWay = bool (*)(CorrelationId after, CorrelationId until, bool with_frames);
  void set_launch_tracker(LaunchesUnderWay tracker) { launches_under_way_ = tracker; }
  /// Says how samples are taken. Times are kept by symbol from now on: samples are divided by them.
  void set_sampling(SamplingFacts facts);
  /// Numbers first uses of paths and kernels: the host side counts with it, too.
  std::atomic<uint64_t>& use_count() { return use_count_; }

  // Events
  void on_events(std::span<const KernelEvent> events) noexcept override;
  void on_launches(std::span<const LaunchEvent> launches) noexcept override;
  void on_values(std::span<const ValueEvent> values) noexcept override;
  void on_samples(const SampleBatch& batch) noexcept override;
  void on_recorded(const RecordedLaunch& launch) noexcept override;
  void on_dropped(uint64_t count) noexcept override { losses_.count(losses::kDropped, count); }
  void on_loss(const char* kind, uint64_t count) noexcept override { losses_.count(kind, count); }
  /// What an instrumented kernel recorded, without its time, which is booked elsewhere.
  void add_regions(RecordedLaunch launch);
  /// A finished kernel whose context the caller knows. Metrics that cannot be booked are counted.
  void add_kernel(PathId path, uint32_t thread_number, const KernelEvent& event,
                  const SampleList* launch_metrics, const SampleList* metrics);
  uint64_t event_count() const { return event_count_.load(std::memory_order_relaxed); }

  // Phases
  void begin_phase(int phase);  // the one after the current
  /// A phase, and all before it, take nothing more: what comes for them later is late.
  void seal_phase(int phase) {
    std::lock_guard lock(mutex_);
    phases_.seal(phase);
  }
  /// `on_host` is what the host has of the phase.
  void clear_phase(int phase, const HostPhase& on_host);
  /// A step of the program begins; see StepTimes::begin.
  StepId begin_step(int64_t time_ns, bool is_kept);
  uint64_t change_count(int phase) const;
  /// Whether the phase was left and each of its launches has an event, its values included, as far
  /// as the backend can tell. Waits for a buffer that is being read: call it without the GIL.
  bool is_complete(int phase) const;
  bool is_empty() const;

  // For snapshots
  struct FoundPhase {
    std::shared_ptr<const DevicePhase> phase;  // null: there is none
    int current = 0;
  };
  /// What the phase holds stays readable even if it is cleared.
  FoundPhase find_phase(int phase) const;

  /// Calls `read` with the tables. It may look at a phase, too: the lock is held.
  template <typename Read>
  auto read(Read read) const {
    std::lock_guard lock(mutex_);
    return read(tables_);
  }

  /// Copies the rows of a phase that there are at the first look. Best without the GIL: the lock is
  /// held for a slice of rows at a time. Each row is of one moment.
  template <typename Row>
  void copy_rows(const std::vector<Row>& rows, std::vector<Row>& copied) const;

 private:
  /// A kernel on its way to its row or span.
  struct Booked {
    PlaceId place;
    uint32_t kernel;
    uint32_t row;  // of a tree
    const Op* op = nullptr;
    const SampleList* launch_metrics = nullptr;
    const SampleList* metrics = nullptr;
    bool has_thread = false;
    uint32_t thread_number = 0;
  };

  /// Calls `book` with the mutex held; an exception is counted.
  template <typename Book>
  void book_locked(Book book) noexcept;

  // All with the mutex held
  /// The phase in which a launch was made.
  DevicePhase& phase_of(CorrelationId correlation) {
    return or_current(phases_.of_launch(correlation));
  }
  /// The current phase in place of one that was sealed or cleared, which is counted.
  DevicePhase& or_current(DevicePhase* phase) {
    if (phase != nullptr) [[likely]]
      return *phase;
    losses_.count(losses::kLate);
    return phases_.current();
  }
  PathId path_of_context(ContextId context) const;
  PathId path_of_captured(const CapturedScope& scope) const;
  PlaceId place_of(const KernelEvent& event);
  uint32_t row_of(DevicePhase& phase, PlaceId place, uint32_t kernel);
  void place_event(const KernelEvent& event, bool with_metadata);
  void book(const KernelEvent& event, const Booked& booked, DevicePhase& phase);
  void book_span(const KernelEvent& event, int64_t end_ns, const Booked& booked,
                 DevicePhase& phase);
  void book_more(const KernelEvent& event, int64_t time_ns, const Booked& booked,
                 DevicePhase& phase);
  void book_metrics(DevicePhase& phase, uint32_t row, const SampleList& metrics);
  void book_captured_metrics(const KernelEvent& event, DevicePhase& phase);
  void add_captured_metrics(const KernelEvent& event, DevicePhase& phase, size_t first);
  void book_value(const ValueEvent& event);
  void book_kernel_value(const ValueEvent& event, DevicePhase& phase);
  void book_regions(RecordedLaunch launch, bool with_time);
  Booked locate_recorded(DevicePhase& phase, const KernelEvent& event, bool is_captured);
  void keep_recorded(RecordedLaunch launch, const Booked& booked, DevicePhase& phase);

  bool is_python() const { return context_ == ContextKind::kPython; }

  const ContextKind context_;
  const DataKind data_;
  LossLog& losses_;
  std::atomic<bool> uses_metadata_{false};
  std::atomic<bool> has_kernel_times_{false};
  std::atomic<uint64_t> event_count_{0};
  std::atomic<uint64_t> use_count_{0};
  NewestLaunch newest_launch_ = nullptr;
  LaunchesUnderWay launches_under_way_ = nullptr;

  mutable std::mutex mutex_;  // guards what follows, and the phases
  DeviceTables tables_;
  GraphMetadata graph_metadata_;
  DevicePhases phases_;
  bool books_more_ = false;  // than rows and spans: symbols that are sampled, times of steps
  int64_t cleared_ns_ = 0;   // times of phases that were cleared in a first step
};

template <typename Row>
void DeviceBooking::copy_rows(const std::vector<Row>& rows, std::vector<Row>& copied) const {
  constexpr size_t kSliceRows = 2048;  // a fraction of a millisecond
  // Whoever waits for the mutex gets it in a pause; without one this thread would take it again
  // first.
  constexpr std::chrono::microseconds kPause{1};
  size_t count = 0;
  for (bool is_first = true; is_first || copied.size() < count; is_first = false) {
    if (!is_first) std::this_thread::sleep_for(kPause);
    std::lock_guard lock(mutex_);
    if (is_first) {
      count = rows.size();
      copied.reserve(count);
    }
    const auto from = rows.begin() + static_cast<ptrdiff_t>(copied.size());
    const size_t slice = std::min(kSliceRows, count - copied.size());
    copied.insert(copied.end(), from, from + static_cast<ptrdiff_t>(slice));
  }
}

}  // namespace proton
