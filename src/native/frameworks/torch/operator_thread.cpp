#include "frameworks/torch/operator_thread.h"

#include <algorithm>
#include <string_view>

namespace proton {
namespace {

constexpr const char* kBackwardName = "<backward>";
constexpr const char* kRecomputeName = "<recompute>";
constexpr std::string_view kEvaluationPrefix = "autograd::engine::evaluate_function: ";
constexpr uint64_t kMostGuesses = 1024;  // numbers between two launches

bool is_evaluation(const char* name) {
  return name[0] == 'a' && name[1] == 'u' && std::string_view(name).starts_with(kEvaluationPrefix);
}

}  // namespace

OperatorThread::OperatorThread(ObserverParts& parts)
    : parts_(parts),
      thread_id_(parts.library.thread_id()),
      generation_(parts.generation()),
      sites_(std::make_unique<SiteTable>()) {
  open_.reserve(64);
}

OperatorThread::~OperatorThread() {
  if (ring_ != nullptr) parts_.rings.end(thread_id_);
}

void OperatorThread::renew() {
  generation_ = parts_.generation();
  for (Open& open : open_) open.site = open.last_child = nullptr;
  sites_ = std::make_unique<SiteTable>();
  ring_ = nullptr;
  found_ring_ = nullptr;
  last_node_ = {};
  last_outermost_ = nullptr;
  noted_ = 0;
}

ContextId OperatorThread::below(ContextId parent, FrameKind kind, const char* name) const {
  return parent == kNoContext ? kNoContext : parts_.host.below(parent, kind, name);
}

Site& OperatorThread::site_of(ContextId parent, FrameKind kind, const char* name) {
  return sites_->find_or_add(parent, kind, name, [&] { return below(parent, kind, name); });
}

Site& OperatorThread::next_site(ContextId parent, FrameKind kind, const char* name) {
  Open* const top = open_.empty() ? nullptr : &open_.back();
  Site*& last = top == nullptr ? last_outermost_ : top->last_child;
  Site* const before = last;
  Site* const first_of = top == nullptr ? nullptr : top->site;
  Site* const guess =
      before != nullptr ? before->next : (first_of != nullptr ? first_of->first : nullptr);
  if (guess != nullptr && guess->is(parent, kind, name)) [[likely]] {
    return *(last = guess);
  }
  Site& site = site_of(parent, kind, name);
  if (before != nullptr) {
    before->next = &site;
  } else if (first_of != nullptr) {
    first_of->first = &site;
  }
  return *(last = &site);
}

int OperatorThread::graph_task() const {
  return parts_.library.graph_task == nullptr ? -1 : parts_.library.graph_task();
}

ForwardRing& OperatorThread::ring() {
  if (ring_ == nullptr) ring_ = parts_.rings.add(thread_id_, generation_);
  return *ring_;
}

ContextId OperatorThread::parent_of(int64_t number) {
  if (open_.empty()) return parts_.host.here();
  const Open& top = open_.back();
  if (top.kind == Kind::kOperator && top.site != nullptr) [[likely]] {
    return top.site->context;
  }
  return special_parent(top, number >= 0);
}

ContextId OperatorThread::special_parent(const Open& top, bool has_number) {
  if (is_in_python()) return parts_.host.here();
  if (top.site != nullptr) {
    // Gradient is on again inside of a node: a checkpoint runs its forward pass once more.
    const bool is_recomputing = has_number && !top.is_grad_enabled;
    return is_recomputing ? recomputed_below(*top.site) : top.site->context;
  }
  if (top.kind == Kind::kEvaluation) {
    if (Site* const before = node_before()) return before->context;
  }
  return parts_.host.here();
}

ContextId OperatorThread::recomputed_below(Site& node) {
  if (node.recomputed == nullptr) {
    node.recomputed = &site_of(node.context, FrameKind::kBackward, kRecomputeName);
  }
  return node.recomputed->context;
}

void OperatorThread::push(const RecordFunction* function, Site* site, Kind kind,
                          bool is_grad_enabled, bool is_guess) {
  open_.push_back({function, site, nullptr, parts_.clock.read(), 0, 0, innermost_node_, kind,
                   is_grad_enabled, is_guess});
}

bool OperatorThread::is_in_python() const {
  if (open_.empty()) return true;
  return open_.back().kind == Kind::kPython || open_.back().kind == Kind::kRegion;
}

void OperatorThread::begin_operator(const RecordFunction* function, const char* name,
                                    int64_t number) {
  if (is_evaluation(name)) return push(function, nullptr, Kind::kEvaluation);
  Site& site = next_site(parent_of(number), FrameKind::kOperator, name);
  // Operators that make no node see the number of the next one that does: the last one stands.
  if (number >= 0) ring().put(static_cast<uint64_t>(number), site.context);
  const bool runs_python = site.is_python && is_in_python();
  push(function, &site, runs_python ? Kind::kPython : Kind::kOperator);
}

void OperatorThread::begin_scope(const RecordFunction* function, const char* name) {
  const bool runs_python = is_in_python();
  if (runs_python && parts_.host.enter != nullptr) {
    const ContextId region = parts_.host.enter(name);
    if (region != kNoContext) {
      Site& site = sites_->find_or_add(region, FrameKind::kScope, "", [&] { return region; });
      return push(function, &site, Kind::kRegion);
    }
  }
  Site& site = next_site(parent_of(-1), FrameKind::kScope, name);
  push(function, &site, runs_python ? Kind::kPython : Kind::kOperator);
}

Site* OperatorThread::node_before() const {
  if (last_node_.site == nullptr) return nullptr;
  const int task = graph_task();
  return task >= 0 && task == last_node_.graph_task ? last_node_.site : nullptr;
}

ForwardRing::Place OperatorThread::forward_of(int64_t number, uint64_t forward_thread) {
  if (number < 0) {
    Site* neighbour = node_before();
    if (neighbour == nullptr && innermost_node_ >= 0) neighbour = open_[innermost_node_].site;
    return {neighbour == nullptr ? kNoContext : neighbour->forward, true};
  }
  if (found_ring_ == nullptr || found_thread_ != forward_thread) {
    found_ring_ = parts_.rings.find(forward_thread);
    found_thread_ = forward_thread;
  }
  ForwardRing::Place place;
  if (found_ring_ != nullptr && found_ring_->generation() == generation_) {
    place = found_ring_->find(static_cast<uint64_t>(number));
    found_ring_->look_at(static_cast<uint64_t>(number), place.context != kNoContext);
  } else {
    found_ring_ = nullptr;  // the thread may get a ring of this generation
  }
  if (place.context == kNoContext) parts_.unknown_forward.fetch_add(1, std::memory_order_relaxed);
  return place;
}

void OperatorThread::begin_node(const RecordFunction* function, const char* name, int64_t number,
                                uint64_t forward_thread) {
  parts_.backward_nodes.fetch_add(1, std::memory_order_relaxed);
  const auto [forward, is_guess] = forward_of(number, forward_thread);
  const ContextId parent = forward == kNoContext ? parts_.host.here() : forward;
  Site& site = sites_->find_or_add(parent, FrameKind::kBackward, name, [&] {
    const ContextId marker = below(parent, FrameKind::kBackward, kBackwardName);
    return below(marker, FrameKind::kOperator, name);
  });
  site.forward = forward;
  const bool is_grad_enabled =
      parts_.library.is_grad_enabled == nullptr || parts_.library.is_grad_enabled();
  const bool counts = parts_.tier.load(std::memory_order_relaxed) == ObserverTier::kOps;
  Kind kind = counts ? Kind::kNode : Kind::kUncountedNode;
  if (!open_.empty() && open_.back().kind == Kind::kEvaluation && open_.back().site == nullptr) {
    open_.back().site = &site;
    open_.back().is_grad_enabled = is_grad_enabled;
    open_.back().is_guess = is_guess;
    kind = Kind::kUncountedNode;
  }
  push(function, &site, kind, is_grad_enabled, is_guess);
  innermost_node_ = static_cast<int32_t>(open_.size()) - 1;
}

void OperatorThread::close(const Open& open, uint64_t now_ticks) {
  if (open.kind == Kind::kNode || open.kind == Kind::kUncountedNode) {
    innermost_node_ = open.outer_node;
    last_node_ = {open.site, graph_task()};
  } else if (open.kind == Kind::kRegion) {
    parts_.host.leave();
  }
  const uint64_t ticks = now_ticks - std::min(now_ticks, open.start_ticks);
  if (open.kind != Kind::kUncountedNode && open.site != nullptr) {
    open.site->add(ticks - std::min(ticks, open.elsewhere_ticks));
  }
  if (!open_.empty()) tell_outer(open, ticks);
}

void OperatorThread::tell_outer(const Open& ended, uint64_t ticks) {
  Open& outer = open_.back();
  if (ended.kind == Kind::kEvaluation || ended.kind == Kind::kNode) {
    outer.elsewhere_ticks += ticks;  // a backward pass that is run from inside of something
    outer.backward_ticks += ticks;
  } else {
    outer.elsewhere_ticks += outer.kind == Kind::kPython ? ticks : ended.backward_ticks;
    outer.backward_ticks += ended.backward_ticks;
  }
}

void OperatorThread::end(const RecordFunction* function) {
  const uint64_t now_ticks = parts_.clock.read();
  if (!open_.empty() && open_.back().function == function) [[likely]] {
    const Open open = open_.back();
    open_.pop_back();
    return close(open, now_ticks);
  }
  const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                  [&](const Open& open) { return open.function == function; });
  if (found == open_.rend()) return;  // it began on another thread, or unseen
  while (open_.back().function != function) {
    Open lost = open_.back();
    open_.pop_back();
    lost.site = nullptr;  // when it ends is not known
    close(lost, now_ticks);
  }
  const Open open = open_.back();
  open_.pop_back();
  close(open, now_ticks);
}

