/// One recording: a sink for events, made of a booking on the host, a booking on devices, losses
/// and facts. It only hands calls on; the parts say what guards them.
///
/// Host path: under the GIL, unless a member says otherwise. Device path: any thread, never waits
/// for the GIL.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/call_tree.h"
#include "model/event_sink.h"
#include "model/recorded_launch.h"
#include "model/trace_log.h"
#include "session/booking/device_booking.h"
#include "session/booking/session_parts.h"
#include "session/scopes/host_booking.h"
#include "session/scopes/loss_log.h"

namespace proton {

struct TraceCursor;

class Session final : public EventSink {
 public:
  Session(int64_t id, ContextKind context, DataKind data);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int64_t id() const { return facts_.id; }
  ContextKind context() const { return host_.context(); }
  DataKind data() const { return host_.data(); }
  bool is_active() const { return host_.is_active(); }
  bool is_closed() const { return host_.is_closed(); }
  void activate() { host_.activate(); }
  void deactivate() { host_.deactivate(); }
  void close() { host_.close(); }
  /// Told when the session becomes active or stops being so; null: nobody.
  void set_activity_listener(std::function<void(bool)> listener) {
    host_.set_activity_listener(std::move(listener));
  }

  /// Whether launch metadata renames kernels and adds metrics.
  bool uses_launch_metadata() const { return device_.uses_launch_metadata(); }
  void use_launch_metadata(bool is_used) { device_.use_launch_metadata(is_used); }
  /// Whether a backend times kernels. Else those that record are booked with their own times.
  bool has_kernel_times() const { return device_.has_kernel_times(); }
  void set_kernel_times(bool are_there) { device_.set_kernel_times(are_there); }
  /// A backend with correlation ids tells the newest one: phases begin after it, and metrics of
  /// captured scopes count for every replay.
  void set_launch_counter(DeviceBooking::NewestLaunch newest) {
    host_.count_replays(newest != nullptr);
    device_.set_launch_counter(newest);
  }
  /// And whether launches after the first id, up to the second, still have no event.
  void set_launch_tracker(DeviceBooking::LaunchesUnderWay tracker) {
    device_.set_launch_tracker(tracker);
  }

  // Phases
  int phase() const { return host_.phase(); }
  bool has_phase(int phase) const { return host_.has_phase(phase); }
  int advance_phase();
  void clear_phase(int phase);
  /// A number that differs whenever the phase holds something else; 0 where there is none.
  uint64_t change_count(int phase) const;
  /// Whether the phase was left and each of its launches has an event, as far as the backend can
  /// tell. Waits for a buffer that is being read: call it without the GIL.
  bool is_settled(int phase) const { return device_.is_complete(phase); }
  uint64_t event_count() const { return device_.event_count(); }
  bool is_empty() const { return host_.is_empty() && device_.is_empty(); }

  /// A finished kernel whose context the caller knows. Metrics that cannot be booked are counted.
  void add_kernel(PathId path, uint32_t thread_number, const KernelEvent& event,
                  const SampleList* launch_metrics, const SampleList* metrics) {
    device_.add_kernel(path, thread_number, event, launch_metrics, metrics);
  }
  /// What an instrumented kernel recorded about itself: rows below it in a tree, spans in a trace.
  /// Any thread.
  void add_recorded(RecordedLaunch launch) { device_.add_regions(std::move(launch)); }

  // Samples of instructions
  /// Says how they are taken. Times are kept by symbol from now on: samples are divided by them.
  void set_sampling(SamplingFacts facts) { device_.set_sampling(std::move(facts)); }
  /// Functions whose code nobody has, as (module, symbol). Reads the code of all others, which may
  /// take a while, and which snapshots then need not do; best without the GIL.
  std::vector<std::pair<uint64_t, std::string>> missing_code(int phase) const;
  /// Source files that samples of a phase lie in, as compilers name them.
  std::vector<std::string> sampled_files(int phase) const;

  // About the recording as a whole
  void add_device(std::string type, std::string id, Value::Map attributes) {
    facts_.add_device(std::move(type), std::move(id), std::move(attributes));
  }
  void add_autotune(Value record) { facts_.add_autotune(std::move(record)); }
  void warn(const std::string& text) { losses_.warn(text); }
  std::vector<std::string> warnings() const { return losses_.warnings(); }
  std::map<std::string, uint64_t> losses() const;
  /// Any thread.
  void count_loss(const std::string& kind, uint64_t count = 1) noexcept {
    losses_.count(kind, count);
  }

  /// For readers: snapshots are made of these.
  SessionParts parts() const { return {facts_, losses_, host_, device_}; }

  /// One phase as plain data (phase_copy.h: the same with less under the locks); open scopes of a
  /// trace end now. Throws Error: no such phase, or the other kind of data.
  CallTree snapshot_tree(int phase, Value::Map header) const;
  TraceLog snapshot_trace(int phase, Value::Map header) const;
  /// What came since the cursor, at most `limit` events of each kind; moves the cursor.
  TraceLog snapshot_new_trace(int phase, Value::Map header, TraceCursor& cursor,
                              size_t limit) const;

  // Device path
  void on_events(std::span<const KernelEvent> events) noexcept override {
    device_.add_events(events);
  }
  void on_launches(std::span<const LaunchEvent> launches) noexcept override {
    device_.add_launches(launches);
  }
  void on_values(std::span<const ValueEvent> values) noexcept override {
    device_.add_values(values);
  }
  void on_samples(const SampleBatch& batch) noexcept override { device_.add_samples(batch); }
  void on_recorded(const RecordedLaunch& launch) noexcept override { device_.add_recorded(launch); }
  void on_dropped(uint64_t count) noexcept override;
  void on_loss(const char* kind, uint64_t count) noexcept override { losses_.count(kind, count); }

 private:
  LossLog losses_;
  SessionFacts facts_;
  std::atomic<uint64_t> next_stamp_{0};  // orders first uses on the host and on devices together
  HostBooking host_;
  DeviceBooking device_;
};

}  // namespace proton
