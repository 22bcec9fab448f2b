/// What turning a phase's tables into a plain tree (tree_builder.cpp) and a plain log
/// (trace_builder.cpp) has in common. Private to session/.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/key_index.h"
#include "session/scopes/process.h"
#include "session/session.h"

namespace proton {

/// As the backend names a whole graph.
std::string graph_name(uint32_t graph);

/// The strings of a snapshot: each text once, at a stable address.
class SnapshotStrings {
 public:
  explicit SnapshotStrings(std::deque<std::string>& strings) : strings_(strings) {}

  uint32_t intern(std::string text);
  uint32_t intern_frame(FrameId frame);
  const std::string* at(uint32_t id) const { return &strings_[id]; }

 private:
  std::deque<std::string>& strings_;
  std::unordered_map<std::string_view, uint32_t> index_;
  std::unordered_map<uint32_t, uint32_t> frames_;  // FrameId -> string
};

}  // namespace proton
