/// Inline stacks as small integers. A stack is a frame and the stack it was called from, so stacks
/// share their outer frames and memory grows with what is distinct. Not locked.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

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

}  // namespace proton::cubin
