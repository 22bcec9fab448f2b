/// Which code captured each node of a graph: kernels of a replay carry their node's id, so that a
/// replay costs the host nothing a node. Written while graphs are captured and instantiated, read
/// while records are decoded; callers hold the lock of GraphTable. What is known outlives a
/// session, up to a limit: graphs go on being replayed in later ones.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/event.h"
#include "model/ids.h"

namespace proton::cupti {

/// Where a node was captured: shared by that node and all its clones.
struct CapturedNode {
  uint64_t root = 0;  // the id of the node that was captured
  ContextId shadow = kUnknownContext;
  ContextId python = kUnknownContext;
  uint64_t value = 0;        // the metric value that it reads; 0: work of the program's
  bool has_metrics = false;  // metrics of scopes count whenever it runs
  uint32_t references = 0;   // nodes that refer to this
};

/// What the nodes of an executable graph, its parts' included, bring to a replay of it as a whole.
struct WholeGraph {
  std::vector<uint64_t> metric_nodes;             // roots
  std::vector<uint64_t> values;                   // that its nodes read, each once
  std::shared_ptr<const GraphLaunches> launches;  // null: none has launch metadata
};

class GraphNodes {
 public:
  /// Every node id says its graph.
  static uint32_t graph_of(uint64_t node) { return static_cast<uint32_t>(node >> 32); }

  /// Told the root of a node with metrics that is forgotten.
  void set_forget(void (*forget)(uint64_t root) noexcept) { forget_ = forget; }
  /// Told that a node which reads a value has come or gone.
  void set_value_listener(void (*listener)(uint64_t value, bool has_come)) {
    value_listener_ = listener;
  }

  /// Contexts of an earlier epoch are void. Called before contexts are put in or taken out.
  void expect_epoch(uint32_t epoch);

  /// `value`: of a node that reads one for us.
  void add(uint64_t node, ContextId shadow, ContextId python, uint64_t value = 0);
  /// A clone (an instantiated node, a child graph's, an updated one) was captured where its
  /// original was; if nobody saw that one, it is at least known of which graph it is.
  void copy(uint64_t node, uint64_t original);
  /// The node is gone, though records of its last runs may still come; if its graph stays, even
  /// those of later ones: the driver replaces nodes of executables, and records carry the old id.
  void remove(uint64_t node);
  void remove_graph(uint32_t graph);

  /// Null: nobody saw it being made.
  const CapturedNode* find(uint64_t node) {
    const Graph* graph = find_graph(graph_of(node));
    if (graph != nullptr) {
      const uint32_t at = static_cast<uint32_t>(node) - graph->first;
      if (at < graph->slots.size() && graph->slots[at] != 0) {
        return &captured_[(graph->slots[at] & ~kDead) - 1];
      }
    }
    return far_.empty() ? nullptr : find_far(node);
  }

  /// Metrics count whenever `node` or a clone of it runs. False: it is gone.
  bool attach_metrics(uint64_t node);
  /// `exec` runs the nodes of these graphs too: its children and bodies.
  void set_parts(uint32_t exec, std::vector<uint32_t> parts);
  /// One look-up unless its nodes have changed; good until they do. Null: nobody saw it.
  const WholeGraph* whole(uint32_t exec);

  /// Every context that a node refers to, some of them more than once.
  std::vector<ContextId> contexts() const;
  /// The tables of contexts were made anew: `move` tells what has become of each.
  template <typename Move>
  void move_contexts(uint32_t epoch, Move move) {
    for (CapturedNode& captured : captured_) {
      captured.shadow = move(captured.shadow);
      captured.python = move(captured.python);
    }
    epoch_ = epoch;
    ++version_;
  }

  /// Forgets the graphs that are gone, and the oldest ones where more than `limit` nodes stay:
  /// while nobody is subscribed, graphs are destroyed unseen.
  void trim(size_t limit);

  size_t size() const { return live_count_; }
  size_t dead_count() const { return dead_.size(); }

 private:
  /// So many removed nodes are still known.
  static constexpr size_t kDeadLimit = 1u << 16;
  static constexpr uint32_t kDead = 1u << 31;
  /// Ids within a graph may leave gaps up to this, and up to what is there already.
  static constexpr size_t kGap = 1024;

  /// By id within the graph: what is known of each node, as an index + 1 and whether it is dead.
  struct Graph {
    uint32_t first = 0;
    std::vector<uint32_t> slots;
    uint32_t known = 0;  // live and dead ones
    uint32_t live = 0;
    std::vector<uint32_t> parts;
    uint32_t owner = 0;  // the executable that this is a part of; 0: none
    WholeGraph whole;
    uint64_t version = 0;  // of `version_`, when `whole` was collected; 0: it is out of date
  };

  Graph* find_graph(uint32_t id) {
    if (id == last_id_ && last_graph_ != nullptr) return last_graph_;
    const auto found = graphs_.find(id);
    if (found == graphs_.end()) return nullptr;
    last_id_ = id;
    last_graph_ = &found->second;
    return last_graph_;
  }
  const CapturedNode* find_far(uint64_t node) const;
  uint32_t* slot_of(uint64_t node);
  uint32_t& make_slot(uint64_t node);
  uint32_t intern(const CapturedNode& captured);
  void put(uint64_t node, uint32_t captured);
  void count_live(uint64_t node, int by);
  void release(uint32_t captured);
  void tell_value(uint32_t captured, bool has_come);
  void erase(uint32_t graph);
  void forget(uint64_t node);
  void touch(uint32_t graph);
  void collect(uint32_t id, const Graph& graph, WholeGraph& whole,
               std::vector<ContextId>& launches) const;

  void (*forget_)(uint64_t root) noexcept = nullptr;
  void (*value_listener_)(uint64_t value, bool has_come) = nullptr;
  uint32_t epoch_ = 0;
  std::unordered_map<uint32_t, Graph> graphs_;
  std::unordered_map<uint64_t, uint32_t> far_;  // nodes whose ids lie far from their graph's others
  uint32_t last_id_ = 0;
  Graph* last_graph_ = nullptr;
  std::vector<CapturedNode> captured_;
  std::vector<uint32_t> free_;  // of captured_
  std::deque<uint64_t> dead_;   // oldest first
  size_t live_count_ = 0;
  uint64_t version_ = 1;           // grows when what is known of all graphs may have changed
  uint64_t launches_version_ = 0;  // of the newest list
};

}  // namespace proton::cupti
