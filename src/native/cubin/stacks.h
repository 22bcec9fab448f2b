/// Inline stacks as small integers. A stack is a frame and the stack it was called from, so stacks
/// share their outer frames and memory grows with what is distinct. Not locked.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/string_table.h"

namespace proton::cubin {

/// A place in source code, with its callers. 0: not known. Good for the cubin that gave it.
using LocationId = uint32_t;
inline constexpr LocationId kNowhere = 0;

/// One frame of a location. The texts live as long as the cubin.
struct Frame {
  std::string_view file;  // as the compiler was given it, mostly a full path
  uint32_t line = 0;
  uint32_t column = 0;        // 0: not known
  std::string_view function;  // as linkers know it; empty: not known
};

/// Texts by number, as many as a file of a given size has a reason to have; 0 is the empty text.
class Names {
 public:
  explicit Names(size_t budget) : budget_(budget) { table_.intern(""); }
  uint32_t intern(std::string_view text) {
    if (text.size() > budget_) return 0;
    const size_t before = table_.size();
    const uint32_t id = table_.intern(text);
    if (table_.size() != before) budget_ -= text.size();
    return id;
  }
  const std::string& text(uint32_t id) const { return table_.text(id); }

 private:
  size_t budget_;  // bytes of text that may still come
  StringTable table_;
};

class Stacks {
 public:
  static constexpr uint32_t kDeepest = 64;  // frames: deeper ones lose their outer frames

  struct Node {
    LocationId caller = kNowhere;
    uint32_t file = 0;
    uint32_t line = 0;
    uint32_t column = 0;
    uint32_t function = 0;
    uint32_t depth = 0;  // frames, this one included
    bool operator==(const Node&) const = default;
    uint64_t hash() const;
  };

  /// The stack with that frame inside `caller`. A frame of line 0 is left out: it says nothing.
  LocationId add(LocationId caller, uint32_t file, uint32_t line, uint32_t column,
                 uint32_t function);

  /// The frame that is innermost in `id`, which is not kNowhere.
  const Node& operator[](LocationId id) const { return nodes_[id]; }
  size_t size() const { return nodes_.size(); }

 private:
  LocationId& slot_of(const Node& node);
  void grow();

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::vector<LocationId> slots_ = std::vector<LocationId>(64);  // open addressing; half are free
};

inline uint64_t Stacks::Node::hash() const {
  const uint64_t place = mix_bits(uint64_t{caller} << 32 | line);
  return mix_bits(place ^ (uint64_t{file} << 40 ^ uint64_t{column} << 20 ^ function));
}

inline LocationId Stacks::add(LocationId caller, uint32_t file, uint32_t line, uint32_t column,
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
inline LocationId& Stacks::slot_of(const Node& node) {
  size_t at = node.hash() & (slots_.size() - 1);
  while (slots_[at] != kNowhere && nodes_[slots_[at]] != node) at = (at + 1) & (slots_.size() - 1);
  return slots_[at];
}

inline void Stacks::grow() {
  slots_.assign(slots_.size() * 4, kNowhere);
  for (LocationId id = 1; id < nodes_.size(); ++id) slot_of(nodes_[id]) = id;
}

}  // namespace proton::cubin
