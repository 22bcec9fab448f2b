/// The graph nodes that were made while scopes were open, so that a scope can tell, when it is
/// left, whether it was captured and which node its metrics shall ride on. One a thread, and one
/// for the lead thread and those that follow it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <new>

namespace proton::cupti {

class NodeLog {
 public:
  /// How many nodes were made so far.
  uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  const std::atomic<uint64_t>& counter() const noexcept { return count_; }

  void add(uint64_t node) {
    std::lock_guard lock(mutex_);
    const auto graph = static_cast<uint32_t>(node >> 32);
    if (runs_.empty() || runs_.back().graph != graph) {
      if (runs_.size() >= kRunLimit) runs_.pop_front();
      runs_.push_back({count(), graph, node, node});
    }
    runs_.back().before = runs_.back().last;
    runs_.back().last = node;
    count_.store(count() + 1, std::memory_order_relaxed);
  }

  /// The node that was added last turns out to be a clone.
  void take_back(uint64_t node) {
    std::lock_guard lock(mutex_);
    if (runs_.empty() || runs_.back().last != node) return;
    count_.store(count() - 1, std::memory_order_relaxed);
    runs_.back().last = runs_.back().before;
    if (runs_.back().begin == count()) runs_.pop_back();
  }

  /// Of the nodes made since `count` was so: the last one in the graph that the first one is of. A
  /// scope that begins outside of a conditional body thus runs once a replay, and one that lies
  /// within it as often as the body. 0: none.
  uint64_t last_since(uint64_t count) {
    std::lock_guard lock(mutex_);
    if (this->count() == count || runs_.empty()) return 0;
    size_t first = 0;
    while (first + 1 < runs_.size() && runs_[first + 1].begin <= count) ++first;
    for (size_t at = runs_.size(); at-- > first + 1;) {
      if (runs_[at].graph == runs_[first].graph) return runs_[at].last;
    }
    return runs_[first].last;
  }

  void reset_after_fork() { new (&mutex_) std::mutex; }

 private:
  static constexpr size_t kRunLimit = 64;

  /// Nodes of one graph, made one after the other.
  struct Run {
    uint64_t begin;
    uint32_t graph;
    uint64_t last;
    uint64_t before;  // the one before the last
  };

  std::mutex mutex_;
  std::atomic<uint64_t> count_{0};
  std::deque<Run> runs_;
};

}  // namespace proton::cupti
