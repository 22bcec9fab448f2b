/// Launch metadata as ids: what a launching thread can hand to a driver's table by one store.
/// A context is a path, or a path together with an op: the name and metrics that launch metadata
/// gave for it. Equal ops share one id, so that memory grows with distinct ones. Written under the
/// GIL, read by any thread that got an id.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/key_index.h"
#include "base/stable_array.h"
#include "model/ids.h"
#include "model/metric.h"
#include "session/scopes/context_stack.h"

namespace proton {

/// A metric that every launch with an op books.
struct OpMetric {
  MetricId metric;
  MetricKind kind;
  MetricValue value;
};

/// The numbers of a list, each with the kind that its name says.
std::vector<OpMetric> to_op_metrics(const SampleList& samples);

struct Op {
  std::string name;  // empty: the kernel keeps its own
  std::vector<OpMetric> metrics;
};

struct LaunchContext {
  PathId path;
  uint32_t op;
};

class LaunchContexts {
 public:
  LaunchContexts() { clear(); }

  /// The context of a launch at `path` with `op` (null: none). GIL held. Past four million distinct
  /// ones the path alone, which is still right; what is lost is counted.
  ContextId intern(PathId path, const OpEntry* op);

  ContextId intern(PathId path, uint32_t op);
  /// An op of before the tables were cleared; its number.
  uint32_t add_op(Op op) { return static_cast<uint32_t>(ops_.push_back(std::move(op))); }

  /// The number of an op and the state it runs in, 0 for neither: what a thread without the GIL
  /// needs to know about its stack besides the path. GIL held.
  uint32_t intern_suffix(const ContextStack& stack);
  /// The state that a suffix stands for; empty: none. GIL held.
  const std::string& state_of(uint32_t suffix) const { return suffix_states_[suffix]; }

  PathId path(ContextId context) const {
    if (!is_launch(context)) return context;
    const LaunchContext* launch = contexts_.find(context & ~kLaunchBit);
    return launch == nullptr ? kRootPath : launch->path;
  }
  /// Null: the context has no launch metadata. `id` tells ops apart.
  const Op* op(ContextId context, uint32_t& id) const {
    const LaunchContext* launch =
        is_launch(context) ? contexts_.find(context & ~kLaunchBit) : nullptr;
    if (launch == nullptr) return nullptr;
    id = launch->op;
    return ops_.find(id);
  }
  void clear();  // nobody may be reading

 private:
  static bool is_launch(ContextId context) {
    return (context & kLaunchBit) != 0 && context < kUnknownContext;
  }
  bool has_room() const { return contexts_.has_room() && ops_.has_room(); }
  const uint32_t* find_op(const OpEntry& op) const;
  uint32_t intern_op(const OpEntry& op);

  StableArray<Op> ops_;
  StableArray<LaunchContext> contexts_;
  std::unordered_map<std::string, uint32_t> op_index_;  // by the op's bytes
  std::unordered_map<std::string, uint32_t> suffix_index_;
  std::vector<std::string> suffix_states_;  // by suffix
  KeyIndex context_index_;                  // (path, op)
};

}  // namespace proton
