/// What the hub keeps for each thread that launches work: the newest correlation id, and for
/// timelines the calls themselves. Cells are made at a thread's first launch, used again after the
/// thread has ended, and never freed.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "backends/cupti/graph_log.h"
#include "model/event.h"

namespace proton::cupti {

/// A graph was made, or a node cloned or destroyed.
struct GraphStep {
  const void* graph;  // null: a node
  void* node;
  uint64_t clone;  // its id then; 0: it was destroyed
};

/// On cache lines of its own: its thread writes at every launch.
struct alignas(64) ThreadCell {
  std::atomic<uint32_t> last_correlation{0};
  std::atomic<uint32_t> generation{0};  // of the subscription that `first_correlation` is of
  std::atomic<uint32_t> first_correlation{0};
  std::atomic<uint32_t> under_way{0};  // the launch whose call has not returned; 0: none
  std::atomic<uint64_t> launch_count{0};
  std::atomic<uint32_t> launch_epoch{0};  // SamplingGate's, while in a launch that passed it
  const void* context = nullptr;          // that of the last launch; null: none in this generation
  std::atomic<const void*> sampled_context{nullptr};  // the last one that Sampler was told of
  int64_t start_ns = 0;                               // of the call under way
  NodeLog nodes;  // graph nodes that this thread has made for scopes of its own
  /// What happened here since the last instantiation.
  std::vector<GraphStep> graph_steps;
  const void* starting_node = nullptr;  // the graph node being made
  int starting_type = 0;
  bool is_instantiating = false;
  uint64_t own_value = 0;        // the metric value whose reading this thread is launching; 0: none
  uint64_t launches_before = 0;  // of threads that had this cell earlier
  uint64_t excused_launches = 0;  // see LaunchTally
  uint32_t judged = 0;            // the newest launch that was excused, or cannot be any more
  uint32_t judged_before = 0;
  const void* judged_for = nullptr;  // the node whose making excused it
  std::mutex mutex;                  // guards `launches`
  std::vector<LaunchEvent> launches;
  std::atomic<bool> is_used{true};
  ThreadCell* next = nullptr;

  // By this thread alone
  /// Its last launch ran nothing of the program's: it is ours, or became a node.
  void excuse_last_launch(const void* node = nullptr) noexcept {
    const uint32_t last = last_correlation.load(std::memory_order_relaxed);
    if (last == judged) return;
    judged_before = judged;
    judged = last;
    judged_for = node;
    ++excused_launches;
  }
  /// The node is a clone: no launch made it.
  void take_back_excuse(const void* node) noexcept {
    if (judged_for != node) return;
    judged = judged_before;
    judged_for = nullptr;
    --excused_launches;
  }
  /// A graph is made: launches until now are not its nodes.
  void judge_launches() noexcept {
    judged = last_correlation.load(std::memory_order_relaxed);
    judged_for = nullptr;
  }
  LaunchTally tally() const noexcept {
    return {this, launch_count.load(std::memory_order_relaxed), excused_launches};
  }
};

/// The calling thread's cell; null: no memory.
extern constinit thread_local ThreadCell* this_cell __attribute__((tls_model("initial-exec")));
ThreadCell* make_cell() noexcept;
inline ThreadCell* find_cell() noexcept { return this_cell != nullptr ? this_cell : make_cell(); }

/// All cells, newest first.
ThreadCell* first_cell() noexcept;

/// The newest correlation id that any thread has seen: later launches have later ids.
uint32_t newest_correlation() noexcept;

/// The oldest correlation id that any thread has seen in this generation; 0: none.
uint32_t oldest_correlation(uint32_t generation) noexcept;

/// The launches whose calls have not returned.
std::vector<uint32_t> launches_under_way();

/// The graph nodes made by the lead thread, or made by others for what it had open.
NodeLog& lead_nodes() noexcept;

/// The correlation id of the calling thread's last launch.
inline uint32_t last_launch() noexcept {
  return this_cell == nullptr ? 0 : this_cell->last_correlation.load(std::memory_order_relaxed);
}

/// Ids start anew, those of graphs too, and calls that were noted under old ones are nobody's;
/// nobody may be launching under callbacks.
void forget_correlations() noexcept;
/// For a while nobody told of launches and graphs.
void interrupt_logs();
/// Those that lie `distance` launches or more behind `newest`, of threads that have launched
/// nothing since: once ids have wrapped around they would seem newer than all others.
void forget_old_correlations(uint32_t newest, uint64_t distance) noexcept;

uint64_t count_launches() noexcept;

/// Appends the calls noted so far to `out` and forgets them.
void take_launches(std::vector<LaunchEvent>& out);

/// Ids this far apart are still in order, whichever came first.
inline constexpr uint32_t kFarBack = 1u << 29;

/// Whether `id` comes after `other`; ids wrap around.
inline bool is_after(uint32_t id, uint32_t other) { return static_cast<int32_t>(id - other) > 0; }

}  // namespace proton::cupti
