// What runs on launching threads, inside the driver's calls: it must not throw, and the launch
// path takes no lock and allocates nothing after a thread's first launch.
#include "backends/cupti/hub.h"
#include "backends/cupti/thread_cells.h"
#include "base/clock.h"

namespace proton::cupti {

void Hub::on_launch(const CallbackData& data) noexcept {
  const uint32_t captures = captures_.load(std::memory_order_relaxed);
  if (captures == 0) return;
  if (data.site == kEnterSite) [[likely]] {
    const uint32_t correlation = data.correlation_id;
    const uint32_t generation = captures >> kGenerationShift;
    if ((captures & kShadow) != 0) shadow_map_->put(correlation, source_.shadow(), generation);
    if ((captures & kPython) != 0) python_map_->put(correlation, source_.python(), generation);
    sweeper_.on_launch(correlation);
    ThreadCell* cell = find_cell();
    if (cell == nullptr) return;
    if (cell->generation.load(std::memory_order_relaxed) != generation) [[unlikely]] {
      cell->first_correlation.store(correlation, std::memory_order_relaxed);
      cell->generation.store(generation, std::memory_order_release);
    }
    cell->last_correlation.store(correlation, std::memory_order_relaxed);
    cell->launch_count.store(cell->launch_count.load(std::memory_order_relaxed) + 1,
                             std::memory_order_relaxed);
    if ((captures & kTimes) != 0) cell->start_ns = now_ns();
    return;
  }
  if ((captures & kTimes) == 0) return;
  ThreadCell* cell = find_cell();
  if (cell == nullptr || cell->start_ns == 0) return;
  if (cell->own_value != 0) {  // a launch of ours is nobody's
    cell->start_ns = 0;
    return;
  }
  try {
    std::lock_guard lock(cell->mutex);
    cell->launches.push_back({data.correlation_id, kUnknownContext, source_.thread_number(),
                              data.function_name == nullptr ? "launch" : data.function_name,
                              cell->start_ns, now_ns()});
  } catch (...) {  // out of memory: the kernel is still booked, only its call is not shown
  }
  cell->start_ns = 0;
}

void Hub::on_graph_launch(const CallbackData& data) noexcept {
  if (!execs_.is_traced() || data.site != kEnterSite || data.params == nullptr) return;
  if (execs_.allows(static_cast<const GraphLaunchParams*>(data.params)->graph_exec)) return;
  // An older graph: from here on all graphs are recorded by their nodes.
  execs_.set_traced(false);
  execs_.count_refusal();
  library_.disable_activity(kGraphTraceActivity);
}

void Hub::on_resource(uint32_t cbid, const ResourceData& data) noexcept {
  try {
    if (cbid == kContextCreated || cbid == kContextDestroyStarting) {
      std::lock_guard lock(contexts_mutex_);
      std::erase(contexts_, data.context);
      if (cbid == kContextCreated) contexts_.push_back(data.context);
      return;
    }
    const auto* graph = static_cast<const GraphData*>(data.descriptor);
    if (graph != nullptr && cbid == kGraphExecCreated) return execs_.add(graph->graph_exec);
    if (graph != nullptr && cbid == kGraphExecDestroyStarting) {
      return execs_.remove(graph->graph_exec);
    }
    if (graph == nullptr || library_.graph_node_id == nullptr) return;
    if (graph->node_type > kMemsetNode) return;  // only kernels, copies and memsets have records
    uint64_t node = 0;
    if (library_.graph_node_id(graph->node, &node) != kSuccess) return;
    if (cbid == kGraphNodeCreated) {
      const uint32_t captures = captures_.load(std::memory_order_relaxed);
      NodeContexts contexts;
      if ((captures & kShadow) != 0) contexts.shadow = source_.shadow();
      if ((captures & kPython) != 0) contexts.python = source_.python();
      contexts.epoch = source_.epoch();
      contexts.root = node;
      if (ThreadCell* cell = find_cell(); cell != nullptr) {
        contexts.value = cell->own_value;
        if (cell->own_value == 0) {
          ++cell->node_count;
          cell->last_node = node;
        } else {
          values_.add_node(cell->own_value);
        }
        // A launch that is captured has no record to wait for.
        const uint32_t launch = cell->last_correlation.load(std::memory_order_relaxed);
        if ((captures & kShadow) != 0) shadow_map_->find(launch);
        if ((captures & kPython) != 0) python_map_->find(launch);
      }
      std::lock_guard lock(nodes_.mutex());
      nodes_.add(node, contexts);
    } else if (cbid == kGraphNodeCloned) {
      uint64_t original = 0;
      if (library_.graph_node_id(graph->original_node, &original) != kSuccess) return;
      std::lock_guard lock(nodes_.mutex());
      nodes_.copy(node, original);
      if (const NodeContexts* copy = nodes_.find(node); copy != nullptr && copy->value != 0) {
        values_.add_node(copy->value);
      }
    } else {
      std::lock_guard lock(nodes_.mutex());
      if (const NodeContexts* gone = nodes_.find(node); gone != nullptr && gone->value != 0) {
        values_.remove_node(gone->value);
      }
      nodes_.remove(node);
    }
  } catch (...) {  // out of memory: the node's kernels are booked as captured by nobody knows whom
  }
}

}  // namespace proton::cupti
