#include "session/scopes/path_table.h"

namespace proton {

FrameKind FrameId::kind() const {
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
    default:
      return FrameKind::kRoot;
  }
}

PathId PathTable::add(PathId parent, FrameId frame) {
  const auto id = static_cast<PathId>(rows_.size());
  rows_.push_back({parent, frame, rows_[parent].depth + 1});
  return id;
}

void PathTable::clear() {
  index_.clear();
  rows_.clear();
  rows_.push_back({kRootPath, FrameId(), 0});
}

}  // namespace proton
