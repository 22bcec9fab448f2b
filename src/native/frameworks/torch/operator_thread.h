/// What one thread runs of torch: its open operators and backward nodes, where they stand, and what
/// they add up to. Called on that thread alone, by torch's callbacks and by launches.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/tick_clock.h"
#include "frameworks/torch/forward_ring.h"
#include "frameworks/torch/observer_host.h"
#include "frameworks/torch/site_table.h"
#include "frameworks/torch/torch_library.h"

namespace proton {

/// What all threads share.
struct ObserverParts {
  TorchLibrary library{};
  RecordFields fields{};
  ObserverHost host{};
  TickClock clock;
  ForwardRings rings;
  std::atomic<ObserverTier> tier{ObserverTier::kOff};
  std::atomic<uint32_t> clearings{0};
  std::atomic<uint64_t> backward_nodes{0};
  std::atomic<uint64_t> backward_launches{0};
  std::atomic<uint64_t> backward_by_neighbour{0};
  std::atomic<uint64_t> unknown_forward{0};

  /// Changes when contexts that a thread remembers are void.
  uint64_t generation() const {
    return uint64_t{clearings.load(std::memory_order_relaxed)} << 32 |
           host.epoch->load(std::memory_order_relaxed);
  }
};

class OperatorThread {
 public:
  explicit OperatorThread(ObserverParts& parts);
  ~OperatorThread();
  OperatorThread(const OperatorThread&) = delete;
  OperatorThread& operator=(const OperatorThread&) = delete;

  /// Whether its contexts are of the present; else `renew` before anything else.
  bool is_current() const { return generation_ == parts_.generation(); }
  /// Forgets contexts, sums and numbers. What is open stays open, without a place. Whoever reads
  /// sums must be kept out.
  void renew();

  /// `number`: sequence number; -1: none.
  void begin_operator(const RecordFunction* function, const char* name, int64_t number);
  void begin_scope(const RecordFunction* function, const char* name);
  void begin_node(const RecordFunction* function, const char* name, int64_t number,
                  uint64_t forward_thread);
  /// Ends what began with `function`, and whatever began after it and did not end on this thread.
  void end(const RecordFunction* function);

  ContextId context();
  void note_launch(ContextId context);

  SiteTable& sites() { return *sites_; }

 private:
  enum class Kind : uint8_t {
    kOperator,
    kPython,      // runs Python: what is inside stands where it is called, and counts there
    kRegion,      // the same, but the host keeps it, and what is inside stands below it
    kEvaluation,  // the engine round a node; its site is the node's, from the node's start on
    kNode,
    kUncountedNode,  // inside of an evaluation, which counts for both, or of tier kBlame
  };
  struct Open {
    const RecordFunction* function;
    Site* site;        // null: not known yet, or of an earlier generation
    Site* last_child;  // that began last below it; null: none did yet
    uint64_t start_ticks;
    uint64_t elsewhere_ticks;  // of what ran inside and does not stand below it
    uint64_t backward_ticks;   // of these, what stands below its own forward operators
    int32_t outer_node;        // place on the stack of the node around a node; -1: none
    Kind kind;
    bool is_grad_enabled;  // of a node, when it began: its own operators have numbers then
    bool is_guess;         // of a node: its forward operator is that of a neighbour
  };
  struct LastNode {
    Site* site = nullptr;
    int graph_task = -1;
  };

  void push(const RecordFunction* function, Site* site, Kind kind, bool is_grad_enabled = true,
            bool is_guess = false);
  void close(const Open& open, uint64_t now_ticks);
  /// Has the one around it leave out what does not stand below that.
  void tell_outer(const Open& ended, uint64_t ticks);
  /// Whether Python runs here now, not called by an operator or node.
  bool is_in_python() const;
  /// Where something with that number begins now.
  ContextId parent_of(int64_t number);
  ContextId special_parent(const Open& top, bool has_number);
  ContextId below(ContextId parent, FrameKind kind, const char* name) const;
  Site& site_of(ContextId parent, FrameKind kind, const char* name);
  /// The same for what begins now, guessed from what came next the last time.
  Site& next_site(ContextId parent, FrameKind kind, const char* name);
  ContextId recomputed_below(Site& node);
  /// The forward operator of a node, by its number or by its neighbours.
  ForwardRing::Place forward_of(int64_t number, uint64_t forward_thread);
  ContextId count_launch(ContextId context, bool is_guess);
  /// The node that ended last in the backward pass that runs here now; null: there is none.
  Site* node_before() const;
  int graph_task() const;
  ForwardRing& ring();

  ObserverParts& parts_;
  const uint64_t thread_id_;
  uint64_t generation_;
  std::vector<Open> open_;
  std::unique_ptr<SiteTable> sites_;
  std::shared_ptr<ForwardRing> ring_;  // null: no number was put yet
  LastNode last_node_;
  Site* last_outermost_ = nullptr;  // that began last with nothing open around it
  int32_t innermost_node_ = -1;     // place on the stack
  uint64_t noted_ = 0;              // one past the number that the last launch was noted for
  uint64_t found_thread_ = 0;       // whose ring `found_ring_` is
  std::shared_ptr<ForwardRing> found_ring_;
};

}  // namespace proton
