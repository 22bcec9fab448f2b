/// The host side of a session: whether it records, and the scopes, metrics and ranges of its
/// phases. Guarded by the GIL, except where a member says otherwise. In a tree memory grows with
/// distinct paths, never with scopes.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/event_sink.h"
#include "model/trace_log.h"
#include "session/metrics/metric_table.h"
#include "session/scopes/context_stack.h"
#include "session/scopes/loss_log.h"
#include "session/scopes/marked_steps.h"
#include "session/scopes/range_thread.h"

namespace proton {

/// What a session's paths are made of: scopes; Python frames; or scopes, then the program's own
/// Python frames with modules and backward work of a framework, and with `kOps` its operators.
enum class ContextKind : uint8_t { kShadow, kPython, kBlame, kOps };

inline bool is_framework(ContextKind kind) { return kind >= ContextKind::kBlame; }
inline bool is_python(ContextKind kind) { return kind == ContextKind::kPython; }
enum class DataKind : uint8_t { kTree, kTrace };

/// A path in order of its first use, which is counted over the host and devices together.
struct SeenPath {
  uint64_t first_use;
  PathId path;
  uint64_t entries = 0;  // of scopes with this path; the current phase counts them elsewhere
};

/// A metric of a span.
struct SpanMetric {
  MetricId metric;
  MetricValue value;
};

/// A scope that was left, on its thread's lane.
struct HostSpan {
  SpanKind kind;
  PathId path;
  uint32_t thread_number;
  int64_t start_ns;
  int64_t end_ns;
  uint64_t scope_id;
  uint32_t first_metric = 0;
  uint32_t metric_count = 0;
  const char* category = nullptr;  // of a library's range; never freed
};

/// What one phase holds of the host.
struct HostPhase {
  std::vector<SeenPath> seen;
  MetricTable scope_metrics;    // of trees; rows are paths
  std::vector<HostSpan> spans;  // of traces
  std::vector<SpanMetric> span_metrics;
  MarkedSteps steps;
  uint64_t metric_changes = 0;  // additions, and the changes of tables that were cleared

  /// Grows with everything that is recorded.
  uint64_t change_count() const {
    return metric_changes + seen.size() + spans.size() + steps.count();
  }
  bool is_empty() const { return seen.empty() && spans.empty() && steps.all.empty(); }
};

class HostBooking {
 public:
  /// `sink` is where devices report for the same session; `use_count` is shared with it.
  HostBooking(ContextKind context, DataKind data, EventSink& sink, LossLog& losses,
              std::atomic<uint64_t>& use_count);

  ContextKind context() const { return context_; }
  DataKind data() const { return data_; }
  EventSink& sink() const { return sink_; }
  void count_loss(const char* kind, uint64_t count = 1) noexcept { losses_.count(kind, count); }

  // Activity
  bool is_active() const { return is_active_.load(std::memory_order_relaxed); }  // any thread
  bool is_closed() const { return is_closed_; }
  void set_activity_listener(std::function<void(bool)> listener) {
    activity_listener_ = std::move(listener);
  }
  void activate();
  void deactivate();
  void close();
  void abandon() noexcept;  // in a forked child: the session is the parent's

  /// Called when a step begins, with the time and whether the one before it is kept; returns the id
  /// of that one.
  using StepListener = std::function<StepId(int64_t time_ns, bool is_kept)>;
  void set_step_listener(StepListener listener) { step_listener_ = std::move(listener); }

  // Phases
  int phase() const { return phase_; }
  bool has_phase(int phase) const { return phases_.contains(phase); }
  /// Null: there is none. What it holds stays readable even if it is cleared.
  std::shared_ptr<const HostPhase> find_phase(int phase) const;
  int advance_phase();
  void clear_phase(int phase);
  bool is_empty() const;

  /// Whether metrics of scopes that were captured into a graph count for every replay of it.
  bool counts_replays() const { return counts_replays_; }
  void count_replays(bool is_counted) { counts_replays_ = is_counted; }

