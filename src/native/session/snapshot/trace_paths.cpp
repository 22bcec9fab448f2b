#include "session/snapshot/trace_paths.h"

#include "session/scopes/process.h"

namespace proton {

uint32_t TraceTexts::intern(std::string text) {
  if (auto found = index_.find(text); found != index_.end()) return found->second;
  const auto id = static_cast<uint32_t>(texts_.size());
  texts_.push_back(std::move(text));
  index_.emplace(texts_.back(), id);
  return id;
}

uint32_t TraceTexts::intern_frame(FrameId frame) {
  auto [found, is_new] = frames_.try_emplace(frame.bits(), 0);
  if (is_new) found->second = intern(process.frame_name(frame));
  return found->second;
}

const TracePaths::Captured& TracePaths::of_captured(PlaceId place) {
  auto [known, is_new] = captured_.try_emplace(place);
  if (is_new) known->second = make_captured(places_.at(place));
  return known->second;
}

TracePaths::Captured TracePaths::make_captured(const CapturedPlace& place) {
  uint32_t at = child(of_path(place.replay), texts_.intern(kCapturedAt));
  Captured made = {at, {at}};
  const auto go_down = [&](uint32_t below, bool is_drawn) {
    made.path = at = below;
    if (is_drawn) made.scopes.push_back(at);
  };
  if (!place.is_seen()) {
    go_down(child(at, texts_.intern(kUnknownCapture)), true);
    if (place.graph() != 0) go_down(child(at, texts_.intern(place.graph_name())), true);
    return made;
  }
  const std::vector<FrameId> frames = process.paths.frames(process.ranges.path(place.capture));
  FrameId above;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    go_down(below(at, *frame, above), frame->kind() == FrameKind::kScope);
    above = *frame;
  }
  return made;
}

uint32_t TracePaths::of_path(PathId path) {
  path = process.ranges.path(path);
  if (path >= process.paths.size()) path = kRootPath;  // of a time before tables were cleared
  std::vector<PathId> missing;
  while (path != kRootPath && !of_paths_.contains(path)) {
    missing.push_back(path);
    path = process.paths.parent(path);
  }
  uint32_t at = path == kRootPath ? 0 : of_paths_.at(path);
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    at = below(at, process.paths.frame(*it), process.paths.frame(process.paths.parent(*it)));
    of_paths_.emplace(*it, at);
  }
  return at;
}

uint32_t TracePaths::below(uint32_t at, FrameId frame, FrameId above) {
  if (filter_.hides(frame, above, process.is_library(frame))) return at;
  const uint32_t text = texts_.intern_frame(frame);
  // A wrapper and the module in it have one name.
  const bool is_repeated = filter_.is_active() && frame.kind() == FrameKind::kModule &&
                           paths_[at].name == texts_.at(text);
  return is_repeated ? at : child(at, text);
}

uint32_t TracePaths::child(uint32_t parent, uint32_t text) {
  const auto make = [&] { return TracePath{parent, texts_.at(text)}; };
  return children_.row_of(pair_key(parent, text), paths_, make);
}

}  // namespace proton
