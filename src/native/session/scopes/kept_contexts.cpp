#include "session/scopes/kept_contexts.h"

#include "session/scopes/process.h"

namespace proton {
namespace {

FrameId to_frame(FrameKind kind, const std::string& name) {
  const NameId id = process.names.intern(name);
  switch (kind) {
    case FrameKind::kState:
      return FrameId::state(id);
    case FrameKind::kPython:
      return FrameId::python_text(id);
    case FrameKind::kKernel:
      return FrameId::kernel(id);
    default:
      return FrameId::scope(id);
  }
}

}  // namespace

KeptContexts::KeptContexts() {
  if (process.graphs.contexts == nullptr) return;
  for (const ContextId context : process.graphs.contexts()) {
    const PathId path = process.ranges.path(process.contexts.path(context));
    keep_path(path);
    if (is_range(context)) ranges_.try_emplace(context, path);
    uint32_t op_id = 0;
    const Op* op = process.contexts.op(context, op_id);
    if (op == nullptr) continue;
    contexts_.try_emplace(context, Context{path, op_id});
    ops_.try_emplace(op_id, *op);
  }
  std::vector<PathId> ridden;  // texts are made without the riders' lock: that may run host code
  process.riders.move_paths([&](PathId path) {
    ridden.push_back(path);
    return path;
  });
  for (const PathId path : ridden) keep_path(path);
}

void KeptContexts::keep_path(PathId path) {
  if (path >= process.paths.size()) return;
  for (; path != kRootPath && !paths_.contains(path); path = process.paths.parent(path)) {
    const FrameId frame = process.paths.frame(path);
    paths_.emplace(path, Path{process.paths.parent(path), frame.kind(), process.frame_name(frame)});
  }
}

PathId KeptContexts::moved(PathId path) const {
  const auto found = paths_.find(path);
  return found == paths_.end() ? kRootPath : found->second.moved;
}

void KeptContexts::restore() {
  for (auto& [old, path] : paths_) {
    path.moved = process.paths.child(moved(path.parent), to_frame(path.kind, path.name));
  }
  std::unordered_map<ContextId, ContextId> launches;
  std::unordered_map<uint32_t, uint32_t> ops;
  for (auto& [old, op] : ops_) ops.emplace(old, process.contexts.add_op(std::move(op)));
  for (const auto& [old, context] : contexts_) {
    launches.emplace(old, process.contexts.intern(moved(context.path), ops.at(context.op)));
  }
  process.riders.move_paths([this](PathId path) { return moved(path); });
  if (process.graphs.move_contexts == nullptr) return;
  process.graphs.move_contexts(process.epoch, [&](ContextId context) -> ContextId {
    if (context >= kUnknownContext) return context;
    if (const auto launch = launches.find(context); launch != launches.end()) {
      return launch->second;
    }
    const auto range = ranges_.find(context);
    return moved(range == ranges_.end() ? context : range->second);
  });
}

}  // namespace proton
