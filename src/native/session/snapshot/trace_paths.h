/// The paths of a TraceLog: each made when first asked for, from a path of the process or from the
/// place of a replayed kernel. Private to session/; used under the GIL and the session's mutex.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/key_index.h"
#include "model/trace_log.h"
#include "session/booking/phase.h"
#include "session/snapshot/snapshot.h"

namespace proton {

class TracePaths {
 public:
  /// Where kernels of a replay stand, and what of it is drawn on a graph lane: the replay, and the
  /// captured scopes from the outermost to the innermost.
  struct Captured {
    uint32_t path = 0;
    std::vector<uint32_t> scopes = {};
  };

  TracePaths(std::vector<TracePath>& paths, SnapshotStrings& strings,
             const std::vector<CapturedPlace>& captured)
      : paths_(paths), strings_(strings), places_(captured) {}

  /// The path that kernels of a place stand below.
  uint32_t of_place(PlaceId place) {
    return (place & kLaunchBit) == 0 ? of_row(place) : of_captured(place).path;
  }
  /// Of a place with kLaunchBit.
  const Captured& of_captured(PlaceId place);
  uint32_t of_row(PathId path);
  uint32_t child(uint32_t parent, uint32_t text);

 private:
  Captured make_captured(const CapturedPlace& place);

  std::vector<TracePath>& paths_;
  SnapshotStrings& strings_;
  const std::vector<CapturedPlace>& places_;  // of the session
  std::unordered_map<PlaceId, Captured> captured_;
  std::unordered_map<PathId, uint32_t> rows_;
  KeyIndex children_;
};

}  // namespace proton
