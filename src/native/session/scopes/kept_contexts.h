/// What captured graphs still refer to when the process's tables are cleared: carried over as text
/// and put into the new tables, so that replays in a later session find where they were captured.
/// Memory stays bounded by the graphs that exist. Host path only (GIL).
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/call_tree.h"
#include "model/ids.h"
#include "session/scopes/launch_contexts.h"

namespace proton {

class KeptContexts {
 public:
  /// Before the tables are cleared.
  KeptContexts();
  /// Afterwards, in the new epoch.
  void restore();

 private:
  struct Path {
    PathId parent;
    FrameKind kind;
    std::string name;
    PathId moved = kRootPath;
  };
  struct Context {
    PathId path;
    uint32_t op;
  };

  void keep_path(PathId path);
  PathId moved(PathId path) const;

  std::map<PathId, Path> paths_;                     // parents first: their ids are lower
  std::unordered_map<ContextId, Context> contexts_;  // those with launch metadata
  std::unordered_map<ContextId, PathId> ranges_;
  std::unordered_map<uint32_t, Op> ops_;
};

}  // namespace proton
