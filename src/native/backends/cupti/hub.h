/// CUPTI serves one subscriber a process: the hub is that one, and shares what it sees among
/// sessions. It asks for no more than its active sinks need, and for nothing when there are none.
///
/// Locks, in this order: control (start, stop, flush), decode (one buffer at a time), graph nodes,
/// metric values, a thread's cell. Callbacks take the last two at most, and the decode lock is
/// never held while CUPTI is told to flush: buffers come back on the flushing thread. Sampler's
/// turn comes between control and decode; callbacks of contexts and modules may wait for it.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backends/common/active_times.h"
#include "backends/common/correlation_map.h"
#include "backends/common/sweeper.h"
#include "backends/cupti/buffers.h"
#include "backends/cupti/clock.h"
#include "backends/cupti/graph_execs.h"
#include "backends/cupti/graph_nodes.h"
#include "backends/cupti/library.h"
#include "backends/cupti/metric_values.h"
#include "backends/cupti/names.h"
#include "backends/cupti/sampler.h"
#include "model/event_sink.h"

namespace proton::cupti {

class NodeLog;
struct GraphStep;
struct ThreadCell;

/// What a sink asks for.
struct SinkOptions {
  bool with_frames = false;        // contexts are Python frames, not scopes
  bool with_launches = false;      // also wants the launching calls, for a timeline
  bool with_copies = true;         // copies and memsets
  bool with_migrations = false;    // of unified memory
  bool per_graph = false;          // one event a replay is enough
  bool with_graph_timing = false;  // tells on stderr how long each launch of a graph took
  size_t value_bytes = 0;          // for metric values on their way from a device; 0: as we like
  std::optional<SamplingOptions> sampling = std::nullopt;  // none: kernels are timed only
};

struct HubStats {
  uint64_t kernels = 0;
  uint64_t copies = 0;
  uint64_t graphs = 0;
  uint64_t incomplete = 0;
  uint64_t unknown = 0;  // launches that nobody saw
  uint64_t dropped = 0;
  uint64_t buffers = 0;  // completed
  uint64_t buffer_bytes = 0;
  uint64_t buffer_count = 0;  // existing
  uint64_t launches = 0;
  uint64_t graph_nodes = 0;
  uint64_t graph_refusals = 0;  // tracing of whole graphs given up for an older graph
  uint64_t names = 0;
  uint64_t values = 0;       // metric values that are being read, or that graphs will read
  uint64_t value_bytes = 0;  // of the buffer they come through, in contexts that have none yet
  int64_t clock_offset_ns = 0;
  int64_t clock_residual_ns = 0;
  SamplingStats sampling;
  bool is_subscribed = false;
};

class Hub {
 public:
  /// Never destroyed: CUPTI may call back while the process ends.
  static Hub& get();

  /// Opens the libraries, once; the version of CUPTI. Throws BackendError.
  uint32_t load(const std::string& cupti_path, const std::string& cuda_path);
  bool is_loaded() const { return is_loaded_.load(std::memory_order_acquire); }
  const Library& library() const { return library_; }

  void set_source(const ContextSource& source) {
    source_ = source;
    nodes_.set_forget(source.forget_node);
    nodes_.set_value_listener([](uint64_t value, bool has_come) {
      has_come ? get().values_.add_node(value) : get().values_.remove_node(value);
    });
  }

  /// Reports to `sink` until `stop`, whenever it is active; at first it is not. Throws Error.
  void start(EventSink& sink, const SinkOptions& options, size_t buffer_bytes);
  /// Returns warnings for the user; throws BackendError when kernels cannot be timed.
  std::vector<std::string> set_active(EventSink& sink, bool is_active);
  /// Afterwards nothing refers to the sink any more.
  void stop(EventSink& sink);
  /// Between sessions: has CUPTI let go of the driver. For as long as it is there it slows
  /// launches, and from the first graph that is instantiated meanwhile, CUPTI 13.0 leaves 32 bytes
  /// of memory behind for each. False: it stays, for a session, or where it is too old to know
  /// captured graphs again in a later one.
  bool detach();
  bool has(const EventSink& sink);
  /// With a session started: kernels are timed by the hardware's own events from now on, to the end
  /// of the process. A line for the user where that cannot be, once a process; else "".
  std::string enable_hw_trace();

