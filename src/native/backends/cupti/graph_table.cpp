#include "backends/cupti/graph_table.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <unordered_set>

#include "base/clock.h"

namespace proton::cupti {
namespace {

/// So many clones are remembered until an executable is made of them.
constexpr size_t kStepLimit = 1u << 20;

void add_step(GraphMaking& graphs, const GraphStep& step) {
  auto& steps = graphs.steps;
  if (steps.size() >= kStepLimit) steps.erase(steps.begin(), steps.begin() + kStepLimit / 2);
  steps.push_back(step);
}

}  // namespace

void GraphTable::on_launch(const CallbackData& data) noexcept {
  const bool is_timed = (launches_.captures() & kNeedsGraphTimes) != 0;
  const int64_t before = is_timed ? now_ns() : 0;
  check_replay(data);
  launches_.on_launch(kGraphLaunch, data);
  if (!is_timed) [[likely]] {
    return;
  }
  static thread_local int64_t start_ns = 0, own_ns = 0;  // a thread launches one at a time
  if (data.site == kEnterSite) {
    start_ns = before;
    own_ns = now_ns() - before;
  } else if (start_ns != 0) {
    uint32_t id = 0;
    if (data.params != nullptr) {
      library_.graph_exec_id(static_cast<const GraphLaunchParams*>(data.params)->graph_exec, &id);
    }
    const int64_t end = now_ns();
    std::fprintf(stderr, "proton: launch of <graph %u> took %lld ns, %lld ns of them in proton\n",
                 id, static_cast<long long>(end - start_ns),
                 static_cast<long long>(own_ns + end - before));
    start_ns = 0;
  }
}

/// An executable that CUPTI cannot trace as a whole ends such tracing.
void GraphTable::check_replay(const CallbackData& data) noexcept {
  if (!execs_.is_traced() || data.site != kEnterSite || data.params == nullptr) return;
  if (execs_.allows(static_cast<const GraphLaunchParams*>(data.params)->graph_exec)) return;
  // An older graph: from here on all graphs are recorded by their nodes.
  execs_.set_traced(false);
  execs_.count_refusal();
  library_.disable_activity(kGraphTraceActivity);
}

// What CUPTI 13.0 tells, in this order. Of a capture: when it begins, that its graph is made; of a
// captured node, within the launch: that its making starts (only this tells its type), that it is
// made. Of an instantiation: a graph is made whose handle is the executable's; each of its nodes,
// children and bodies included, is made, then told to be a clone; the making of the executable
// starts; nodes are made and destroyed as the driver sees fit (records may carry a destroyed one's
// id), graphs of children and bodies are destroyed, and their nodes move, untold, into the
// executable under new ids; it is made. Where graphs are timed as wholes, a node of CUPTI's own is
// made before that start, and one after it. Of an update: for each node whose parameters changed,
// the new graph's node and, as its original, the executable's.

void GraphTable::on_resource(uint32_t cbid, const GraphData& data) {
  ThreadCell* cell = find_cell();
  if (cell == nullptr) return;
  switch (cbid) {
    case kGraphCreated:
      cell->graphs.idle_launches.begin_graph(cell->last_launch());
      log_of(*cell).begin(data.graph, cell->tally());
      return add_step(cell->graphs, {data.graph, nullptr, 0});
    case kGraphNodeCreateStarting:
      cell->graphs.starting_node = data.node;
      cell->graphs.starting_type = data.node_type;
      return;
    case kGraphNodeCreated:
      // A launch that is captured has no record to wait for.
      launches_.table().mark_read(cell->under_way.load(std::memory_order_relaxed));
      return on_node(cbid, data, *cell);
    case kGraphNodeCloned:
    case kGraphNodeUpdated:
    case kGraphNodeDestroyStarting:
      return on_node(cbid, data, *cell);
    case kGraphExecCreateStarting:
      cell->graphs.is_instantiating = true;
      return;
    case kGraphExecCreated:
      cell->graphs.is_instantiating = false;
      execs_.add(data.graph_exec);
      return on_exec_created(data.graph_exec, *cell);
    case kGraphExecDestroyStarting:
      execs_.remove(data.graph_exec);
      return on_destroyed(library_.graph_exec_id, data.graph_exec);
    case kGraphDestroyStarting:
      return on_destroyed(library_.graph_id, data.graph);
    default:
      return;
  }
}

void GraphTable::on_node(uint32_t cbid, const GraphData& data, ThreadCell& cell) {
  uint64_t node = 0;
  if (library_.graph_node_id(data.node, &node) != kSuccess) return;
  if (cbid == kGraphNodeDestroyStarting) {
    if (cell.graphs.is_instantiating) add_step(cell.graphs, {nullptr, data.node, 0});
    std::lock_guard lock(mutex_);
    return nodes_.remove(node);
  }
  if (cbid == kGraphNodeCreated) return on_node_created(node, data, cell);
  uint64_t original = 0;
  if (data.original_node == nullptr ||
      library_.graph_node_id(data.original_node, &original) != kSuccess) {
    return;
  }
  if (cbid == kGraphNodeUpdated) {
    std::lock_guard lock(mutex_);
    return nodes_.copy(original, node);
  }
  log_of(cell).take_back(node);
  cell.graphs.idle_launches.take_back(data.node);
  add_step(cell.graphs, {nullptr, data.node, node});
  std::lock_guard lock(mutex_);
  nodes_.copy(node, original);
}

void GraphTable::on_node_created(uint64_t node, const GraphData& data, ThreadCell& cell) {
  if (!cell.graphs.is_instantiating) {
    cell.graphs.idle_launches.add(cell.last_launch(), data.node);
  }
  const int type =
      cell.graphs.starting_node == data.node ? cell.graphs.starting_type : data.node_type;
  if (type > kMemsetNode) return;  // only kernels, copies and memsets have records
  const ContextSource& source = launches_.source();
  const bool has_python = (launches_.captures() & kNeedsPython) != 0;
  const ContextId shadow = source.shadow();
  const ContextId python = has_python ? source.python() : kUnknownContext;
  const uint32_t epoch = source.epoch();
  {
    std::lock_guard lock(mutex_);
    nodes_.expect_epoch(epoch);
    nodes_.add(node, shadow, python, cell.own_value);
  }
  // Neither the driver's own nodes nor ours are work of the program's.
  if (!cell.graphs.is_instantiating && cell.own_value == 0) log_of(cell).add(node, data.graph);
}

NodeLog& GraphTable::log_of(ThreadCell& cell) {
  return launches_.source().is_with_lead() ? lead_nodes() : cell.graphs.nodes;
}

/// Nodes of children and bodies were cloned with the graph, on this thread: under ids of their own,
/// or now of the executable's.
void GraphTable::on_exec_created(void* exec, ThreadCell& cell) {
  uint32_t id = 0;
  const std::vector<GraphStep> steps = std::move(cell.graphs.steps);
  cell.graphs.steps = {};
  if (library_.graph_exec_id(exec, &id) != kSuccess) return;
  log_of(cell).take_back_graph(id);
  std::unordered_set<const void*> destroyed;
  std::set<uint32_t> parts;
  for (size_t at = steps.size(); at-- > 0 && steps[at].graph != exec;) {
    const GraphStep& step = steps[at];
    if (step.node != nullptr && step.clone == 0) destroyed.insert(step.node);
    if (step.clone == 0 || GraphNodes::graph_of(step.clone) == id) continue;
    uint64_t node = 0;
    if (destroyed.contains(step.node) || library_.graph_node_id(step.node, &node) != kSuccess) {
      continue;
    }
    if (node == step.clone) {
      parts.insert(GraphNodes::graph_of(node));
      continue;
    }
    std::lock_guard lock(mutex_);
    nodes_.copy(node, step.clone);
  }
  std::lock_guard lock(mutex_);
  nodes_.set_parts(id, {parts.begin(), parts.end()});
}

void GraphTable::on_destroyed(Result (*id_of)(void*, uint32_t*), void* graph) {
  uint32_t id = 0;
  if (id_of(graph, &id) != kSuccess) return;
  std::lock_guard lock(mutex_);
  nodes_.remove_graph(id);
}

namespace {

/// Set in counts of a thread's own log, which say nothing of the lead's: threads become the lead.
constexpr uint64_t kOwnLog = uint64_t{1} << 62;

/// The log that `count` is of, if it is the one to ask now; takes the mark off. Null: it is not.
NodeLog* log_since(bool is_lead, uint64_t& count) noexcept {
  const bool is_own = (count & kOwnLog) != 0;
  if (is_own == is_lead) return nullptr;
  count &= ~kOwnLog;
  if (is_lead) return &lead_nodes();
  return this_cell == nullptr ? nullptr : &this_cell->graphs.nodes;
}

}  // namespace

uint64_t captured_count(bool is_lead) noexcept {
  if (is_lead) return lead_nodes().count();
  return kOwnLog | (this_cell == nullptr ? 0 : this_cell->graphs.nodes.count());
}

const std::atomic<uint64_t>& lead_captured_count() noexcept { return lead_nodes().counter(); }

uint64_t captured_since(bool is_lead, uint64_t count) noexcept {
  NodeLog* log = log_since(is_lead, count);
  return log == nullptr ? 0 : log->last_since(count);
}

uint64_t metrics_node_since(bool is_lead, uint64_t count, uint64_t launches) noexcept {
  const ThreadCell* cell = find_cell();
  NodeLog* log = log_since(is_lead, count);
  if (cell == nullptr || log == nullptr) return 0;
  // 0: it had launched nothing.
  return log->metrics_node_since(count, std::max(launches, cell->launches_before), cell->tally());
}

CapturedNode GraphTable::find(uint64_t node) {
  return with_nodes([&](GraphNodes& nodes) {
    const CapturedNode* known = nodes.find(node);
    return known == nullptr ? CapturedNode() : *known;
  });
}

std::vector<uint64_t> GraphTable::values_of(uint32_t exec) {
  return with_nodes([&](GraphNodes& nodes) {
    const WholeGraph* whole = nodes.whole(exec);
    return whole == nullptr ? std::vector<uint64_t>() : whole->values;
  });
}

void GraphTable::reset_after_fork() {
  new (&mutex_) std::mutex;
  execs_.reset_after_fork();
  change_logs([](NodeLog& log) { log.reset_after_fork(); });
}

void GraphTable::annotate(std::span<KernelEvent> events, std::span<EventContexts> contexts) {
  const uint32_t epoch = launches_.source().epoch();
  std::unique_lock lock(mutex_, std::defer_lock);
  events_with_metrics_.clear();
  metric_nodes_.clear();
  graph_launches_.clear();
  for (size_t i = 0; i < events.size(); ++i) {
    KernelEvent& event = events[i];
    if (event.graph == 0 && event.graph_node == 0) continue;
    if (!lock.owns_lock()) {
      lock.lock();
      nodes_.expect_epoch(epoch);
    }
    if (event.graph_node == 0) {  // a whole graph
      const WholeGraph* whole = nodes_.whole(event.graph);
      if (whole == nullptr) continue;
      if (whole->launches != nullptr) {
        event.graph_launches = whole->launches.get();
        graph_launches_.push_back(whole->launches);
      }
      const auto& nodes = whole->metric_nodes;
      if (nodes.empty()) continue;
      events_with_metrics_.push_back({i, metric_nodes_.size(), nodes.size()});
      metric_nodes_.insert(metric_nodes_.end(), nodes.begin(), nodes.end());
      continue;
    }
    EventContexts& known = contexts[i];
    known.shadow_capture = known.python_capture = kUnknownContext;
    const CapturedNode* node = nodes_.find(event.graph_node);
    if (node == nullptr) continue;
    known.shadow_capture = node->shadow;
    // Scopes say more than nothing where nobody asked for frames at the capture.
    known.python_capture = node->python == kUnknownContext ? node->shadow : node->python;
    if (node->shadow == kUnknownContext) event.graph = GraphNodes::graph_of(node->root);
    if (!node->has_metrics) continue;
    events_with_metrics_.push_back({i, metric_nodes_.size(), 1});
    metric_nodes_.push_back(node->root);
  }
  for (const EventMetrics& one : events_with_metrics_) {
    events[one.event].riders = {metric_nodes_.data() + one.first, one.count};
  }
}

}  // namespace proton::cupti
