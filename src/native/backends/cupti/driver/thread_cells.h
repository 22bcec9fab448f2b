/// What the hub keeps for each thread that launches work or makes graphs; see LaunchCells.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <new>
#include <vector>

#include "backends/common/launch_cells.h"

namespace proton::cupti {

/// What a thread has launched so far.
struct LaunchTally {
  const void* thread;
  uint64_t launches;
  uint64_t idle;  // those of them that ran no work of the program's: captured, or ours
};

/// Which of a thread's launches ran no work of the program's: they became nodes, or are ours. By
/// that thread alone.
class IdleLaunches {
 public:
  /// The thread's last launch is one; `node` is what it became, if anything.
  void add(uint32_t last, const void* node = nullptr) noexcept {
    if (last == judged_) return;
    judged_before_ = judged_;
    judged_ = last;
    node_ = node;
    ++count_;
  }
  /// The node is a clone: no launch made it.
  void take_back(const void* node) noexcept {
    if (node_ != node) return;
    judged_ = judged_before_;
    node_ = nullptr;
    --count_;
  }
  /// A graph is made: launches until now are not its nodes.
  void begin_graph(uint32_t last) noexcept {
    judged_ = last;
    node_ = nullptr;
  }
  uint64_t count() const noexcept { return count_; }

 private:
  uint64_t count_ = 0;
  uint32_t judged_ = 0;  // the newest launch that is idle, or cannot be any more
  uint32_t judged_before_ = 0;
  const void* node_ = nullptr;  // whose making judged it
};

/// The graphs and graph nodes that were made while scopes were open, so that a scope can tell, when
/// it is left, whether it was captured and to which node its metrics belong. One a thread, and one
/// for the lead thread and those that follow it.
class NodeLog {
 public:
  /// How many graphs and nodes were made so far.
  uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  const std::atomic<uint64_t>& counter() const noexcept { return count_; }

  /// A graph was made: CUPTI tells it when a capture begins.
  void begin(const void* graph, const LaunchTally& tally) {
    std::lock_guard lock(mutex_);
    if (begun_.size() >= kLimit) begun_.pop_front();
    begun_.push_back({graph, count(), tally});
    count_.store(count() + 1, std::memory_order_relaxed);
  }

  /// For a while nobody told what was made and launched: until now.
  void interrupt() {
    {
      std::lock_guard lock(mutex_);
      if (!begun_.empty() && begun_.back().graph == nullptr) begun_.pop_back();
    }
    begin(nullptr, {nullptr, 0, 0});
  }

  /// `graph` is the handle that `begin` was given.
  void add(uint64_t node, const void* graph = nullptr) {
    std::lock_guard lock(mutex_);
    const auto number = static_cast<uint32_t>(node >> 32);
    if (runs_.empty() || runs_.back().graph != number) {
      const Origin origin = origin_of(number, graph);
      if (runs_.size() >= kLimit) runs_.pop_front();
      runs_.push_back({number, origin, 0, {}, {}});
    }
    Run& run = runs_.back();
    ++run.size;
    run.before = run.last;
    run.last = {node, count()};
    count_.store(count() + 1, std::memory_order_relaxed);
  }

  /// The node that was added last turns out to be a clone.
  void take_back(uint64_t node) {
    std::lock_guard lock(mutex_);
    if (runs_.empty() || runs_.back().last.node != node) return;
    count_.store(count() - 1, std::memory_order_relaxed);
    runs_.back().last = runs_.back().before;
    if (--runs_.back().size == 0) runs_.pop_back();
  }

  /// The graph turns out to be an executable's: who made it was the driver.
  void take_back_graph(uint32_t graph) {
    std::lock_guard lock(mutex_);
    std::erase_if(runs_, [&](const Run& run) { return run.graph == graph; });
  }

  /// Of the nodes made since `count` was so: the last one in the graph that the first one is of. A
  /// scope that begins outside of a conditional body thus runs once a replay, and one that lies
  /// within it as often as the body. 0: none.
  uint64_t last_since(uint64_t count) {
    std::lock_guard lock(mutex_);
    const size_t first = first_since(count);
    return first == runs_.size() ? 0 : last_of(first);
  }

  /// The same for a scope's metrics, which count at every replay if the thread had begun the graph
  /// before it entered the scope, or if the scope holds nothing else. That was when `count` was so,
  /// and its thread had made so many launches; `now` is of the thread that leaves it.
  uint64_t metrics_node_since(uint64_t count, uint64_t launches, const LaunchTally& now) {
    std::lock_guard lock(mutex_);
    const size_t first = first_since(count);
    for (size_t at = first; at < runs_.size(); ++at) {
      const Origin& origin = runs_[at].origin;
      const bool is_ours = origin.thread == nullptr || origin.thread == now.thread;
      if (is_ours && origin.begun <= count) return last_of(at);
    }
    return is_alone(first, count, launches, now) ? last_of(first) : 0;
  }

  /// For a new thread.
  void clear() noexcept {
    std::lock_guard lock(mutex_);
    count_.store(0, std::memory_order_relaxed);
    begun_.clear();
    runs_.clear();
  }