  // Scopes
  /// Makes `path` a node of the current phase: one load once it is.
  void add_path(PathId path) {
    if (path >= uses_.size() || uses_[path].phase_mark != phase_mark_) add_new_path(path);
  }
  /// The same, and a scope with this path was entered.
  void enter_path(PathId path) {
    if (path >= uses_.size() || uses_[path].phase_mark != phase_mark_) [[unlikely]] {
      add_new_path(path);
    }
    ++uses_[path].entries;
  }
  /// A scope was left: its metrics, which stand at `place`, its time and its span. Throws Error on
  /// a metric that changed its type, after booking the others.
  void book_scope(PathId path, PathId place, const ScopeEntry& entry, int64_t end_ns,
                  const SampleList& metrics);
  /// In a tree: the time so far of scopes that are open, once a session ends or pauses.
  void book_open_times();
  /// Metrics of a scope that stays open.
  void book_metrics(PathId path, const ScopeEntry& entry, const SampleList& metrics);
  /// Takes back what `book_metrics` was given for a scope that turns out to have been captured.
  SampleList take_metrics(const ScopeEntry& entry);

  /// A step of the program ends and the next begins. A step also begins with the session's
  /// activity; what a pause cuts off is none.
  void mark_step(int64_t time_ns, const std::string& name);

  /// A range or mark of a library, for a session that keeps every event.
  void book_range(const RangeSpan& span);
  /// Payloads and marks of ranges, for a session that adds up.
  void book_range_sum(const RangeSum& sum);

  /// Calls of an operator and their time, for a session that adds operators up.
  void book_operator(PathId path, uint64_t calls, int64_t time_ns);

  // For snapshots
  /// The paths of a phase, with how often scopes were entered there.
  std::vector<SeenPath> seen_of(const HostPhase& phase) const;
  /// The sums of a phase, with what was given at the entry of scopes that are still open.
  std::vector<MetricCell> metrics_of(const HostPhase& phase) const;
  /// Scopes and ranges that are open, as if they ended now and without metrics.
  std::vector<HostSpan> open_spans() const;

 private:
  /// Metrics given at the entry of a scope that is still open.
  struct EntryMetrics {
    PathId path;
    SampleList metrics;
  };

  /// A path in the phase that `phase_mark` is of.
  struct PathUse {
    uint64_t entries = 0;
    uint32_t phase_mark = 0;
  };

  void add_new_path(PathId path);
  void book_time(PathId path, const ScopeEntry& entry, int64_t end_ns);
  void book_samples(PathId path, const SampleList& metrics);
  void book_entry_metrics();
  [[noreturn]] void refuse(Booking booking, PathId path, MetricId metric, const MetricValue& value);
  void add_span(PathId path, const ScopeEntry& entry, int64_t end_ns, const SampleList& metrics);
  int64_t span_start(const ScopeEntry& entry) const;
  PathId path_of_range(const OpenRange& range) const;
  HostSpan span_of_range(const RangeSpan& span) const;
  void cut_open_spans();
  template <typename Visit>  // void(PathId, const ScopeEntry&)
  void visit_open_scopes(Visit visit) const;

  const ContextKind context_;
  const DataKind data_;
  EventSink& sink_;
  LossLog& losses_;
  std::atomic<uint64_t>& use_count_;
  std::atomic<bool> is_active_{false};
  bool is_closed_ = false;
  bool counts_replays_ = false;
  int64_t activated_ns_ = 0;
  int64_t step_start_ns_ = 0;
  std::function<void(bool)> activity_listener_;
  StepListener step_listener_;

  std::map<int, std::shared_ptr<HostPhase>> phases_;  // shared with snapshots under way
  HostPhase* current_;
  int phase_ = 0;
  uint32_t phase_mark_ = 1;    // phase_ + 1
  std::vector<PathUse> uses_;  // by path: of the last phase that it is a node of
  std::unordered_map<uint64_t, EntryMetrics> entry_metrics_;  // by scope id
};

}  // namespace proton
