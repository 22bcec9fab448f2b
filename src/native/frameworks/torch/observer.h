/// Operators and backward nodes of torch as contexts: which are open on a thread, how often each
/// ran and for how long, and which forward operator a backward node belongs to.
///
/// A forward operator stands below what its thread runs (ObserverHost::here) and the operators that
/// are open around it. Only those of Python (an autograd.Function, a record_function that the host
/// does not keep) have nothing below them: frames and modules inside count for more, so what they
/// run stands where it is called, and their time is what it leaves. A backward node stands below
/// its forward operator: `<backward>`, then the node, then the operators that it calls. Those that
/// run the forward pass again (checkpoints) have
/// `<recompute>` between.
///
/// Tier kBlame observes backward nodes alone, and learns from launches where numbers belong;
/// forward operators then cost nothing. Tier kOps observes operators too.
#pragma once

#include <cstdint>
#include <vector>

#include "frameworks/torch/observer_host.h"
#include "frameworks/torch/torch_library.h"
#include "model/ids.h"

namespace proton {

/// Calls of one operator or node in one context since they were last taken.
struct OperatorSum {
  ContextId context;
  uint64_t calls;
  int64_t time_ns;  // inclusive, but of those that have nothing below them
};

/// Since the last `clear`.
struct ObserverCounts {
  uint64_t backward_nodes = 0;         // that began
  uint64_t backward_launches = 0;      // that asked for their context
  uint64_t backward_by_neighbour = 0;  // of these, between nodes or in one without a number
  uint64_t unknown_forward = 0;        // numbered nodes whose forward operator is not known
};

class TorchObserver {
 public:
  // Under the GIL
  /// Registers callbacks with torch, switched off. They stay registered, as torch cannot remove
  /// them safely beside running operators; another library takes the place of an earlier one.
  void open(const TorchLibrary& library);
  /// Calls `start` for every call of that kind until the next `set_tier`.
  void watch(RecordScope scope, void (*start)(const RecordFunction* function, RecordScope scope));
  /// Contexts are `host`'s from now on; opens the library where `open` has not.
  void attach(const TorchLibrary& library, const RecordFields& fields, const ObserverHost& host);
  void set_tier(ObserverTier tier);
  ObserverTier tier() const;
  /// What all threads have added up since the last call, each context once and in order. Operators
  /// that are open count when they end.
  std::vector<OperatorSum> take_sums();
  ObserverCounts counts() const;
  /// Forgets sums, numbers and counts; contexts follow ObserverHost::epoch by themselves.
  void clear();
  /// In a forked child, safe in a pthread_atfork handler: off until `set_tier`.
  void reset_after_fork() noexcept;

  // Any thread
  /// Where a launch of the calling thread belongs: the innermost open operator or node, or between
  /// two nodes of a backward pass the first of them. kNoContext: neither; ask the host.
  ContextId context() noexcept;
  /// Tier kBlame, at a launch outside of backward nodes: numbers up to the present one that have no
  /// place yet belong to `context`.
  void note_launch(ContextId context) noexcept;
};

/// Never destroyed: threads may outlive main.
extern TorchObserver& torch_observer;

}  // namespace proton
