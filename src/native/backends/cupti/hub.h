/// CUPTI serves one subscriber a process: the hub is that one, and shares what it sees among
/// sessions. It asks for no more than its active sinks need, and for nothing when there are none.
/// The hub itself only says who comes when; what is done is done by its parts.
///
/// Locks, in this order: control (here: start, stop, flush), the sampler's turn, that of CUPTI's
/// flush (Flusher), of the sink table (one buffer at a time), of graph nodes, of metric values, and
/// a thread's cell. Callbacks take the last three at most, but for those of contexts and modules,
/// which may wait for the sampler's turn.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "backends/cupti/activity_reader.h"
#include "backends/cupti/driver/contexts.h"
#include "backends/cupti/driver/subscription.h"
#include "backends/cupti/flusher.h"
#include "backends/cupti/graph_table.h"
#include "backends/cupti/launch_recorder.h"
#include "backends/cupti/needs.h"
#include "backends/cupti/sampling/sampled_sinks.h"
#include "backends/cupti/value_dispatch.h"
#include "model/event_sink.h"

namespace proton::cupti {

struct HubStats {
  ReaderStats reader;
  uint64_t buffer_count = 0;  // existing
  uint64_t launches = 0;
  uint64_t graph_nodes = 0;
  uint64_t graph_refusals = 0;  // tracing of whole graphs given up for an older graph
  uint64_t values = 0;          // metric values that are being read, or that graphs will read
  uint64_t value_bytes = 0;     // of the buffer they come through, in contexts that have none yet
  SamplingStats sampling;
  bool is_subscribed = false;
};

class Hub {
 public:
  /// Never destroyed: CUPTI may call back while the process ends.
  static Hub& get();

  /// Opens the libraries, once; the version of CUPTI. Throws BackendError.
  uint32_t load(const std::string& cupti_path, const std::string& cuda_path);
  bool is_loaded() const { return subscription_.is_loaded(); }
  const Library& library() const { return subscription_.library(); }
  void set_source(const ContextSource& source);

  /// Reports to `sink` until `stop`, whenever it is active; at first it is not. Throws Error.
  void start(EventSink& sink, const SinkOptions& options, size_t buffer_bytes);
  /// Returns warnings for the user; throws BackendError when kernels cannot be timed.
  std::vector<std::string> set_active(EventSink& sink, bool is_active);
  /// Afterwards nothing refers to the sink any more.
  void stop(EventSink& sink);
  bool has(const EventSink& sink);
  /// Between sessions: has CUPTI let go of the driver. For as long as it is there it slows
  /// launches, and from the first graph that is instantiated meanwhile, CUPTI 13.0 leaves 32 bytes
  /// of memory behind for each. False: it stays, for a session, or where it is too old to know
  /// captured graphs again in a later one.
  bool detach();
  /// See Subscription; with a session started.
  std::string enable_hw_trace();

  /// Brings every event of finished work to its sinks; `synchronize` first waits for work under
  /// way. False: that took longer than the limit.
  bool flush(int64_t limit_ns, bool synchronize);
  /// What went wrong in flushes since the last call, as lines for the user: what was waited for in
  /// vain, what the driver refused.
  std::vector<std::string> take_problems();
  /// Whether launches after one id, up to another, have no event yet, or values up to there have
  /// not arrived; waits for the buffer that is being read. Those that get none are under way until
  /// a flush has waited for the GPU.
  bool has_launches_under_way(uint32_t after, uint32_t until, bool with_frames);

  /// Reads a metric's value at its place in a stream, without waiting for it: `is_captured` tells
  /// whether it became part of a graph. Throws Error. Say by `commit_value` where it belongs.
  ValueId read_value(const ValueSource& source, bool& is_captured);
  void commit_value(ValueId id, const ValuePlace& place, std::span<const ValueTarget> targets) {
    values_.commit(id, place, targets);
  }
  void drop_value(ValueId id) { values_.values().drop(id); }
  /// Whether a session is active that values would reach.
  bool reads_values() const { return (launches_.captures() & (kNeedsShadow | kNeedsPython)) != 0; }

  HubStats stats();

  /// Why instructions cannot be sampled here, as a text for the user; empty: they can.
  /// What needs no context: those that are there refuse when a session is activated.
  std::string check_sampling();
  /// The same of device 0, in a process that does nothing else: it makes a context.
  std::string probe_sampling();
  /// Whether a CUDA context is known; never initialises the driver.
  bool has_contexts() { return is_loaded() && !contexts_.all().empty(); }
  SampledSinks& sampled_sinks() { return sampled_sinks_; }
  Sampler& sampler() { return sampler_; }

  // Asked by scopes, with the functions of graph_table.h
  static bool attach_metrics(uint64_t node) noexcept;
  static std::vector<ContextId> captured_contexts();
  static void move_contexts(uint32_t epoch, const std::function<ContextId(ContextId)>& move);

  /// In a forked child, safe in a pthread_atfork handler: CUPTI is the parent's.
  void abandon() noexcept;

 private:
  static void on_callback(void* user, int domain, uint32_t cbid, const void* data);
  static void on_requested(uint8_t** buffer, size_t* size, size_t* max_record_count);
  static void on_buffer(Context context, uint32_t stream, uint8_t* buffer, size_t size,
                        size_t valid);
  void on_resource(uint32_t cbid, const ResourceData& data) noexcept;

  // With control_ held
  void subscribe(size_t buffer_bytes);
  void unsubscribe();
  void update_needs(Needs::Change change, std::vector<std::string>& warnings);
  void activate(EventSink& sink, std::vector<std::string>& warnings);
  bool let_go();
  bool can_use() const { return subscription_.is_open() && !subscription_.is_forked(); }

  void sweep() noexcept;

  std::mutex control_;
  BufferPool buffers_;
  Subscription subscription_{{on_callback, this, on_requested, on_buffer}, buffers_};
  ContextList contexts_{library()};
  LaunchRecorder launches_{contexts_, sampler_};
  SinkTable sinks_{launches_.table()};
  Sampler sampler_{library(), contexts_, sinks_};
  SampledSinks sampled_sinks_{subscription_, sampler_, sinks_};
  GraphTable graphs_{library(), launches_};
  Needs needs_{subscription_, launches_, graphs_, sampler_.gate()};
  ValueDispatch values_{library(), launches_.table(), sinks_, graphs_};
  ActivityReader reader_{library(), buffers_, launches_.table(), sinks_, graphs_, values_};
  Flusher flusher_{subscription_, contexts_, launches_.table(), sinks_, sampled_sinks_,
                   values_,       reader_};
};

}  // namespace proton::cupti
