#include "cubin/stacks.h"

#include "base/hash.h"

namespace proton::cubin {

uint64_t Stacks::Node::hash() const {
  const uint64_t place = mix_bits(uint64_t{caller} << 32 | line);
  return mix_bits(place ^ (uint64_t{file} << 40 ^ uint64_t{column} << 20 ^ function));
}

LocationId Stacks::add(LocationId caller, uint32_t file, uint32_t line, uint32_t column,
                       uint32_t function) {
  if (line == 0) return caller;
  if (nodes_[caller].depth >= kDeepest) caller = kNowhere;
  const Node node{caller, file, line, column, function, nodes_[caller].depth + 1};
  LocationId* slot = &slot_of(node);
  if (*slot != kNowhere) return *slot;
  if (nodes_.size() * 2 > slots_.size()) {
    grow();
    slot = &slot_of(node);
  }
  *slot = static_cast<LocationId>(nodes_.size());
  nodes_.push_back(node);
  return *slot;
}

/// Where the number of `node` stands, or where it belongs.
LocationId& Stacks::slot_of(const Node& node) {
  size_t at = node.hash() & (slots_.size() - 1);
  while (slots_[at] != kNowhere && nodes_[slots_[at]] != node) at = (at + 1) & (slots_.size() - 1);
  return slots_[at];
}

void Stacks::grow() {
  slots_.assign(slots_.size() * 4, kNowhere);
  for (LocationId id = 1; id < nodes_.size(); ++id) slot_of(nodes_[id]) = id;
}

}  // namespace proton::cubin
