/// The graphs of the program: where their nodes were captured, which of them metrics of scopes
/// belong to, and what CUPTI can trace as a whole. Told by callbacks on the threads that make,
/// instantiate, launch and destroy graphs; asked while records are read. Its lock is taken below
/// that of the sink table.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_set>
#include <vector>

#include "backends/common/event_batch.h"
#include "backends/cupti/graph_nodes.h"
#include "backends/cupti/launch_recorder.h"

namespace proton::cupti {

/// The executable graphs that were made while CUPTI traced whole graphs. Launching another one then
/// crashes the process inside CUPTI (seen with 13.0 and driver 580), so such a launch must find
/// that kind of tracing off. Any thread, with a lock of its own.
class GraphExecs {
 public:
  /// Whole graphs are traced from now on, or no more; forgets what it knew.
  void set_traced(bool is_traced) {
    std::lock_guard lock(mutex_);
    if (is_traced == is_traced_.load(std::memory_order_relaxed)) return;
    known_.clear();
    is_traced_.store(is_traced, std::memory_order_relaxed);
  }
  bool is_traced() const noexcept { return is_traced_.load(std::memory_order_relaxed); }

  void add(void* exec) {
    if (!is_traced()) return;
    std::lock_guard lock(mutex_);
    known_.insert(exec);
  }
  void remove(void* exec) noexcept {
    if (!is_traced()) return;
    std::lock_guard lock(mutex_);
    known_.erase(exec);
  }
  /// Whether `exec` may be launched as things are.
  bool allows(void* exec) noexcept {
    if (!is_traced()) return true;
    std::lock_guard lock(mutex_);
    return known_.contains(exec);
  }

  /// How often tracing was switched off for the sake of an older graph.
  void count_refusal() noexcept { refusal_count_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t refusal_count() const noexcept { return refusal_count_.load(); }

  void reset_after_fork() {
    new (&mutex_) std::mutex;
    is_traced_.store(false);
  }

 private:
  std::atomic<bool> is_traced_{false};
  std::atomic<uint64_t> refusal_count_{0};
  std::mutex mutex_;
  std::unordered_set<void*> known_;
};

class GraphTable : public EventAnnotator {
 public:
  GraphTable(const Library& library, LaunchRecorder& launches)
      : library_(library), launches_(launches) {}

  // Called by CUPTI, on any thread
  void on_launch(const CallbackData& data) noexcept;
  void on_resource(uint32_t cbid, const GraphData& data);

  /// Whole graphs are traced from now on, or no more.
  void set_traced(bool is_traced) { execs_.set_traced(is_traced); }
  uint64_t refusal_count() const { return execs_.refusal_count(); }

  /// Where the nodes of events were captured, and the metrics attached to them. With the lock of
  /// the sink table.
  void annotate(std::span<KernelEvent> events, std::span<EventContexts> contexts) override;

  /// What is known of a node; a root of 0: nothing.
  CapturedNode find(uint64_t node);
  /// The values that a replay of an executable reads.
  std::vector<uint64_t> values_of(uint32_t exec);
  /// Calls `call` with the nodes, under the lock.
  template <typename Call>
  auto with_nodes(Call call) {
    std::lock_guard lock(mutex_);
    return call(nodes_);
  }
  void reset_after_fork();

 private:
  void on_node(uint32_t cbid, const GraphData& data, ThreadCell& cell);
  void on_node_created(uint64_t node, const GraphData& data, ThreadCell& cell);
  void on_exec_created(void* exec, ThreadCell& cell);
  void on_destroyed(Result (*id_of)(void*, uint32_t*), void* graph);
  void check_replay(const CallbackData& data) noexcept;
  NodeLog& log_of(ThreadCell& cell);

  /// An event, and its part of metric_nodes_.
  struct EventMetrics {
    size_t event;
    size_t first;
    size_t count;
  };

  const Library& library_;
  LaunchRecorder& launches_;
  alignas(64) std::mutex mutex_;  // from here on: what the thread that reads records writes to
  GraphNodes nodes_;
  GraphExecs execs_;
  // What the events of the last batch refer to
  std::vector<EventMetrics> events_with_metrics_;
  std::vector<uint64_t> metric_nodes_;
  std::vector<std::shared_ptr<const GraphLaunches>> graph_launches_;
};

// Asked by scopes (GraphHooks of session/process.h). The lead answers for those who follow it.
/// How many graphs and nodes the calling thread has made.
uint64_t captured_count(bool is_lead) noexcept;
const std::atomic<uint64_t>& lead_captured_count() noexcept;
/// The node that stands for what was captured since `count` was so; 0: nothing.
uint64_t captured_since(bool is_lead, uint64_t count) noexcept;
/// The node that metrics of a scope belong to which was entered when `count` was so and the thread
/// had made so many launches (base/launch_count.h); 0: they count once.
uint64_t metrics_node_since(bool is_lead, uint64_t count, uint64_t launches) noexcept;

}  // namespace proton::cupti
