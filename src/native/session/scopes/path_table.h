/// Every calling path seen since the tables were last cleared, as (parent, frame) pairs with dense
/// ids; process-wide. Host path only: used under the GIL.
#pragma once

#include <vector>

#include "base/key_index.h"
#include "model/call_tree.h"
#include "model/ids.h"

namespace proton {

/// A frame in 32 bits: its kind, and the id of its name (or of its code position, for Python).
class FrameId {
 public:
  FrameId() = default;
  static FrameId scope(NameId name) { return FrameId(1, name); }
  static FrameId state(NameId name) { return FrameId(2, name); }
  static FrameId python(uint32_t position) { return FrameId(3, position); }
  static FrameId kernel(NameId name) { return FrameId(4, name); }
  /// A Python frame of which only the text is left.
  static FrameId python_text(NameId text) { return FrameId(5, text); }
  static FrameId module(NameId name) { return FrameId(6, name); }
  static FrameId op(NameId name) { return FrameId(7, name); }
  static FrameId backward(NameId name) { return FrameId(8, name); }
  /// A frame of which kind and name are known; of Python only the text is.
  static FrameId named(FrameKind kind, NameId name);

  FrameKind kind() const;
  uint32_t number() const { return bits_ & kNumberMask; }
  uint32_t bits() const { return bits_; }
  bool is_position() const { return bits_ >> 28 == 3; }  // whether `number` is no name

 private:
  static constexpr uint32_t kNumberMask = (1u << 28) - 1;
  FrameId(uint32_t kind, uint32_t number) : bits_(kind << 28 | (number & kNumberMask)) {}
  uint32_t bits_ = 0;
};

class PathTable {
 public:
  struct Row {
    PathId parent;
    FrameId frame;
    uint32_t depth;
  };

  PathTable() { clear(); }

  /// The path one frame below `parent`: one probe once it is known.
  PathId child(PathId parent, FrameId frame) {
    bool is_new;
    uint32_t* id = index_.find_or_add(uint64_t{parent} << 32 | frame.bits(), is_new);
    if (is_new) *id = add(parent, frame);
    return *id;
  }

  PathId parent(PathId path) const { return rows_[path].parent; }
  FrameId frame(PathId path) const { return rows_[path].frame; }
  uint32_t depth(PathId path) const { return rows_[path].depth; }  // frames; 0 for the root
  size_t size() const { return rows_.size(); }
  /// The frames of a path, innermost first; none for one of before the table was cleared.
  std::vector<FrameId> frames(PathId path) const {
    std::vector<FrameId> frames;
    if (path >= rows_.size()) path = kRootPath;
    for (; path != kRootPath; path = rows_[path].parent) frames.push_back(rows_[path].frame);
    return frames;
  }
  const std::vector<Row>& rows() const { return rows_; }
  void clear();

 private:
  PathId add(PathId parent, FrameId frame);

  std::vector<Row> rows_;
  KeyIndex index_;
};

inline FrameKind FrameId::kind() const {
  switch (bits_ >> 28) {
    case 1:
      return FrameKind::kScope;
    case 2:
      return FrameKind::kState;
    case 3:
    case 5:
      return FrameKind::kPython;
    case 4:
      return FrameKind::kKernel;
    case 6:
      return FrameKind::kModule;
    case 7:
      return FrameKind::kOperator;
    case 8:
      return FrameKind::kBackward;
    default:
      return FrameKind::kRoot;
  }
}

inline FrameId FrameId::named(FrameKind kind, NameId name) {
  switch (kind) {
    case FrameKind::kState:
      return state(name);
    case FrameKind::kPython:
      return python_text(name);
    case FrameKind::kKernel:
      return kernel(name);
    case FrameKind::kModule:
      return module(name);
    case FrameKind::kOperator:
      return op(name);
    case FrameKind::kBackward:
      return backward(name);
    default:
      return scope(name);
  }
}

inline PathId PathTable::add(PathId parent, FrameId frame) {
  const auto id = static_cast<PathId>(rows_.size());
  rows_.push_back({parent, frame, rows_[parent].depth + 1});
  return id;
}

inline void PathTable::clear() {
  index_.clear();
  rows_.clear();
  rows_.push_back({kRootPath, FrameId(), 0});
}

}  // namespace proton