  /// Brings every event of finished work to its sinks; `synchronize` first waits for work under
  /// way. False: that took longer than the limit.
  bool flush(int64_t limit_ns, bool synchronize);
  /// What went wrong in flushes since the last call, as lines for the user: what was waited for in
  /// vain, what the driver refused.
  std::vector<std::string> take_problems();

  /// Whether launches after one id, up to another, have no event yet; waits for the buffer that
  /// is being read. Those that get none are under way until a flush has waited for the GPU.
  bool has_launches_under_way(uint32_t after, uint32_t until, bool with_frames);

  /// The calling thread's last launch was ours: no record of it is waited for.
  void settle_last_launch() noexcept;

  /// Reads a metric's value at its place in a stream, without waiting for it: `is_captured` tells
  /// whether it became part of a graph. Throws Error. Say by `commit_value` where it belongs.
  ValueId read_value(const ValueSource& source, bool& is_captured);
  void commit_value(ValueId id, const ValuePlace& place, std::span<const ValueTarget> targets);
  void drop_value(ValueId id) { values_.drop(id); }
  /// Whether a session is active that values would reach.
  bool reads_values() const {
    return (captures_.load(std::memory_order_relaxed) & (kShadow | kPython)) != 0;
  }

  HubStats stats();

  /// Why instructions cannot be sampled here, as a text for the user; empty: they can.
  /// What needs no context: those that are there refuse when a session is activated.
  std::string check_sampling();
  /// The same of device 0, in a process that does nothing else: it makes a context.
  std::string probe_sampling();
  /// Whether a CUDA context is known; never initialises the driver.
  bool has_contexts() const { return is_loaded() && !all_contexts().empty(); }
  /// Called when sampling has a problem to tell of, on any thread and in callbacks of the driver.
  void set_problem_hook(void (*hook)()) { problem_hook_.store(hook); }
  /// A cubin of a module that may have been loaded before anybody sampled, and the PTX it was made
  /// of where it is at hand. Throws BackendError.
  void add_cubin(std::string_view cubin, std::string_view ptx);
  Sampler& sampler() { return sampler_; }

  // Asked by scopes (GraphHooks of session/scopes/process.h)
  /// How many graphs and nodes the calling thread has made; the lead answers for those who follow
  /// it.
  static uint64_t captured_count(bool is_lead) noexcept;
  static const std::atomic<uint64_t>& lead_captured_count() noexcept;
  /// The node that stands for what was captured since `count` was so; 0: nothing.
  static uint64_t captured_since(bool is_lead, uint64_t count) noexcept;
  /// The node that metrics of a scope ride on which was entered when `count` was so and the thread
  /// had made so many launches (base/launch_count.h); 0: they count once.
  static uint64_t ridden_since(bool is_lead, uint64_t count, uint64_t launches) noexcept;
  /// From now on events tell when `node` or a clone of it ran. False: it is gone.
  static bool ride(uint64_t node) noexcept;
  /// The contexts that graph nodes refer to, and what has become of them in a new epoch.
  static std::vector<ContextId> captured_contexts();
  static void move_contexts(uint32_t epoch, const std::function<ContextId(ContextId)>& move);

  /// In a forked child, safe in a pthread_atfork handler: CUPTI is the parent's.
  void abandon() noexcept;

  // Called by CUPTI, on any thread.
  void on_launch(uint32_t cbid, const CallbackData& data) noexcept;
  void on_graph_launch(const CallbackData& data) noexcept;
  void on_resource(uint32_t cbid, const ResourceData& data) noexcept;
  void on_graph_resource(uint32_t cbid, const GraphData& data);
  void on_completed(Context context, uint32_t stream, uint8_t* buffer, size_t size,
                    size_t valid) noexcept;
  BufferPool& buffers() { return buffers_; }

 private:
  struct SinkEntry {
    EventSink* sink;
    SinkOptions options;
    bool is_active = false;
    ActiveTimes times;
    bool may_miss_records = false;  ///< was active since dropped records were last counted
    uint64_t dropped = 0;           ///< of those it was told of; they may be of missing launches
    bool wants_copy(const KernelEvent& event) const;  ///< of its kind, whenever it was
  };
  /// The contexts of an event, for both kinds of sinks.
  struct Contexts {
    ContextId shadow = kUnknownContext;
    ContextId python = kUnknownContext;
    ContextId shadow_capture = kNoContext;
    ContextId python_capture = kNoContext;
  };