ContextId OperatorThread::count_launch(ContextId context, bool is_guess) {
  parts_.backward_launches.fetch_add(1, std::memory_order_relaxed);
  if (is_guess) parts_.backward_by_neighbour.fetch_add(1, std::memory_order_relaxed);
  return context;
}

ContextId OperatorThread::context() {
  const Open* const top = open_.empty() ? nullptr : &open_.back();
  if (top != nullptr && is_in_python()) return kNoContext;
  if (top == nullptr || top->site == nullptr) {
    Site* const before = node_before();
    return before == nullptr ? kNoContext : count_launch(before->context, true);
  }
  if (top->kind == Kind::kOperator && innermost_node_ < 0) return top->site->context;
  const bool is_recomputing = !top->is_grad_enabled && parts_.library.is_grad_enabled();
  const Open& node = top->kind == Kind::kOperator ? open_[innermost_node_] : *top;
  return count_launch(is_recomputing ? recomputed_below(*top->site) : top->site->context,
                      node.is_guess);
}

void OperatorThread::note_launch(ContextId context) {
  const uint64_t next = parts_.library.next_number();
  if (next == noted_ || next == 0) return;  // the first launch for a number stands
  if (noted_ != 0 && next > noted_ + 1) {
    const uint64_t first = std::max(noted_, next - 1 - std::min(next - 1, kMostGuesses));
    for (uint64_t number = first; number < next - 1; ++number) ring().put(number, context, true);
  }
  ring().put(next - 1, context);
  noted_ = next;
}

}  // namespace proton
