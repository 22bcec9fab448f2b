/// One recording: a sink for events, with phases, losses and warnings.
///
/// Host path: every member but those under "device path" is called under the GIL. Device path:
/// any thread, guarded by the session's mutex; it never takes the GIL. In a tree session memory
/// grows with distinct contexts, never with events.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/string_table.h"
#include "model/call_tree.h"
#include "model/event_sink.h"
#include "model/recorded_launch.h"
#include "model/trace_log.h"
#include "session/booking/phase.h"
#include "session/booking/phase_boundaries.h"
#include "session/booking/sampling.h"
#include "session/scopes/captured_metrics.h"
#include "session/scopes/context_stack.h"
#include "session/scopes/launch_contexts.h"
#include "session/scopes/range_thread.h"
#include "session/snapshot/occupancy.h"

namespace proton {

enum class ContextKind : uint8_t { kShadow, kPython };
enum class DataKind : uint8_t { kTree, kTrace };

struct TraceCursor;

class Session : public EventSink {
 public:
  Session(int64_t id, ContextKind context, DataKind data);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int64_t id() const { return id_; }
  ContextKind context() const { return context_; }
  DataKind data() const { return data_; }
  bool is_active() const { return is_active_.load(std::memory_order_relaxed); }
  bool is_closed() const { return is_closed_; }
  /// Whether launch metadata renames kernels and adds metrics.
  bool uses_launch_metadata() const { return uses_metadata_.load(std::memory_order_relaxed); }
  void use_launch_metadata(bool is_used) { uses_metadata_.store(is_used); }

  /// Whether metrics of scopes that were captured into a graph count for every replay of it.
  bool counts_replays() const { return newest_launch_ != nullptr; }

  /// Whether a backend times kernels. Else those that record are booked with their own times.
  bool has_kernel_times() const { return has_kernel_times_.load(std::memory_order_relaxed); }
  void set_kernel_times(bool are_there) { has_kernel_times_.store(are_there); }

  /// A backend with correlation ids tells the newest one: phases begin after it.
  void set_launch_counter(CorrelationId (*newest)() noexcept) { newest_launch_ = newest; }

  /// And whether launches after the first id, up to the second, still have no event.
  using LaunchesUnderWay = bool (*)(CorrelationId after, CorrelationId until, bool with_frames);
  void set_launch_tracker(LaunchesUnderWay tracker) { launches_under_way_ = tracker; }

  /// Told, on the host path, when the session becomes active or stops being so; null: nobody.
  void set_activity_listener(std::function<void(bool)> listener) {
    activity_listener_ = std::move(listener);
  }

  void activate();
  void deactivate();
  void close();
  void abandon() noexcept;  // in a forked child: the session is the parent's

  // Phases
  int phase() const { return current_->number; }
  int advance_phase();
  bool has_phase(int phase) const { return phases_.contains(phase); }
  void clear_phase(int phase);
  /// A number that differs whenever the phase holds something else; 0 where there is none.
  uint64_t change_count(int phase) const;
  /// Whether the phase was left and each of its launches has an event, as far as the backend can
  /// tell. Waits for a buffer that is being read: call it without the GIL.
  bool is_settled(int phase) const;
  uint64_t event_count() const { return event_count_.load(std::memory_order_relaxed); }
  bool is_empty() const;

  // Scopes
  /// Makes `path` a node of the current phase: one load once it is.
  void see(PathId path) {
    if (path >= marks_.size() || marks_[path] != mark_) see_first(path);
  }
  /// A scope was left: its metrics, its time and its span. Throws Error on a metric that changed
  /// its type, after booking the others.
  void book_scope(PathId path, const ScopeEntry& entry, int64_t end_ns, const SampleList& metrics);
  /// Takes back what `book_metrics` was given for a scope that turns out to have been captured.
  SampleList take_metrics(const ScopeEntry& entry);
  /// Metrics of a scope that stays open.
  void book_metrics(PathId path, const ScopeEntry& entry, const SampleList& metrics);

  /// A range or mark of a library, for a session that keeps every event.
  void book_range(const RangeSpan& span);
  /// Payloads and marks of ranges, for a session that adds up.
  void book_range_sum(const RangeSum& sum);

  /// A finished kernel whose context the caller knows. Metrics that cannot be booked are counted.
  void add_kernel(PathId path, uint32_t thread_number, const KernelEvent& event,
                  const SampleList* launch_metrics, const SampleList* metrics);

  /// What an instrumented kernel recorded about itself: rows below it in a tree, spans in a trace.
  /// Any thread.
  void add_recorded(RecordedLaunch launch);

