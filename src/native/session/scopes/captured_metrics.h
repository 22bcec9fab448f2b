/// Metrics of scopes that were captured into CUDA graphs: they ride on a captured node, and count
/// whenever it runs. Process-wide, because a graph outlives the session that saw its capture.
/// Any thread; its lock is the innermost one.
#pragma once

#include <cstdint>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "model/ids.h"
#include "session/scopes/launch_contexts.h"

namespace proton {

struct Rider {
  PathId shadow;                    // the scope's path
  PathId python = kUnknownContext;  // the same in frames, where a session wanted those
  std::vector<OpMetric> metrics = {};
};

class GraphRiders {
 public:
  void add(uint64_t node, Rider rider) {
    std::lock_guard lock(mutex_);
    riders_[node].push_back(std::move(rider));
  }

  /// The node is gone.
  void forget(uint64_t node) noexcept {
    std::lock_guard lock(mutex_);
    riders_.erase(node);
  }

  /// Calls `visit` with each rider of a node; it must not come back here.
  template <typename Visit>
  void visit(uint64_t node, Visit visit) {
    std::lock_guard lock(mutex_);
    const auto found = riders_.find(node);
    if (found == riders_.end()) return;
    for (const Rider& rider : found->second) visit(rider);
  }

  /// Calls `visit` with each path; what it returns takes the path's place.
  template <typename Visit>
  void move_paths(Visit visit) {
    std::lock_guard lock(mutex_);
    for (auto& [node, riders] : riders_) {
      for (Rider& rider : riders) {
        rider.shadow = visit(rider.shadow);
        if (rider.python != kUnknownContext) rider.python = visit(rider.python);
      }
    }
  }

  size_t size() {
    std::lock_guard lock(mutex_);
    return riders_.size();
  }

  void reset_after_fork() { new (&mutex_) std::mutex; }

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::vector<Rider>> riders_;  // by captured node
};

}  // namespace proton
