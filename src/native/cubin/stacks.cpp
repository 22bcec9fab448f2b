#include "cubin/stacks.h"

#include "base/hash.h"

namespace proton::cubin {

size_t Stacks::Hash::operator()(const Node& node) const {
  const uint64_t place = mix_bits(uint64_t{node.caller} << 32 | node.line);
  return mix_bits(place ^
                  (uint64_t{node.file} << 40 ^ uint64_t{node.column} << 20 ^ node.function));
}

LocationId Stacks::add(LocationId caller, uint32_t file, uint32_t line, uint32_t column,
                       uint32_t function) {
  if (line == 0) return caller;
  if (nodes_[caller].depth >= kDeepest) caller = kNowhere;
  const Node node{caller, file, line, column, function, nodes_[caller].depth + 1};
  const auto [entry, is_new] = index_.try_emplace(node, static_cast<LocationId>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return entry->second;
}

}  // namespace proton::cubin
