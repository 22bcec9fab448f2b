// What the hub asks of CUPTI: as much as its active sinks need, switched on and off as they come
// and go. And the flush, which waits for what was asked for.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <thread>
#include <utility>

#include "backends/cupti/hub.h"
#include "backends/cupti/thread_cells.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"

namespace proton::cupti {
namespace {

constexpr CudaResult kInvalidContext = 201;
constexpr CudaResult kContextIsDestroyed = 709;

}  // namespace

/// How a flush on another thread goes.
struct Hub::FlushState {
  std::mutex mutex;
  std::condition_variable done;
  bool is_done = false;
  std::string waits_for;
  std::vector<std::string> problems;

  void wait_for(std::string what) {
    std::lock_guard lock(mutex);
    waits_for = std::move(what);
  }
  void add_problem(std::string text) {
    std::lock_guard lock(mutex);
    problems.push_back(std::move(text));
  }
};

std::vector<std::string> Hub::update_needs(Change change) {
  std::vector<std::string> warnings;
  bool is_any = false, copies = false, migrations = false, per_graph = true;
  uint32_t captures = 0;
  {
    std::lock_guard decoding(decode_);
    for (const SinkEntry& entry : sinks_) {
      if (!entry.is_active) continue;
      is_any = true;
      copies |= entry.options.with_copies;
      migrations |= entry.options.with_migrations;
      per_graph &= entry.options.per_graph;
      captures |= entry.options.with_frames ? kPython : kShadow;
      if (entry.options.with_launches) captures |= kTimes;
      if (entry.options.with_graph_timing) captures |= kGraphTimes;
      if (entry.options.sampling) captures |= kSampled;
    }
  }
  if ((captures & ~captures_.load(std::memory_order_relaxed) & kSampled) != 0) {
    sampler_.gate().begin();
  }
  // Once CUPTI has sampled, code that first runs while kernels are not timed is nobody's for it.
  const bool is_paused = !is_any && was_sampled_ && change != Change::kLastGoing;
  if (is_paused) captures = kNothing;
  captures |= generation_ << kGenerationShift;
  if (is_any && is_enabled(kConcurrentKernelActivity)) captures |= kRecorded;
  if (is_any || is_paused) {
    captures_.store(captures, std::memory_order_relaxed);
  } else {
    // From here on launches are only numbered, so that none of them seems to be of a later time.
    captures_.store(captures_.load(std::memory_order_relaxed) & ~(kRecorded | kShadow | kPython),
                    std::memory_order_relaxed);
    excuse_launches_under_way();
  }
  // CUPTI shall record nothing whose call it does not tell: calls come first, and go last.
  if (is_any || is_paused) enable_launches(true);
  if (is_any && copies) enable_copies(true);
  enable_kind(kConcurrentKernelActivity, is_any || is_paused, change, warnings);
  if (is_any) captures_.store(captures | kRecorded, std::memory_order_relaxed);
  execs_.set_traced(is_any && per_graph);
  enable_kind(kGraphTraceActivity, is_any && per_graph, change, warnings);
  for (const uint32_t kind : {kMemcpyActivity, kMemsetActivity}) {
    enable_kind(kind, is_any && copies, change, warnings);
  }
  enable_peer_copies(is_any && copies, change, warnings);
  enable_migrations(is_any && migrations, change, warnings);
  enable_copies(is_any && copies);
  enable_launches(is_any || is_paused);
  if (!is_any && !is_paused) {
    excuse_launches_under_way();  // those that came while we switched off
    captures_.store(0, std::memory_order_relaxed);
  }
  values_.set_open(is_any);
  return warnings;
}

bool Hub::is_enabled(uint32_t kind) const {
  return std::find(enabled_kinds_.begin(), enabled_kinds_.end(), kind) != enabled_kinds_.end();
}

/// A session is of no use without kernels; the other kinds are worth a warning. Another tool may
/// have switched off what we had switched on: an activation does it again.
void Hub::enable_kind(uint32_t kind, bool is_wanted, Change change,
                      std::vector<std::string>& warnings) {
  const bool is_on = is_enabled(kind);
  if (!is_wanted) {
    if (is_on) library_.disable_activity(kind);
    std::erase(enabled_kinds_, kind);
    return;
  }
  if (is_on && change != Change::kActivation) return;
  const Result result = library_.enable_activity(kind);
  if (result == kSuccess) {
    if (!is_on) enabled_kinds_.push_back(kind);
  } else if (kind == kConcurrentKernelActivity) {
    library_.check(result, "cuptiActivityEnable");
  } else {
    warnings.push_back(
        concat("CUPTI does not report activities of kind ", kind, ": ", library_.describe(result)));
  }
}

void Hub::enable_launches(bool is_wanted) {
  if (is_wanted == sees_launches_) return;
  if (is_wanted) interrupt_logs();
  for (const uint32_t cbid : kLaunchCallbacks) {
    const Result result =
        library_.enable_callback(is_wanted ? 1 : 0, subscriber_, kDriverDomain, cbid);
    // Others may be refused by a library that is older than the function.
    if (is_wanted && cbid == kLaunchKernel) library_.check(result, "cuptiEnableCallback");
  }
  for (const uint32_t cbid :
       {kGraphCreated, kGraphNodeCreateStarting, kGraphNodeCreated, kGraphNodeCloned,
        kGraphNodeUpdated, kGraphNodeDestroyStarting, kGraphDestroyStarting,
        kGraphExecCreateStarting, kGraphExecCreated, kGraphExecDestroyStarting}) {
    // Refused where the library is older than the callback.
    library_.enable_callback(is_wanted ? 1 : 0, subscriber_, kResourceDomain, cbid);
  }
  sees_launches_ = is_wanted;
}

void Hub::enable_copies(bool is_wanted) {
  if (is_wanted == sees_copies_) return;
  for (const auto [first, last] : kCopyCallbacks) {
    for (uint32_t cbid = first; cbid <= last; ++cbid) {
      // Refused where the library is older than the function: then nobody can call it either.
      library_.enable_callback(is_wanted ? 1 : 0, subscriber_, kDriverDomain, cbid);
    }
  }
  sees_copies_ = is_wanted;
}

/// Copies between devices, where there are several: while CUPTI reports them, launching a graph
/// takes a quarter of a microsecond more for each of its nodes. A program that has not initialised
/// the driver yet cannot say how many there are, and may have several.
void Hub::enable_peer_copies(bool is_wanted, Change change, std::vector<std::string>& warnings) {
  int count = 0;
  const bool is_known = library_.device_count(&count) == 0;
  enable_kind(kMemcpyPeerActivity, is_wanted && (!is_known || count > 1), change, warnings);
  may_lack_peers_.store(is_wanted && !is_known, std::memory_order_relaxed);
}

/// Ends peer copies where the driver, initialised meanwhile, has one device. False: it still cannot
/// say.
bool Hub::count_peers() noexcept {
  std::lock_guard lock(control_);
  int count = 0;
  if (!is_subscribed_ || is_forked_ || library_.device_count(&count) != 0) return false;
  if (!may_lack_peers_.exchange(false, std::memory_order_relaxed) || count > 1) return true;
  library_.disable_activity(kMemcpyPeerActivity);
  std::erase(enabled_kinds_, uint32_t{kMemcpyPeerActivity});
  return true;
}

/// Pages that move by themselves. The driver counts them device by device, once it is initialised.
void Hub::enable_migrations(bool is_wanted, Change change, std::vector<std::string>& warnings) {
  if (is_wanted && !is_enabled(kUnifiedMemoryActivity)) {
    if (std::string why_not = configure_migrations(); !why_not.empty()) {
      warnings.push_back(concat("migrations of unified memory are not recorded: ", why_not));
      return;
    }
  }
  enable_kind(kUnifiedMemoryActivity, is_wanted, change, warnings);
}

/// Why not, or "".
std::string Hub::configure_migrations() {
  if (library_.configure_unified_memory == nullptr) {
    return concat(library_.path,
                  " has no function cuptiActivityConfigureUnifiedMemoryCounter; use a newer one");
  }
  int count = 0;
  CudaResult result = library_.init(0);
  if (result == 0) result = library_.device_count(&count);
  if (result != 0) return concat("the devices are not known: ", library_.describe_cuda(result));
  std::vector<UnifiedMemoryConfig> configs;
  for (int device = 0; device < count; ++device) {
    for (const uint32_t kind : {kBytesHtoD, kBytesDtoH, kBytesDtoD}) {
      if (kind == kBytesDtoD && count == 1) continue;  // there is nowhere to go
      configs.push_back({1, kind, static_cast<uint32_t>(device), 1});
    }
  }
  const Result refusal =
      library_.configure_unified_memory(configs.data(), static_cast<uint32_t>(configs.size()));
  if (refusal == kSuccess) return "";
  return concat("cuptiActivityConfigureUnifiedMemoryCounter failed with ",
                library_.describe(refusal),
                "; it needs devices that reach each other's memory, or one that "
                "CUDA_VISIBLE_DEVICES picks");
}

bool Hub::flush(int64_t limit_ns, bool synchronize) {
  std::lock_guard lock(control_);
  if (!is_subscribed_ || is_forked_) return true;
  try {
    const ClockPair now = read_clocks();
    std::lock_guard decoding(decode_);
    clock_.update(now);
  } catch (const Error&) {  // the clocks stay as they were
  }
  const int64_t until_ns = now_ns() + limit_ns;
  const ValueId newest = values_.newest();
  const Moment before = note_moment();
  const bool is_done = flush_within(limit_ns, synchronize, synchronize ? kFlushForced : 0);
  collect_samples(limit_ns, synchronize);
  {
    std::lock_guard decoding(decode_);
    count_dropped(nullptr, 0);  // also where no buffer came back
    if (is_done && synchronize) {
      for (SinkEntry& entry : sinks_) entry.may_miss_records = entry.is_active;
    }
    dispatch_launches();
    dispatch_values(is_done && synchronize ? newest : 0);
  }
  if (is_done && synchronize) count_unrecorded(before, until_ns);
  return is_done;
}

bool Hub::flush_within(int64_t limit_ns, bool synchronize, uint32_t flag) {
  // On a thread of its own: neither the driver nor CUPTI takes a time limit.
  auto state = std::make_shared<FlushState>();
  std::thread worker([this, state, synchronize, flag] {
    try {
      if (synchronize) wait_for_gpu(*state);
      state->wait_for("CUPTI to hand over its events");
      std::lock_guard flushing(flush_);  // buffers that a sweep took are back when ours are
      Result result = library_.flush_all(0);
      if (flag != 0) result = library_.flush_all(flag);
      if (result != kSuccess) {
        state->add_problem(concat("cuptiActivityFlushAll failed with ", library_.describe(result),
                                  ": events that it still held are missing"));
      }
    } catch (const std::exception&) {  // out of memory: there is nothing left to say it with
    }
    std::lock_guard done(state->mutex);
    state->is_done = true;
    state->done.notify_all();
  });
  bool is_done;
  {
    std::unique_lock waiting(state->mutex);
    is_done = state->done.wait_for(waiting, std::chrono::nanoseconds(limit_ns),
                                   [&] { return state->is_done; });
    problems_.insert(problems_.end(), state->problems.begin(), state->problems.end());
    if (!is_done) {
      const bool is_short = limit_ns < 1'000'000'000;
      problems_.push_back(concat("waited ", limit_ns / (is_short ? 1'000'000 : 1'000'000'000),
                                 is_short ? " ms for " : " s for ", state->waits_for,
                                 "; events that came later are missing"));
    }
  }
  if (is_done) {
    worker.join();
  } else {
    worker.detach();  // it ends when the driver lets it
  }
  return is_done;
}

void Hub::sweep() noexcept {
  if (may_lack_peers_.load(std::memory_order_relaxed) && count_peers()) return;
  {
    std::unique_lock lock(control_, std::try_to_lock);  // else somebody flushes, or is about to
    if (!lock.owns_lock() || !is_subscribed_) return;
  }
  {
    std::lock_guard flushing(flush_);
    library_.flush_all(0);
  }
  std::lock_guard decoding(decode_);
  dispatch_values(0);
}

std::vector<std::string> Hub::take_problems() {
  std::lock_guard lock(control_);
  std::vector<std::string> problems = std::exchange(problems_, {});
  for (std::string& problem : sampler_.take_problems()) problems.push_back(std::move(problem));
  return problems;
}

/// Until the work of one context has ended. A context that is gone has none.
void Hub::wait_for_context(Context context, const std::string& whose, FlushState& state) {
  state.wait_for(concat(whose, " to finish its work"));
  const char* function = "cuCtxSetCurrent";
  CudaResult result = library_.set_context(context);
  if (result == 0) {
    function = "cuCtxSynchronize";
    result = library_.synchronize_context();
  }
  if (result == 0 || result == kInvalidContext || result == kContextIsDestroyed) return;
  state.add_problem(concat(whose, ": ", function, " failed with ", library_.describe_cuda(result),
                           "; work that had not ended is missing, see `nvidia-smi` and the kernel "
                           "log for what happened to the GPU"));
}

bool Hub::has_context(Context context) {
  std::lock_guard lock(contexts_mutex_);
  return std::find(contexts_.begin(), contexts_.end(), context) != contexts_.end();
}

/// Until the work of every context has ended.
void Hub::wait_for_gpu(FlushState& state) {
  int mode = kRelaxedCapture;  // other threads may be capturing: not to disturb them
  if (library_.exchange_capture_mode != nullptr) library_.exchange_capture_mode(&mode);
  std::vector<Context> primary;
  int count = 0;
  if (library_.device_count(&count) != 0) count = 0;
  for (int index = 0; index < count; ++index) {
    int device = 0, is_active = 0;
    unsigned flags = 0;
    if (library_.device(&device, index) != 0) continue;
    if (library_.primary_context_state(device, &flags, &is_active) != 0 || is_active == 0) continue;
    Context context = nullptr;
    if (library_.retain_primary_context(&context, device) != 0) continue;
    wait_for_context(context, concat("device ", index), state);
    primary.push_back(context);
    if (library_.release_primary_context != nullptr) library_.release_primary_context(device);
  }
  std::vector<Context> contexts;
  {
    std::lock_guard lock(contexts_mutex_);
    contexts = contexts_;
  }
  for (Context context : contexts) {
    const bool is_primary = std::find(primary.begin(), primary.end(), context) != primary.end();
    // One may have been destroyed while we waited for another.
    if (!is_primary && has_context(context)) wait_for_context(context, "a CUDA context", state);
  }
  library_.set_context(nullptr);
}

}  // namespace proton::cupti
