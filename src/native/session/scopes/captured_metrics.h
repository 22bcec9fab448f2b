/// Metrics of scopes that were captured into CUDA graphs: they belong to a captured node, and count
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

struct CapturedScope {
  PathId shadow;                    // the scope's path
  PathId python = kUnknownContext;  // the same in frames, where a session wanted those
  std::vector<OpMetric> metrics = {};
};

class CapturedMetrics {
 public:
  void add(uint64_t node, CapturedScope scope) {
    std::lock_guard lock(mutex_);
    scopes_[node].push_back(std::move(scope));
  }

  /// The node is gone.
  void forget(uint64_t node) noexcept {
    std::lock_guard lock(mutex_);
    scopes_.erase(node);
  }

  /// Calls `visit` with each scope of a node; it must not come back here.
  template <typename Visit>
  void visit(uint64_t node, Visit visit) {
    std::lock_guard lock(mutex_);
    const auto found = scopes_.find(node);
    if (found == scopes_.end()) return;
    for (const CapturedScope& scope : found->second) visit(scope);
  }

  /// Calls `visit` with each path; what it returns takes the path's place.
  template <typename Visit>
  void move_paths(Visit visit) {
    std::lock_guard lock(mutex_);
    for (auto& [node, scopes] : scopes_) {
      for (CapturedScope& scope : scopes) {
        scope.shadow = visit(scope.shadow);
        if (scope.python != kUnknownContext) scope.python = visit(scope.python);
      }
    }
  }

  size_t size() {
    std::lock_guard lock(mutex_);
    return scopes_.size();
  }

  void reset_after_fork() { new (&mutex_) std::mutex; }

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::vector<CapturedScope>> scopes_;  // by captured node
};

}  // namespace proton