  /// So many events share one lock of each sink; more would not stay in the nearest cache.
  static constexpr size_t kBatch = 128;

  enum Capture : uint32_t {
    kShadow = 1,
    kPython = 2,
    kTimes = 4,
    kGraphTimes = 8,
    kSampled = 16,
    kNothing = 32,   // launches are only counted
    kRecorded = 64,  // CUPTI records kernels: whoever launches one now will get its record
  };
  using MapPointer = std::unique_ptr<CorrelationMap>;

  // With control_ held
  void subscribe();
  void unsubscribe();
  void give_zeroed_buffers(bool is_ours);
  std::string holder();
  bool let_go();
  std::string try_hw_trace();
  enum class Change { kActivation, kPause, kLastGoing };
  std::vector<std::string> update_needs(Change change);
  std::vector<std::string> activate(SinkEntry& entry);
  void settle_values();
  void enable_kind(uint32_t kind, bool is_wanted, Change change,
                   std::vector<std::string>& warnings);
  bool is_enabled(uint32_t kind) const;
  void register_buffers(std::vector<std::string>& warnings);
  void enable_copies(bool is_wanted);
  void enable_peer_copies(bool is_wanted, Change change, std::vector<std::string>& warnings);
  void enable_launches(bool is_wanted);
  void enable_migrations(bool is_wanted, Change change, std::vector<std::string>& warnings);
  std::string configure_migrations();
  // Of hub_sampling.cpp
  void enable_modules();
  void hand_over_samples(const SinkEntry& entry, bool will_be_active);
  void open_sampling(const SamplingOptions& options, std::vector<std::string>& warnings);
  void collect_samples(int64_t limit_ns, bool synchronize);
  ClockPair read_clocks() const;
  SinkEntry* find(const EventSink& sink);

  // With decode_ held
  void read_records(uint8_t* buffer, size_t valid);
  /// Whether the sink was active at this launch.
  bool wants(const SinkEntry& entry, uint32_t correlation) const {
    return entry.times.has(order_.position_of(correlation));
  }
  void begin_times(SinkEntry& entry);
  void end_times(SinkEntry& entry);
  void note_launch(uint32_t correlation);
  void dispatch();
  void find_launches();
  void find_nodes();
  void send_to(const SinkEntry& entry);
  void dispatch_launches();
  void add_replayed_read(const KernelEvent& event);
  void dispatch_values(ValueId settled);
  void send_value(const ArrivedValue& arrived);

  // Of unrecorded.cpp: launches of kernels that never get a record
  struct Moment {
    uint32_t newest;                  // launch
    std::vector<uint32_t> under_way;  // launches whose calls have not returned
  };
  using Missing =
      std::array<std::vector<uint32_t>, 2>;  // launches of the shadow map, the python map
  static Moment note_moment();
  std::array<CorrelationMap*, 2> maps() const { return {shadow_map_.get(), python_map_.get()}; }
  Missing find_missing(const Moment& before);
  void count_unrecorded(const Moment& before, int64_t until_ns);
  void lose(const Missing& missing);
  void excuse_launches_under_way();
  [[gnu::noinline]] void excuse_launch(uint32_t correlation, uint32_t captures) noexcept;
  [[gnu::noinline]] void settle_launch(uint32_t correlation) noexcept;

  // Of graph_callbacks.cpp
  void on_graph_node(uint32_t cbid, const GraphData& data, ThreadCell& cell);
  void on_node_created(uint64_t node, const GraphData& data, ThreadCell& cell);
  void on_exec_created(void* exec, ThreadCell& cell);
  NodeLog& log_of(ThreadCell& cell);
  void check_replay(const CallbackData& data) noexcept;
  static void add_step(ThreadCell& cell, const GraphStep& step);
  void on_graph_destroyed(Result (*id_of)(void*, uint32_t*), void* graph);
  void trim_nodes();

