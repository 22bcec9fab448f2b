#include "backends/cupti/graph_nodes.h"

#include <algorithm>

namespace proton::cupti {

void GraphNodes::expect_epoch(uint32_t epoch) {
  if (epoch == epoch_) return;
  move_contexts(epoch, [](ContextId) { return kUnknownContext; });
}

const CapturedNode* GraphNodes::find_far(uint64_t node) const {
  const auto found = far_.find(node);
  return found == far_.end() ? nullptr : &captured_[(found->second & ~kDead) - 1];
}

/// Where `node` stands; null: it is not known.
uint32_t* GraphNodes::slot_of(uint64_t node) {
  if (const auto found = graphs_.find(graph_of(node)); found != graphs_.end()) {
    Graph& graph = found->second;
    const uint32_t at = static_cast<uint32_t>(node) - graph.first;
    if (at < graph.slots.size() && graph.slots[at] != 0) return &graph.slots[at];
  }
  const auto found = far_.find(node);
  return found == far_.end() ? nullptr : &found->second;
}

uint32_t& GraphNodes::make_slot(uint64_t node) {
  Graph& graph = graphs_[graph_of(node)];
  const auto local = static_cast<uint32_t>(node);
  if (graph.known == 0) {
    graph.slots.clear();
    graph.first = local;
  } else if (graph.slots.size() > 4 * size_t{graph.known} + kGap) {
    // Nodes come and go in it: what is left of the first ones is no use.
    const auto used = std::find_if(graph.slots.begin(), graph.slots.end(),
                                   [](uint32_t slot) { return slot != 0; });
    graph.first += static_cast<uint32_t>(used - graph.slots.begin());
    graph.slots.erase(graph.slots.begin(), used);
  }
  ++graph.known;
  const uint32_t at = local - graph.first;
  if (at >= 2 * graph.slots.size() + kGap) return far_[node];
  if (at >= graph.slots.size()) graph.slots.resize(at + 1);
  return graph.slots[at];
}

uint32_t GraphNodes::intern(const CapturedNode& captured) {
  if (free_.empty()) {
    captured_.push_back(captured);
    return static_cast<uint32_t>(captured_.size());
  }
  const uint32_t at = free_.back();
  free_.pop_back();
  captured_[at] = captured;
  return at + 1;
}

void GraphNodes::put(uint64_t node, uint32_t captured) {
  ++captured_[captured - 1].references;
  tell_value(captured, true);
  uint32_t* known = slot_of(node);
  if (known == nullptr) {
    make_slot(node) = captured;
    count_live(node, 1);
    return touch(graph_of(node));
  }
  touch(graph_of(node));
  const uint32_t old = *known & ~kDead;
  if ((*known & kDead) != 0) {  // its id was used again
    count_live(node, 1);
  } else {
    tell_value(old, false);
  }
  *known = captured;
  release(old);
}

void GraphNodes::count_live(uint64_t node, int by) {
  live_count_ += static_cast<size_t>(by);
  graphs_[graph_of(node)].live += static_cast<uint32_t>(by);
}

void GraphNodes::add(uint64_t node, ContextId shadow, ContextId python, uint64_t value) {
  put(node, intern({node, shadow, python, value, false, 0}));
}

void GraphNodes::copy(uint64_t node, uint64_t original) {
  const uint32_t* found = slot_of(original);
  const uint32_t captured = found == nullptr
                                ? intern({original, kUnknownContext, kUnknownContext, 0, false, 0})
                                : *found & ~kDead;
  put(node, captured);
}

void GraphNodes::remove(uint64_t node) {
  uint32_t* slot = slot_of(node);
  if (slot == nullptr || (*slot & kDead) != 0) return;
  tell_value(*slot, false);
  *slot |= kDead;
  count_live(node, -1);
  dead_.push_back(node);
  while (dead_.size() > kDeadLimit) {
    forget(dead_.front());
    dead_.pop_front();
  }
}

void GraphNodes::remove_graph(uint32_t id) {
  const auto found = graphs_.find(id);
  if (found == graphs_.end()) return;
  std::vector<uint64_t> nodes;
  for (size_t at = 0; at < found->second.slots.size(); ++at) {
    if (found->second.slots[at] != 0)
      nodes.push_back(uint64_t{id} << 32 | (found->second.first + at));
  }
  for (const auto& [node, captured] : far_) {
    if (graph_of(node) == id) nodes.push_back(node);
  }
  const std::vector<uint32_t> parts = found->second.parts;  // it may be in flight
  if (found->second.known == 0) erase(id);
  for (const uint64_t node : nodes) remove(node);
  for (const uint32_t part : parts) remove_graph(part);
}

void GraphNodes::erase(uint32_t id) {
  if (last_id_ == id) last_graph_ = nullptr;
  graphs_.erase(id);
}

void GraphNodes::tell_value(uint32_t captured, bool has_come) {
  const uint64_t value = captured_[captured - 1].value;
  if (value != 0 && value_listener_ != nullptr) value_listener_(value, has_come);
}

void GraphNodes::release(uint32_t captured) {
  CapturedNode& one = captured_[captured - 1];
  if (--one.references != 0) return;
  if (one.has_metrics && forget_ != nullptr) forget_(one.root);
  one = {};
  free_.push_back(captured - 1);
}

/// A dead node is of no use any more.
void GraphNodes::forget(uint64_t node) {
  uint32_t* slot = slot_of(node);
  if (slot == nullptr || (*slot & kDead) == 0) return;  // its id lives again
  const uint32_t captured = *slot & ~kDead;
  *slot = 0;
  far_.erase(node);
  release(captured);
  touch(graph_of(node));
  const auto graph = graphs_.find(graph_of(node));
  if (--graph->second.known == 0) erase(graph->first);
}

bool GraphNodes::attach_metrics(uint64_t node) {
  const uint32_t* slot = slot_of(node);
  if (slot == nullptr) return false;
  CapturedNode& captured = captured_[(*slot & ~kDead) - 1];
  captured.has_metrics = true;
  if (captured.references > 1) ++version_;  // its clones are anywhere
  touch(graph_of(node));
  return true;
}

void GraphNodes::set_parts(uint32_t exec, std::vector<uint32_t> parts) {
  const auto found = graphs_.find(exec);
  if (found == graphs_.end() && parts.empty()) return;
  for (const uint32_t part : parts) {
    if (Graph* graph = find_graph(part)) graph->owner = exec;
  }
  graphs_[exec].parts = std::move(parts);
  touch(exec);
}

/// Its nodes have changed.
void GraphNodes::touch(uint32_t id) {
  Graph* graph = find_graph(id);
  if (graph == nullptr) return;
  graph->version = 0;
  if (graph->owner == 0) return;
  if (const auto owner = graphs_.find(graph->owner); owner != graphs_.end()) {
    owner->second.version = 0;
  }
}

/// Dead nodes too: their executable may be in flight, or runs what the driver put in their place.
void GraphNodes::collect(uint32_t id, const Graph& graph, WholeGraph& whole,
                         std::vector<ContextId>& launches) const {
  const auto take = [&](uint32_t slot) {
    if (slot == 0) return;
    const CapturedNode& captured = captured_[(slot & ~kDead) - 1];
    if (captured.has_metrics) whole.metric_nodes.push_back(captured.root);
    if (captured.value != 0 &&
        std::ranges::find(whole.values, captured.value) == whole.values.end()) {
      whole.values.push_back(captured.value);
    }
    const bool is_launch = (captured.shadow & kLaunchBit) != 0 && captured.shadow < kUnknownContext;
    if (is_launch && captured.value == 0) launches.push_back(captured.shadow);
  };
  for (const uint32_t slot : graph.slots) take(slot);
  for (const auto& [node, slot] : far_) {
    if (graph_of(node) == id) take(slot);
  }
}

const WholeGraph* GraphNodes::whole(uint32_t exec) {
  Graph* graph = find_graph(exec);
  if (graph == nullptr) return nullptr;
  if (graph->version == version_) return &graph->whole;
  graph->version = version_;
  WholeGraph& whole = graph->whole;
  whole.metric_nodes.clear();
  whole.values.clear();
  std::vector<ContextId> launches;
  collect(exec, *graph, whole, launches);
  for (const uint32_t part : graph->parts) {
    if (const auto inner = graphs_.find(part); inner != graphs_.end()) {
      collect(part, inner->second, whole, launches);
    }
  }
  if (launches.empty()) {
    whole.launches = nullptr;
  } else if (whole.launches == nullptr || whole.launches->contexts != launches) {
    whole.launches = std::make_shared<const GraphLaunches>(
        GraphLaunches{++launches_version_, std::move(launches)});
  }
  return &whole;
}

std::vector<ContextId> GraphNodes::contexts() const {
  std::vector<ContextId> found;
  for (const CapturedNode& captured : captured_) {
    for (const ContextId context : {captured.shadow, captured.python}) {
      if (context < kUnknownContext) found.push_back(context);
    }
  }
  return found;
}

void GraphNodes::trim(size_t limit) {
  if (live_count_ > limit) {
    std::vector<uint32_t> ids;
    for (const auto& [id, graph] : graphs_) ids.push_back(id);
    std::sort(ids.begin(), ids.end());  // ids grow
    for (size_t at = 0; at < ids.size() && live_count_ > limit; ++at) remove_graph(ids[at]);
  }
  std::deque<uint64_t> kept;
  for (const uint64_t node : dead_) {
    const auto graph = graphs_.find(graph_of(node));
    if (graph != graphs_.end() && graph->second.live != 0) {
      kept.push_back(node);
    } else {
      forget(node);
    }
  }
  dead_ = std::move(kept);
}

}  // namespace proton::cupti
