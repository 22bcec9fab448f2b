#include "session/snapshot/trace_paths.h"

#include "session/snapshot/kernel_details.h"

namespace proton {

const TracePaths::Captured& TracePaths::of_captured(PlaceId place) {
  auto [known, is_new] = captured_.try_emplace(place);
  if (is_new) known->second = make_captured(places_[place & ~kLaunchBit]);
  return known->second;
}

TracePaths::Captured TracePaths::make_captured(const CapturedPlace& place) {
  uint32_t at = child(of_row(place.replay), strings_.intern(kCapturedAt));
  Captured made = {at, {at}};
  const auto go_down = [&](uint32_t text, bool is_drawn) {
    made.path = at = child(at, text);
    if (is_drawn) made.scopes.push_back(at);
  };
  if (!place.is_seen()) {
    go_down(strings_.intern(kUnknownCapture), true);
    if (place.graph() != 0) go_down(strings_.intern(graph_name(place.graph())), true);
    return made;
  }
  std::vector<PathId> below;
  PathId path = process.ranges.path(place.capture);
  if (path >= process.paths.size()) path = kRootPath;
  for (; path != kRootPath; path = process.paths.parent(path)) below.push_back(path);
  for (auto it = below.rbegin(); it != below.rend(); ++it) {
    const FrameId frame = process.paths.frame(*it);
    go_down(strings_.intern_frame(frame), frame.kind() == FrameKind::kScope);
  }
  return made;
}

uint32_t TracePaths::of_row(PathId path) {
  path = process.ranges.path(path);
  if (path >= process.paths.size()) path = kRootPath;  // of a time before tables were cleared
  std::vector<PathId> missing;
  while (path != kRootPath && !rows_.contains(path)) {
    missing.push_back(path);
    path = process.paths.parent(path);
  }
  uint32_t at = path == kRootPath ? 0 : rows_.at(path);
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    at = child(at, strings_.intern_frame(process.paths.frame(*it)));
    rows_.emplace(*it, at);
  }
  return at;
}

uint32_t TracePaths::child(uint32_t parent, uint32_t text) {
  bool is_new;
  uint32_t* at = children_.find_or_add(pair_key(parent, text), is_new);
  if (is_new) {
    *at = static_cast<uint32_t>(paths_.size());
    paths_.push_back({parent, strings_.at(text)});
  }
  return *at;
}

}  // namespace proton