  [[gnu::noinline]] void enter_launch(uint32_t cbid, const CallbackData& data,
                                      uint32_t captures) noexcept;
  [[gnu::noinline]] void leave_launch(const CallbackData& data, uint32_t captures,
                                      bool has_failed) noexcept;
  [[gnu::noinline]] void note_context(Context context) noexcept;
  bool has_context(Context context);
  void on_module(uint32_t cbid, const ResourceData& data);
  static std::vector<Context> all_contexts();
  static void send_samples(const SampleBatch& batch);
  static void lose_samples(const char* kind, uint64_t count);
  static void tell_problem();
  static constexpr Sampler::Hooks kSamplerHooks{all_contexts, send_samples, lose_samples,
                                                tell_problem};

  void count_dropped(Context context, uint32_t stream);

  enum class Launch {
    kUnseen,
    kEarlier,  // seen by an earlier subscription; its id may have come again since
    kSeen,
  };
  Launch find_context(CorrelationMap* map, uint32_t correlation, ContextId& context);
  struct FlushState;
  void wait_for_context(Context context, const std::string& whose, FlushState& state);
  void wait_for_gpu(FlushState& state);
  /// Control held. False: it goes on, on a thread of its own.
  bool flush_within(int64_t limit_ns, bool synchronize, uint32_t flag);
  void sweep() noexcept;
  bool count_peers() noexcept;

  Library library_;
  std::atomic<bool> is_loaded_{false};
  bool is_forked_ = false;
  ContextSource source_{};

  std::mutex control_;
  Subscriber subscriber_ = nullptr;
  bool is_subscribed_ = false;
  bool has_zeroed_ = false;     // CUPTI takes our buffers for zeroed
  uint8_t zeroed_before_ = 0;   // what it was told before us
  bool has_timestamp_ = false;  // registered, once a process
  bool has_hw_trace_ = false;   // cannot be undone
  bool has_said_no_hw_trace_ = false;
  bool sees_launches_ = false;
  bool sees_copies_ = false;
  bool sees_modules_ = false;
  std::vector<uint32_t> enabled_kinds_;
  std::atomic<bool> may_lack_peers_{false};  // on, and the devices not counted yet
  std::vector<std::string> problems_;        // of flushes
  std::vector<Context> contexts_;  // made or used since we subscribed; guarded by contexts_mutex_
  std::mutex contexts_mutex_;

  /// What launching threads must note: bits of Capture, and above them the generation, which tells
  /// launches of this subscription from those that began before. 0: nothing.
  alignas(64) std::atomic<uint32_t> captures_{0};  // with what else a launch reads
  static constexpr int kGenerationShift = 8;
  uint32_t generation_ = 0;
  MapPointer shadow_map_;
  MapPointer python_map_;
  Sweeper sweeper_;
  std::atomic<uint32_t> made_maps_{0};  // kShadow and kPython: they stay
  std::atomic<void (*)()> problem_hook_{nullptr};
  // With control_ held: since CUPTI last let go of the driver
  bool is_attached_ = false;
  bool was_sampled_ = false;
  Sampler sampler_{library_, kSamplerHooks};
  alignas(64) GraphNodes nodes_;  // from here on: what the thread that decodes writes to
  GraphExecs execs_;
  MetricValues values_;
  BufferPool buffers_;
  std::mutex flush_;  // held while CUPTI flushes, by a thread that does nothing else

  std::mutex decode_;
  std::vector<SinkEntry> sinks_;
  LaunchOrder order_;
  uint64_t old_cells_at_ = 0;  // the position at which cells were last looked through
  NamePool names_;
  ClockMap clock_;
  HubStats stats_;
  // Events on their way: decoded in place, and sent from there to sinks that want them all.
  size_t pending_count_ = 0;
  std::array<KernelEvent, kBatch> pending_;
  std::array<Contexts, kBatch> contexts_of_;
  std::array<bool, kBatch> is_asked_;
  std::vector<KernelEvent> batch_;  // for a sink that wants some of them
  struct RiddenEvent {
    size_t event;
    size_t first;  // of riders_
    size_t count;
  };
  std::vector<RiddenEvent> ridden_;  // of the pending events
  std::vector<uint64_t> riders_;
  std::vector<std::shared_ptr<const GraphLaunches>>
      graph_launches_;  // what pending events refer to
  std::vector<LaunchEvent> launches_;
  std::vector<LaunchEvent> launch_batch_;
  std::vector<ArrivedValue> arrived_;
};

}  // namespace proton::cupti
