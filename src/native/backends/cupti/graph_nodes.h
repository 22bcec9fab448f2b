/// Which code captured each node of a graph: kernels of a replay carry their node's id, so that a
/// replay costs the host nothing a node. Written while graphs are captured and instantiated, read
/// while records are decoded; callers hold `mutex()`.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "base/key_index.h"
#include "model/ids.h"

namespace proton::cupti {

/// Where a node was captured, for each kind of context.
struct NodeContexts {
  ContextId shadow = kUnknownContext;
  ContextId python = kUnknownContext;
  uint32_t epoch = 0;  // in which the contexts are valid
  uint64_t root = 0;   // the captured node that this one is a clone of, or itself
  uint64_t value = 0;  // the metric value that it reads; 0: work of the program's
};

class GraphNodes {
 public:
  std::mutex& mutex() { return mutex_; }

  void add(uint64_t node, const NodeContexts& contexts);
  /// A clone, at instantiation or of a child graph, was captured where its original was.
  void copy(uint64_t node, uint64_t original);
  /// The node is gone, though records of its last runs may still come.
  void remove(uint64_t node);

  /// Null: nobody saw it being made.
  const NodeContexts* find(uint64_t node);

  size_t size() const { return entries_.size() - dead_.size(); }
  void clear();

 private:
  /// So many removed nodes are still known.
  static constexpr size_t kDeadLimit = 1u << 16;

  struct Entry {
    uint64_t node;
    NodeContexts contexts;
    bool is_dead;
  };

  void sweep();

  std::mutex mutex_;
  KeyIndex index_;   // node id + 1 -> entries_
  size_t next_ = 0;  // where the entry after the one found last stands: graphs run in order
  std::vector<Entry> entries_;
  std::deque<uint64_t> dead_;  // oldest first
};

}  // namespace proton::cupti
