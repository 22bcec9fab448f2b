#include "backends/cupti/hub.h"

#include <algorithm>
#include <new>

#include "backends/cupti/devices.h"
#include "backends/cupti/thread_cells.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "cubin/module_store.h"

namespace proton::cupti {
namespace {

constexpr int64_t kStopLimitNs = 2'000'000'000;

void on_callback(void* user, int domain, uint32_t cbid, const void* data) {
  Hub& hub = *static_cast<Hub*>(user);
  if (domain == kDriverDomain) [[likely]] {
    if (cbid == kGraphLaunch || cbid == kGraphLaunchPerThread) [[unlikely]] {
      return hub.on_graph_launch(*static_cast<const CallbackData*>(data));
    }
    hub.on_launch(cbid, *static_cast<const CallbackData*>(data));
  } else if (domain == kResourceDomain) {
    hub.on_resource(cbid, *static_cast<const ResourceData*>(data));
  }
}

void on_requested(uint8_t** buffer, size_t* size, size_t* max_record_count) {
  *buffer = Hub::get().buffers().take(*size);
  *max_record_count = 0;  // as many as fit
}

void on_buffer(Context context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) {
  if (buffer != nullptr) Hub::get().on_completed(context, stream, buffer, size, valid);
}

/// CUPTI of CUDA 12.8: from it on, the ids of graph nodes were seen to stay when CUPTI lets go of
/// the driver and comes back. With others those of graphs that live might mean other nodes then.
constexpr uint32_t kKeepsNodeIds = 26;

uint64_t read_host_clock() { return static_cast<uint64_t>(now_ns()); }

/// CUPTI itself tells only when it is too late, and in one word.
void expect_match(const Library& library) {
  constexpr int kOldestDriver = 12000;
  constexpr uint32_t kFirstOf13 = 130000;  // earlier ones have small numbers
  const int driver = driver_version(library);
  const auto served = concat("CUDA ", driver / 1000, ".", driver % 1000 / 10);
  if (driver < kOldestDriver) {
    throw BackendError("cupti", concat("the NVIDIA driver is too old: it serves ", served),
                       "install driver 525 or later, which serves CUDA 12");
  }
  if (library.version >= kFirstOf13 && driver < 13000) {
    throw BackendError("cupti",
                       concat(library.path, " is of CUDA ", library.version / 10000,
                              ", but the NVIDIA driver serves ", served),
                       "use a libcupti of CUDA 12 (pip install nvidia-cuda-cupti-cu12, or "
                       "TRITON_CUPTI_LIB_PATH=folder), or install driver 580 or later");
  }
}

void expect_size(size_t bytes) {
  if (bytes >= kSmallestBufferBytes && bytes <= kLargestBufferBytes) return;
  throw Error(
      ErrorKind::kUsage,
      concat("a buffer of ", bytes, " bytes is no good for CUPTI; give from ", kSmallestBufferBytes,
             " (64 KiB) to ", kLargestBufferBytes, " (1 GiB) as TRITON_PROFILE_BUFFER_SIZE"));
}

}  // namespace

Hub& Hub::get() {
  static Hub& hub = *new Hub;
  return hub;
}

uint32_t Hub::load(const std::string& cupti_path, const std::string& cuda_path) {
  std::lock_guard lock(control_);
  if (!is_loaded()) {
    Library opened = Library::open(cupti_path, cuda_path);
    expect_match(opened);
    library_ = std::move(opened);
    is_loaded_.store(true, std::memory_order_release);
  }
  return library_.version;
}

void Hub::start(EventSink& sink, const SinkOptions& options, size_t buffer_bytes) {
  if (buffer_bytes == 0) buffer_bytes = kDefaultBufferBytes;
  expect_size(buffer_bytes);
  std::lock_guard lock(control_);
  if (!is_loaded()) {
    throw BackendError("cupti", "CUPTI is not loaded", "load it before a session is started");
  }
  if (is_forked_) {
    throw BackendError("cupti", "this process was forked from one that had loaded CUPTI",
                       "start processes that use the GPU with the 'spawn' method");
  }
  if (options.value_bytes != 0 || !is_subscribed_) values_.set_buffer_bytes(options.value_bytes);
  auto& map = options.with_frames ? python_map_ : shadow_map_;
  if (map == nullptr) map = std::make_unique<CorrelationMap>();
  made_maps_.fetch_or(options.with_frames ? kPython : kShadow, std::memory_order_release);
  if (!is_subscribed_) {
    // Code that ran for the first time since CUPTI came may be nobody's for it.
    const bool can_let_go = library_.finalize != nullptr && !has_hw_trace_;
    if (options.sampling && is_attached_ && can_let_go) let_go();
    buffers_.set_size(buffer_bytes);
    subscribe();
  }
  if (options.sampling) {
    try {
      enable_modules();
    } catch (...) {
      if (sinks_.empty()) unsubscribe();
      throw;
    }
  }
  std::lock_guard decoding(decode_);
  sinks_.push_back({&sink, options, false, {}});
}

std::vector<std::string> Hub::set_active(EventSink& sink, bool is_active) {
  std::lock_guard lock(control_);
  settle_values();
  SinkEntry* entry = find(sink);  // with control held nobody else changes the list
  if (entry == nullptr || entry->is_active == is_active) return {};
  hand_over_samples(*entry, is_active);
  {
    std::lock_guard decoding(decode_);
    note_launch(newest_correlation());
    if (!is_active) end_times(*entry);
    entry->is_active = is_active;
  }
  if (is_forked_) return {};
  return is_active ? activate(*entry) : update_needs(Change::kPause);
}

/// What other threads launch before CUPTI tells all that the sink needs is not its own yet.
std::vector<std::string> Hub::activate(SinkEntry& entry) {
  std::vector<std::string> warnings;
  try {
    register_buffers(warnings);
    for (std::string& warning : update_needs(Change::kActivation)) {
      warnings.push_back(std::move(warning));
    }
    if (entry.options.sampling) open_sampling(*entry.options.sampling, warnings);
  } catch (...) {
    hand_over_samples(entry, false);
    {
      std::lock_guard decoding(decode_);
      entry.is_active = false;
    }
    update_needs(Change::kPause);
    throw;
  }
  std::lock_guard decoding(decode_);
  note_launch(newest_correlation());
  begin_times(entry);
  return warnings;
}

/// Forgets times of long ago: those of which nothing is under way any more, and that lie further
/// back than launches are known.
void Hub::begin_times(SinkEntry& entry) {
  if (entry.times.is_large() && order_.newest() > CorrelationMap::kCapacity) {
    CorrelationMap& map = *(entry.options.with_frames ? python_map_ : shadow_map_);
    entry.times.trim(order_.newest() - CorrelationMap::kCapacity, [&](const auto& keep) {
      map.visit_unread(generation_, [&](uint32_t id) { keep(order_.position_of(id)); });
    });
  }
  // Nobody's before us, whatever the clocks say: nothing was recorded.
  const bool is_first = std::all_of(sinks_.begin(), sinks_.end(),
                                    [](const SinkEntry& other) { return other.times.size() == 0; });
  const int64_t now = now_ns();
  for (SinkEntry& other : sinks_) {
    if (!other.is_active) other.times.end_moments(now);
  }
  entry.times.begin(order_.newest(), is_first ? ActiveTimes::kEver : now);
  entry.may_miss_records = true;
}

/// The last to pause gets what runs until somebody is active again: it was launched before, for
/// CUPTI records no more. Unless it does, for the sake of sampling.
void Hub::end_times(SinkEntry& entry) {
  const bool is_last = std::none_of(sinks_.begin(), sinks_.end(), [&](const SinkEntry& other) {
    return &other != &entry && other.is_active;
  });
  entry.times.end(order_.newest(), is_last && !was_sampled_ ? ActiveTimes::kNever : now_ns());
}

void Hub::stop(EventSink& sink) {
  std::lock_guard lock(control_);
  bool is_last = false;
  SinkEntry* entry = find(sink);
  if (entry == nullptr) return;
  if (entry->is_active) hand_over_samples(*entry, false);
  {
    std::lock_guard decoding(decode_);
    entry->is_active = false;
    is_last = sinks_.size() == 1;
  }
  if (!is_forked_) {
    update_needs(is_last ? Change::kLastGoing : Change::kPause);
    // Buffers that CUPTI still holds must come back to us, not to its next user.
    if (is_last) {
      flush_within(kStopLimitNs, false, kFlushForced);
      problems_.clear();  // those of the session's own flush were told
    }
  }
  {
    std::lock_guard decoding(decode_);
    std::erase_if(sinks_, [&](const SinkEntry& entry) { return entry.sink == &sink; });
  }
  values_.forget(sink);
  if (is_last && !is_forked_) unsubscribe();
}

bool Hub::detach() {
  std::lock_guard lock(control_);
  if (!is_loaded() || is_forked_ || is_subscribed_ || library_.finalize == nullptr) return false;
  if (has_hw_trace_) return false;  // CUPTI cannot take it up again once contexts exist
  {
    std::lock_guard nodes(nodes_.mutex());
    if (nodes_.size() != 0 && library_.version < kKeepsNodeIds) return false;
    nodes_.trim(nodes_.size());
  }
  return let_go();
}

/// Control held, nobody of ours subscribed.
bool Hub::let_go() {
  if (sampler_.gate().has_hung()) return false;  // a call of CUPTI's has not come back
  // CUPTI would go for all: another tool that has come since would lose what it records.
  Subscriber probe = nullptr;
  if (library_.subscribe(&probe, on_callback, this) != kSuccess) return false;
  library_.unsubscribe(probe);
  std::lock_guard flushing(flush_);
  if (library_.finalize() != kSuccess) return false;
  is_attached_ = was_sampled_ = false;
  return true;
}

bool Hub::has(const EventSink& sink) {
  std::lock_guard lock(control_);
  std::lock_guard decoding(decode_);
  return find(sink) != nullptr;
}

Hub::SinkEntry* Hub::find(const EventSink& sink) {
  auto found = std::find_if(sinks_.begin(), sinks_.end(),
                            [&](const SinkEntry& entry) { return entry.sink == &sink; });
  return found == sinks_.end() ? nullptr : &*found;
}

void Hub::subscribe() {
  const Result result = library_.subscribe(&subscriber_, on_callback, this);
  if (result == kMultipleSubscribers) {
    const std::string who = holder();
    throw BackendError(
        "cupti",
        concat("another tool holds CUPTI", who.empty() ? "" : ": ", who, " (error ", result, ")"),
        remedy_for(result), result);
  }
  library_.check(result, "cuptiSubscribe");
  is_subscribed_ = is_attached_ = true;
  try {
    library_.check(library_.register_callbacks(on_requested, on_buffer),
                   "cuptiActivityRegisterCallbacks");
    // Once a process: registering again corrupts the first records of later sessions.
    if (!has_timestamp_ && library_.register_timestamp != nullptr) {
      has_timestamp_ = library_.register_timestamp(read_host_clock) == kSuccess;
    }
    const ClockPair now = read_clocks();
    for (const uint32_t cbid : {kContextCreated, kContextDestroyStarting}) {
      library_.check(library_.enable_callback(1, subscriber_, kResourceDomain, cbid),
                     "cuptiEnableCallback");
    }
    std::lock_guard decoding(decode_);
    clock_.start(now);
    order_.reset();
    old_cells_at_ = 0;
  } catch (...) {
    unsubscribe();
    throw;
  }
  give_zeroed_buffers(true);
  sweeper_.start([] { Hub::get().sweep(); });
  // The ids of launches may start anew.
  forget_correlations();
  generation_ = generation_ % (CorrelationMap::kGenerations - 1) + 1;
  for (const MapPointer* map : {&shadow_map_, &python_map_}) {
    if (*map != nullptr) (*map)->forget_aside();
  }
}

/// Another tool may have put its own in their place since we subscribed.
void Hub::register_buffers(std::vector<std::string>& warnings) {
  const Result result = library_.register_callbacks(on_requested, on_buffer);
  if (result == kSuccess) return;
  warnings.push_back(concat("cuptiActivityRegisterCallbacks failed with ",
                            library_.describe(result),
                            ": where another tool has given CUPTI its buffers, events go there"));
}

/// Tells CUPTI that our buffers are zeroed, or puts back what it was told before us.
void Hub::give_zeroed_buffers(bool is_ours) {
  if (library_.set_attribute == nullptr || library_.get_attribute == nullptr) return;
  size_t size = sizeof(uint8_t);
  if (is_ours) {
    buffers_.prepare();
    if (library_.get_attribute(kZeroedBuffers, &size, &zeroed_before_) != kSuccess) return;
    uint8_t yes = 1;
    has_zeroed_ = library_.set_attribute(kZeroedBuffers, &size, &yes) == kSuccess;
  } else if (has_zeroed_) {
    library_.set_attribute(kZeroedBuffers, &size, &zeroed_before_);
    has_zeroed_ = false;
  }
}

void Hub::unsubscribe() {
  give_zeroed_buffers(false);
  library_.unsubscribe(subscriber_);
  is_subscribed_ = false;
  subscriber_ = nullptr;
  sees_launches_ = sees_copies_ = sees_modules_ = false;
  enabled_kinds_.clear();
  may_lack_peers_.store(false, std::memory_order_relaxed);
  captures_.store(0, std::memory_order_relaxed);
  trim_nodes();
  values_.clear();
  std::lock_guard lock(contexts_mutex_);
  contexts_.clear();
}

/// The name of the tool that holds CUPTI, where the library can tell.
std::string Hub::holder() {
  if (library_.subscribe_v2 == nullptr) return "";
  char name[kOldSubscriberNameSize] = "";
  SubscriberParams params{sizeof(SubscriberParams), "proton", name, sizeof(name)};
  Subscriber subscriber = nullptr;
  if (library_.subscribe_v2(&subscriber, on_callback, this, &params) == kSuccess) {
    library_.unsubscribe(subscriber);
    return "";
  }
  name[sizeof(name) - 1] = '\0';
  return name;
}

ClockPair Hub::read_clocks() const {
  ClockPair best;
  int64_t best_gap = INT64_MAX;
  for (int i = 0; i < 5; ++i) {
    uint64_t cupti_ns = 0;
    const int64_t before = now_ns();
    library_.check(library_.get_timestamp(&cupti_ns), "cuptiGetTimestamp");
    const int64_t after = now_ns();
    if (after - before >= best_gap) continue;
    best_gap = after - before;
    best = {static_cast<int64_t>(cupti_ns), before + best_gap / 2};
  }
  return best;
}

HubStats Hub::stats() {
  std::lock_guard lock(control_);
  HubStats stats;
  {
    std::lock_guard decoding(decode_);
    stats = stats_;
    stats.names = names_.size();
    stats.clock_offset_ns = clock_.offset_ns();
    stats.clock_residual_ns = clock_.residual_ns();
  }
  {
    std::lock_guard nodes(nodes_.mutex());
    stats.graph_nodes = nodes_.size();
  }
  stats.graph_refusals = execs_.refusal_count();
  stats.values = values_.size();
  stats.value_bytes = values_.buffer_bytes();
  stats.buffer_count = buffers_.count();
  stats.launches = count_launches();
  stats.sampling = sampler_.stats();
  stats.is_subscribed = is_subscribed_;
  return stats;
}

void Hub::abandon() noexcept {
  // Other threads may have held the locks at the fork; they do not exist here.
  for (std::mutex* mutex : {&control_, &flush_, &decode_, &contexts_mutex_, &nodes_.mutex()}) {
    new (mutex) std::mutex;
  }
  buffers_.reset_after_fork();
  execs_.reset_after_fork();
  values_.reset_after_fork();
  new (&sampler_) Sampler(library_, kSamplerHooks);  // its threads are not here, its locks may be
  cubin::ModuleStore::get().reset_after_fork();
  lead_nodes().reset_after_fork();
  for (ThreadCell* cell = first_cell(); cell != nullptr; cell = cell->next) {
    cell->nodes.reset_after_fork();
  }
  captures_.store(0);
  sinks_.clear();
  is_forked_ = is_loaded();
  is_subscribed_ = false;
}

}  // namespace proton::cupti
