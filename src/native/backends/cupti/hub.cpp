#include "backends/cupti/hub.h"

#include <new>

#include "base/error.h"
#include "base/text.h"
#include "cubin/module_store.h"

namespace proton::cupti {
namespace {

constexpr int64_t kStopLimitNs = 2'000'000'000;
/// So many nodes of graphs stay known when nobody is subscribed.
constexpr size_t kKeptNodes = 1u << 20;

/// CUPTI of CUDA 12.8: from it on, the ids of graph nodes were seen to stay when CUPTI lets go of
/// the driver and comes back. With others those of graphs that live might mean other nodes then.
constexpr uint32_t kKeepsNodeIds = 26;

}  // namespace

Hub& Hub::get() {
  static Hub& hub = *new Hub;
  return hub;
}

void Hub::on_callback(void* user, int domain, uint32_t cbid, const void* data) {
  Hub& hub = *static_cast<Hub*>(user);
  if (domain == kDriverDomain) [[likely]] {
    if (cbid == kGraphLaunch || cbid == kGraphLaunchPerThread) [[unlikely]] {
      return hub.graphs_.on_launch(*static_cast<const CallbackData*>(data));
    }
    hub.launches_.on_launch(cbid, *static_cast<const CallbackData*>(data));
  } else if (domain == kResourceDomain) {
    hub.on_resource(cbid, *static_cast<const ResourceData*>(data));
  }
}

void Hub::on_requested(uint8_t** buffer, size_t* size, size_t* max_record_count) {
  *buffer = get().buffers_.take(*size);
  *max_record_count = 0;  // as many as fit
}

void Hub::on_buffer(Context context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) {
  if (buffer != nullptr) get().reader_.on_completed(context, stream, buffer, size, valid);
}

void Hub::on_resource(uint32_t cbid, const ResourceData& data) noexcept {
  try {
    if (cbid == kContextCreated || cbid == kContextDestroyStarting) {
      const bool is_created = cbid == kContextCreated;
      is_created ? contexts_.add(data.context) : contexts_.remove(data.context);
      // Not here, inside the driver: whoever holds the hub's lock may wait for the driver.
      if (needs_.may_lack_peers()) launches_.sweeper().wake();
      return is_created ? sampler_.on_context_created(data.context)
                        : sampler_.on_context_destroyed(data.context);
    }
    if (cbid == kModuleLoaded || cbid == kModuleUnloadStarting) {
      return sampled_sinks_.on_module(cbid, data);
    }
    const auto* graph = static_cast<const GraphData*>(data.descriptor);
    if (graph != nullptr) graphs_.on_resource(cbid, *graph);
  } catch (...) {  // out of memory: the node's kernels are booked as captured by nobody knows whom
  }
}

uint32_t Hub::load(const std::string& cupti_path, const std::string& cuda_path) {
  std::lock_guard lock(control_);
  return subscription_.load(cupti_path, cuda_path);
}

void Hub::set_source(const ContextSource& source) {
  launches_.set_source(source);
  graphs_.with_nodes([&](GraphNodes& nodes) {
    nodes.set_forget(source.forget_node);
    nodes.set_value_listener([](uint64_t value, bool has_come) {
      MetricValues& values = get().values_.values();
      has_come ? values.add_node(value) : values.remove_node(value);
    });
  });
}

void Hub::start(EventSink& sink, const SinkOptions& options, size_t buffer_bytes) {
  if (buffer_bytes == 0) buffer_bytes = kDefaultBufferBytes;
  expect_buffer_size(buffer_bytes);
  std::lock_guard lock(control_);
  subscription_.expect_usable();
  if (options.value_bytes != 0 || !subscription_.is_open()) {
    values_.values().set_buffer_bytes(options.value_bytes);
  }
  launches_.table().open(options.with_frames);
  if (!subscription_.is_open()) {
    // Code that ran for the first time since CUPTI came may be nobody's for it.
    if (options.sampling && subscription_.is_attached() && subscription_.can_let_go()) let_go();
    subscribe(buffer_bytes);
  }
  if (options.sampling) {
    try {
      needs_.enable_modules();
    } catch (...) {
      if (sinks_.size() == 0) unsubscribe();
      throw;
    }
    sampled_sinks_.add(sink, *options.sampling);
  }
  sinks_.add(sink, needs_of(options));
}

void Hub::subscribe(size_t buffer_bytes) {
  buffers_.set_size(buffer_bytes);
  reader_.start_clock(subscription_.open());
  sinks_.reset_order();
  launches_.sweeper().start([] { Hub::get().sweep(); });
  // The ids of launches and graphs may start anew.
  launches_.table().begin_generation();
  change_logs([](NodeLog& log) { log.forget(); });
}

void Hub::unsubscribe() {
  subscription_.close();
  needs_.clear();
  graphs_.with_nodes([](GraphNodes& nodes) { nodes.trim(kKeptNodes); });
  values_.values().clear();
  contexts_.clear();
}

std::vector<std::string> Hub::set_active(EventSink& sink, bool is_active) {
  std::lock_guard lock(control_);
  if (can_use()) flusher_.finish_captured_values();
  if (!sinks_.has(sink) || sinks_.is_active(sink) == is_active) return {};
  if (!subscription_.is_forked()) sampled_sinks_.hand_over(sink, is_active);
  if (is_active) {
    sinks_.activate(sink);
  } else {
    sinks_.pause(sink, subscription_.was_sampled());
  }
  std::vector<std::string> warnings;
  if (subscription_.is_forked()) return warnings;
  if (is_active) {
    activate(sink, warnings);
  } else {
    update_needs(Needs::Change::kPause, warnings);
  }
  return warnings;
}

void Hub::activate(EventSink& sink, std::vector<std::string>& warnings) {
  try {
    subscription_.register_buffers(warnings);
    update_needs(Needs::Change::kActivation, warnings);
    sampled_sinks_.open(sink, warnings);
  } catch (...) {
    sampled_sinks_.hand_over(sink, false);
    sinks_.deactivate(sink);
    update_needs(Needs::Change::kPause, warnings);
    throw;
  }
  sinks_.begin(sink);
}

void Hub::update_needs(Needs::Change change, std::vector<std::string>& warnings) {
  const uint32_t needs = sinks_.active_needs();
  needs_.update(needs, change, warnings);
  values_.values().set_open(needs != 0);
}

void Hub::stop(EventSink& sink) {
  std::lock_guard lock(control_);
  if (!sinks_.has(sink)) return;
  const bool is_last = sinks_.size() == 1;
  const bool is_ours = !subscription_.is_forked();
  if (is_ours && sinks_.is_active(sink)) sampled_sinks_.hand_over(sink, false);
  sinks_.deactivate(sink);
  if (is_ours) {
    std::vector<std::string> warnings;
    update_needs(is_last ? Needs::Change::kLastGoing : Needs::Change::kPause, warnings);
    // Buffers that CUPTI still holds must come back to us, not to its next user.
    if (is_last) {
      flusher_.hand_over(kStopLimitNs, {.is_forced = true});
      flusher_.take_problems();  // those of the session's own flush were told
    }
  }
  sinks_.remove(sink);
  sampled_sinks_.remove(sink);
  values_.values().forget(sink);
  if (is_last && is_ours) unsubscribe();
}

bool Hub::has(const EventSink& sink) {
  std::lock_guard lock(control_);
  return sinks_.has(sink);
}

bool Hub::detach() {
  std::lock_guard lock(control_);
  if (!is_loaded() || subscription_.is_forked() || subscription_.is_open()) return false;
  if (!subscription_.can_let_go()) return false;
  const bool may_be_known_again = graphs_.with_nodes([&](GraphNodes& nodes) {
    if (nodes.size() != 0 && library().version < kKeepsNodeIds) return false;
    nodes.trim(nodes.size());
    return true;
  });
  if (!may_be_known_again) return false;
  return let_go();
}

bool Hub::let_go() {
  if (sampler_.gate().has_hung()) return false;  // a call of CUPTI's has not come back
  return flusher_.let_go();
}

std::string Hub::enable_hw_trace() {
  std::lock_guard lock(control_);
  return subscription_.enable_hw_trace(contexts_);
}

bool Hub::flush(int64_t limit_ns, bool synchronize) {
  std::lock_guard lock(control_);
  return !can_use() || flusher_.flush(limit_ns, synchronize);
}

std::vector<std::string> Hub::take_problems() {
  std::lock_guard lock(control_);
  std::vector<std::string> problems = flusher_.take_problems();
  for (std::string& problem : sampler_.take_problems()) problems.push_back(std::move(problem));
  return problems;
}

bool Hub::has_launches_under_way(uint32_t after, uint32_t until, bool with_frames) {
  const auto lock = sinks_.lock();
  return launches_.table().has_unread(after, until, with_frames) ||
         values_.values().is_waiting(until);
}

void Hub::sweep() noexcept {
  if (needs_.may_lack_peers()) {
    std::lock_guard lock(control_);
    if (can_use() && needs_.count_peers()) return;
  }
  {
    std::unique_lock lock(control_, std::try_to_lock);  // else somebody flushes, or is about to
    if (!lock.owns_lock() || !subscription_.is_open()) return;
  }
  flusher_.sweep();
}

ValueId Hub::read_value(const ValueSource& source, bool& is_captured) {
  if (!is_loaded() || subscription_.is_forked() || !reads_values()) {
    throw Error(ErrorKind::kUsage,
                "no active session of backend 'cupti' can read it; give value.cpu()");
  }
  return values_.values().read(source, is_captured);
}

HubStats Hub::stats() {
  std::lock_guard lock(control_);
  HubStats stats;
  stats.reader = reader_.stats();
  stats.graph_nodes = graphs_.with_nodes([](GraphNodes& nodes) { return nodes.size(); });
  stats.graph_refusals = graphs_.refusal_count();
  stats.values = values_.values().size();
  stats.value_bytes = values_.values().buffer_bytes();
  stats.buffer_count = buffers_.count();
  stats.launches = launch_cells().count();
  stats.sampling = sampler_.stats();
  stats.is_subscribed = subscription_.is_open();
  return stats;
}

std::string Hub::check_sampling() {
  std::lock_guard lock(control_);
  return subscription_.check();
}

std::string Hub::probe_sampling() {
  std::lock_guard lock(control_);
  return is_loaded() ? sampler_.probe() : subscription_.check();
}

bool Hub::attach_metrics(uint64_t node) noexcept {
  return get().graphs_.with_nodes([&](GraphNodes& nodes) { return nodes.attach_metrics(node); });
}

std::vector<ContextId> Hub::captured_contexts() {
  // The fork may have caught them in the middle of a change.
  if (get().subscription_.is_forked()) return {};
  return get().graphs_.with_nodes([](GraphNodes& nodes) { return nodes.contexts(); });
}

void Hub::move_contexts(uint32_t epoch, const std::function<ContextId(ContextId)>& move) {
  if (get().subscription_.is_forked()) return;
  get().graphs_.with_nodes([&](GraphNodes& nodes) { nodes.move_contexts(epoch, move); });
}

void Hub::abandon() noexcept {
  // Other threads may have held the locks at the fork; they do not exist here.
  new (&control_) std::mutex;
  buffers_.reset_after_fork();
  contexts_.reset_after_fork();
  flusher_.reset_after_fork();
  sinks_.reset_after_fork();
  graphs_.reset_after_fork();
  values_.values().reset_after_fork();
  // Its threads are not here, its locks may be.
  new (&sampler_) Sampler(library(), contexts_, sinks_);
  cubin::ModuleStore::get().reset_after_fork();
  launches_.set_captures(0);
  subscription_.abandon();
}

}  // namespace proton::cupti