  // Samples of instructions
  /// Says how they are taken. Times are kept by symbol from now on: samples are divided by them.
  void set_sampling(SamplingFacts facts);
  bool is_sampling() const { return sampling_.has_value(); }
  /// Functions whose code nobody has, as (module, symbol). Reads the code of all others, which may
  /// take a while, and which snapshots then need not do; best without the GIL.
  std::vector<std::pair<uint64_t, std::string>> missing_code(int phase) const;
  /// Source files that samples of a phase lie in, as compilers name them.
  std::vector<std::string> sampled_files(int phase) const;

  // About the recording as a whole
  void add_device(std::string type, std::string id, Value::Map attributes);
  void add_autotune(Value record) { autotune_.push_back(std::move(record)); }
  void warn(const std::string& text);
  std::vector<std::string> warnings() const;
  std::map<std::string, uint64_t> losses() const;

  /// One phase as plain data (phase_copy.h: the same with less under the locks); open scopes of a
  /// trace end now. Throws Error: no such phase, or the other kind of data.
  CallTree snapshot_tree(int phase, Value::Map header) const;
  TraceLog snapshot_trace(int phase, Value::Map header) const;
  /// What came since the cursor, at most `limit` events of each kind; moves the cursor.
  TraceLog snapshot_new_trace(int phase, Value::Map header, TraceCursor& cursor,
                              size_t limit) const;

  // Device path
  void on_events(std::span<const KernelEvent> events) noexcept override;
  void on_launches(std::span<const LaunchEvent> launches) noexcept override;
  void on_values(std::span<const ValueEvent> values) noexcept override;
  void on_samples(const SampleBatch& batch) noexcept override;
  void on_recorded(const RecordedLaunch& launch) noexcept override;
  void on_dropped(uint64_t count) noexcept override;
  void on_loss(const char* kind, uint64_t count) noexcept override { count_loss(kind, count); }
  void count_loss(const std::string& kind, uint64_t count = 1) noexcept;

 private:
  struct Kernel {
    NameId name;  // of kernel_names_
    uint32_t device;
    EventKind kind;
  };
  struct DeviceSeen {
    std::string type;
    std::string id;
  };

  void see_first(PathId path);
  void book_samples(PathId path, const SampleList& metrics);
  void settle_metrics();
  [[noreturn]] void refuse(Booking booking, PathId path, MetricId metric, const MetricValue& value);
  void add_span(PathId path, const ScopeEntry& entry, int64_t end_ns, const SampleList& metrics);
  int64_t span_start(const ScopeEntry& entry) const;
  PathId path_of_range(const OpenRange& range) const;
  HostSpan span_of_range(const RangeSpan& span) const;
  void cut_open_spans();
  /// With or without the GIL. Throws Error: no such phase, or the other kind of data.
  std::shared_ptr<const Phase> find_phase(int phase, DataKind data) const;

  // With mutex_ held
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

  /// Metrics given at the entry of a scope that is still open.
  struct EntryMetrics {
    PathId path;
    SampleList metrics;
  };

  /// The phase in which a launch was made.
  Phase& phase_of(CorrelationId correlation) {
    return correlation == 0 || boundaries_.is_latest(correlation) ? *current_
                                                                  : phase_among(correlation);
  }
  Phase& phase_among(CorrelationId correlation);
  Phase& phase_numbered(std::optional<int> number);
  PlaceId captured_place(PathId replay, PathId capture);
  PlaceId unseen_place(PathId replay, uint32_t graph);
  /// Where a kernel of which no more is known is booked.
  Booked locate(const KernelEvent& event, const Op* op, uint32_t op_id);
  /// Where a kernel is booked in a phase; a captured one at its capture, below its replay if
  /// another backend saw one.
  Booked locate_in(Phase& phase, const KernelEvent& event, bool is_captured);
  PlaceId place_of_captured(const Phase& phase, PathId capture, uint32_t kernel);
  void add_recorded(RecordedLaunch launch, bool with_time);
  void book_recorded(const RecordedLaunch& launch, KernelEvent& event, Booked booked, Phase& phase);
  void keep_recorded(RecordedLaunch launch, const Booked& booked, Phase& phase);
  void book_value(const ValueEvent& event);
  void book_kernel_value(const ValueEvent& event);
  void forget_values(const Phase& phase);
  void book_riders(const KernelEvent& event, Phase& phase);
  void add_rider_metrics(const KernelEvent& event, Phase& phase, size_t first);
  const Op* op_of_graph(const KernelEvent& event);
  PathId path_of_rider(const Rider& rider) const {
    return context_ == ContextKind::kPython && rider.python != kUnknownContext ? rider.python
                                                                               : rider.shadow;
  }
  void place_event(const KernelEvent& event, bool with_metadata);
  uint32_t row_of(Phase& phase, PlaceId place, uint32_t kernel);
  PlaceId place_of(const KernelEvent& event);
  PathId path_of_context(ContextId context);
  uint32_t device_of(const KernelEvent& event);
  uint32_t find_device(std::string_view type, uint32_t number);
  uint32_t intern_kernel(std::string_view name, uint32_t device, EventKind kind);
  uint32_t kernel_of(const KernelEvent& event, const Op* op, uint32_t op_id);
  void book(const KernelEvent& event, const Booked& booked, Phase& phase);
  void book_symbol(const KernelEvent& event, int64_t time_ns, const Booked& booked, Phase& phase);
  void book_span(const KernelEvent& event, int64_t end_ns, const Booked& booked, Phase& phase);
  void count_booking(Booking booking);
  void book_kernel_metrics(Phase& phase, uint32_t row, const SampleList& metrics);
  void count_loss_locked(const std::string& kind, uint64_t count) { losses_[kind] += count; }
  Summary summary_locked(Value::Map header) const;
  const DeviceEntry* described_locked(const DeviceSeen& seen) const;
  std::vector<std::optional<SmLimits>> sm_limits_locked() const;  // by number in devices_seen_
  friend class SampleCopy;
  friend class TreeCopy;
  friend class TraceBuilder;