  /// The ids of graphs may start anew.
  void forget() noexcept {
    std::lock_guard lock(mutex_);
    begun_.clear();
    runs_.clear();
  }

  void reset_after_fork() { new (&mutex_) std::mutex; }

 private:
  static constexpr size_t kLimit = 64;

  struct Begun {
    const void* graph;  // null: nobody told for a while
    uint64_t at;        // the count then
    LaunchTally tally;
  };
  struct Origin {
    uint64_t begun = 0;            // the count when the graph had been made, or later
    const void* thread = nullptr;  // that made it; null: nobody told
  };
  struct Made {
    uint64_t node = 0;
    uint64_t at = 0;  // the count then
  };
  /// Nodes of one graph, made one after the other.
  struct Run {
    uint32_t graph;
    Origin origin;
    uint64_t size;
    Made last;
    Made before;  // the one before the last
  };

  Origin origin_of(uint32_t number, const void* graph) const {
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
      if (run->graph == number) return run->origin;
    }
    for (auto one = begun_.rbegin(); one != begun_.rend(); ++one) {  // handles come again
      if (one->graph == graph) return {one->at + 1, one->tally.thread};
    }
    // Nobody told of it: it is an older one, or part of the newest.
    return {begun_.empty() ? 0 : begun_.back().at + 1, nullptr};
  }

  /// Whether one graph is all that was made and launched.
  bool is_alone(size_t first, uint64_t count, uint64_t launches, const LaunchTally& now) const {
    const auto is_other = [&](const Run& run) { return run.graph != runs_[first].graph; };
    if (first == runs_.size()) return false;
    if (std::any_of(runs_.begin() + static_cast<ptrdiff_t>(first), runs_.end(), is_other)) {
      return false;
    }
    const auto begun = std::find_if(begun_.begin(), begun_.end(),
                                    [&](const Begun& one) { return one.at >= count; });
    if (begun == begun_.end()) return false;
    const LaunchTally& then = begun->tally;
    return then.thread == now.thread && then.launches == launches &&
           now.launches - then.launches == now.idle - then.idle;
  }

  /// The first run that has nodes made since; runs_.size(): none.
  size_t first_since(uint64_t count) const {
    size_t first = runs_.size();
    while (first > 0 && runs_[first - 1].last.at >= count) --first;
    return first;
  }

  uint64_t last_of(size_t first) const {
    for (size_t at = runs_.size(); at-- > first + 1;) {
      if (runs_[at].graph == runs_[first].graph) return runs_[at].last.node;
    }
    return runs_[first].last.node;
  }

  std::mutex mutex_;
  std::atomic<uint64_t> count_{0};
  std::deque<Begun> begun_;
  std::deque<Run> runs_;
};

/// A graph was made, or a node cloned or destroyed.
struct GraphStep {
  const void* graph;  // null: a node
  void* node;
  uint64_t clone;  // its id then; 0: it was destroyed
};

/// The graphs that a thread is making.
struct GraphMaking {
  NodeLog nodes;                        // made for scopes of its own
  std::vector<GraphStep> steps;         // since the last instantiation
  const void* starting_node = nullptr;  // the one being made
  int starting_type = 0;
  bool is_instantiating = false;
  IdleLaunches idle_launches;
};

struct ThreadCell : LaunchCell {
  std::atomic<uint32_t> launch_epoch{0};  // SamplingGate's, while in a launch that passed it
  std::atomic<const void*> sampled_context{nullptr};  // the last one that Sampler was told of
  uint64_t own_value = 0;  // the metric value whose reading this thread is launching; 0: none
  GraphMaking graphs;

  // By this thread alone
  uint32_t last_launch() const noexcept { return last_correlation.load(std::memory_order_relaxed); }
  LaunchTally tally() const noexcept {
    return {this, launch_count.load(std::memory_order_relaxed), graphs.idle_launches.count()};
  }
};

/// The calling thread's cell; null: it has none yet.
extern constinit thread_local ThreadCell* this_cell __attribute__((tls_model("initial-exec")));
/// Makes it, or takes that of a thread that has ended; null: no memory.
ThreadCell* make_cell() noexcept;
inline ThreadCell* find_cell() noexcept {
  ThreadCell* cell = this_cell;
  if (cell != nullptr) [[likely]] {
    return cell;
  }
  return make_cell();
}

LaunchCells& launch_cells() noexcept;

template <typename Visit>
void visit_cells(Visit&& visit) {
  for (LaunchCell* cell = launch_cells().first(); cell != nullptr; cell = cell->next) {
    visit(static_cast<ThreadCell&>(*cell));
  }
}

/// The newest correlation id that any thread has seen: later launches have later ids.
uint32_t newest_correlation() noexcept;

/// The correlation id of the calling thread's last launch.
inline uint32_t last_launch() noexcept {
  return this_cell == nullptr ? 0 : this_cell->last_launch();
}

/// The graph nodes made by the lead thread, or made by others for what it had open.
NodeLog& lead_nodes() noexcept;

/// Calls `change` with every log: those of the threads and the lead's.
template <typename Change>
void change_logs(Change&& change) {
  visit_cells([&](ThreadCell& cell) { change(cell.graphs.nodes); });
  change(lead_nodes());
}

}  // namespace proton::cupti
