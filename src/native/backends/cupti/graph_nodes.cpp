#include "backends/cupti/graph_nodes.h"

#include <unordered_set>

namespace proton::cupti {

void GraphNodes::add(uint64_t node, const NodeContexts& contexts) {
  bool is_new;
  uint32_t* at = index_.find_or_add(node + 1, is_new);
  if (is_new) {
    *at = static_cast<uint32_t>(entries_.size());
    entries_.push_back({node, contexts, false});
    return;
  }
  Entry& entry = entries_[*at];
  if (entry.is_dead) std::erase(dead_, node);
  entry = {node, contexts, false};
}

void GraphNodes::copy(uint64_t node, uint64_t original) {
  const NodeContexts* found = find(original);
  if (found == nullptr) return;
  const NodeContexts contexts = *found;
  add(node, contexts);
}

void GraphNodes::remove(uint64_t node) {
  const uint32_t* at = index_.find(node + 1);
  if (at == nullptr || entries_[*at].is_dead) return;
  entries_[*at].is_dead = true;
  dead_.push_back(node);
  if (dead_.size() > 2 * kDeadLimit && dead_.size() * 2 > entries_.size()) sweep();
}

const NodeContexts* GraphNodes::find(uint64_t node) {
  if (next_ >= entries_.size() || entries_[next_].node != node) {
    const uint32_t* at = index_.find(node + 1);
    if (at == nullptr) return nullptr;
    next_ = *at;
  }
  return &entries_[next_++].contexts;
}

void GraphNodes::sweep() {
  std::unordered_set<uint64_t> forgotten(dead_.begin(), dead_.end() - kDeadLimit);
  dead_.erase(dead_.begin(), dead_.end() - kDeadLimit);
  std::vector<Entry> kept;
  kept.reserve(entries_.size() - forgotten.size());
  index_.clear();
  for (const Entry& entry : entries_) {
    if (forgotten.contains(entry.node)) continue;
    bool is_new;
    *index_.find_or_add(entry.node + 1, is_new) = static_cast<uint32_t>(kept.size());
    kept.push_back(entry);
  }
  entries_ = std::move(kept);
}

void GraphNodes::clear() {
  index_.clear();
  entries_.clear();
  dead_.clear();
}

}  // namespace proton::cupti
