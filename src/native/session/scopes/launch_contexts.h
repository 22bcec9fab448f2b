/// Launch metadata as ids: what a launching thread can hand to a driver's table by one store.
/// A context is a path, or a path together with an op: the name and metrics that launch metadata
/// gave for it; or a pair of contexts, where sessions with frames of both kinds are active. Equal
/// ops share one id, so that memory grows with distinct ones. Written under the GIL but for pairs,
/// read by any thread that got an id.
#pragma once

#include <mutex>
#include <new>
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

/// One launch, for sessions that record a framework and for those that record Python frames.
struct ContextPair {
  ContextId framework;
  ContextId python;
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

  /// Any thread. What `path` and `op` then take apart again; one context, where both are the same.
  ContextId pair(ContextId framework, ContextId python) noexcept;
  /// Null: it is no pair.
  const ContextPair* find_pair(ContextId context) const {
    constexpr ContextId kPairBits = kLaunchBit | kRangeBit;
    const bool is_pair = (context & kPairBits) == kPairBits && context < kUnknownContext;
    return is_pair ? pairs_.find(context & ~kPairBits) : nullptr;
  }

  /// `is_python`: for a session that records Python frames.
  PathId path(ContextId context, bool is_python = false) const {
    if (!is_launch(context)) return context;
    context = of_pair(context, is_python);
    if (!is_launch(context)) return context;
    const LaunchContext* launch = contexts_.find(context & ~kLaunchBit);
    return launch == nullptr ? kRootPath : launch->path;
  }
  /// Null: the context has no launch metadata. `id` tells ops apart.
  const Op* op(ContextId context, uint32_t& id, bool is_python = false) const {
    if (!is_launch(context)) return nullptr;
    context = of_pair(context, is_python);
    const LaunchContext* launch =
        is_launch(context) ? contexts_.find(context & ~kLaunchBit) : nullptr;
    if (launch == nullptr) return nullptr;
    id = launch->op;
    return ops_.find(id);
  }
  void clear();  // nobody may be reading
  /// In a forked child: another thread may have held the lock of pairs.
  void reset_after_fork() noexcept { new (&pair_mutex_) std::mutex; }

 private:
  static bool is_launch(ContextId context) {
    return (context & kLaunchBit) != 0 && context < kUnknownContext;
  }
  ContextId of_pair(ContextId context, bool is_python) const {
    const ContextPair* pair = find_pair(context);
    if (pair == nullptr) return context;
    return is_python ? pair->python : pair->framework;
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
  std::mutex pair_mutex_;                   // guards what follows for those who add
  StableArray<ContextPair> pairs_;
  KeyIndex pair_index_;
};

}  // namespace proton