  const int64_t id_;
  const ContextKind context_;
  const DataKind data_;
  std::atomic<bool> is_active_{false};
  bool is_closed_ = false;
  const int64_t base_host_ns_;
  const int64_t base_unix_ns_;
  int64_t activated_ns_ = 0;

  std::map<int, std::shared_ptr<Phase>> phases_;  // shared with snapshots under way
  Phase* current_;
  std::vector<uint32_t> marks_;  // by path: phase number + 1 it was last seen in
  uint32_t mark_ = 1;
  std::atomic<uint64_t> next_stamp_{0};
  std::atomic<uint64_t> event_count_{0};
  std::unordered_map<uint64_t, EntryMetrics> pending_metrics_;  // by scope id
  std::vector<DeviceEntry> devices_;
  Value::List autotune_;
  mutable std::unordered_map<std::string, bool> verdicts_;  // of the filter of samples, by name
  std::atomic<bool> uses_metadata_{false};
  std::atomic<bool> has_kernel_times_{false};
  std::function<void(bool)> activity_listener_;
  CorrelationId (*newest_launch_)() noexcept = nullptr;
  LaunchesUnderWay launches_under_way_ = nullptr;

  mutable std::mutex mutex_;  // guards what follows, and the device part of phases
  std::map<std::string, uint64_t> losses_;
  std::vector<std::pair<std::string, uint64_t>> warnings_;
  StringTable kernel_names_;
  StringTable reasons_;  // of samples
  std::optional<SamplingFacts> sampling_;
  KeyIndex kernel_ids_;       // (name, device, kind) -> kernels_
  KeyIndex backend_kernels_;  // the same by the backend's number for the name
  KeyIndex op_kernels_;       // and by the op that gives the name
  std::vector<Kernel> kernels_;
  std::vector<DeviceSeen> devices_seen_;
  // Of the event before: the next one is mostly from the same device and place.
  const char* last_device_type_ = nullptr;
  uint32_t last_device_id_ = 0;
  uint32_t last_device_ = 0;
  uint64_t last_captured_ = 0;
  PlaceId last_place_ = 0;
  KeyIndex captured_index_;  // (replay, capture) -> captured_places_
  std::vector<CapturedPlace> captured_places_;
  std::unordered_set<uint32_t> unseen_graphs_;  // graphs whose capture nobody saw
  /// What the launch metadata of a graph's kernels adds up to.
  struct GraphSum {
    uint64_t version = 0;  // of the GraphLaunches
    Op op;
    std::vector<Booking> refused;
    void add(const Op& launch);
  };
  std::unordered_map<uint32_t, GraphSum> graph_sums_;  // by graph
  /// Values of a trace that came from devices: by scope id, and by the launch of their kernel.
  std::unordered_map<uint64_t, std::vector<SpanMetric>> scope_values_;
  struct KernelValue {
    PlaceId place;
    uint32_t kernel;
    SpanMetric metric;
  };
  std::unordered_map<CorrelationId, std::vector<KernelValue>> kernel_values_;
  PhaseBoundaries boundaries_;
};

}  // namespace proton
