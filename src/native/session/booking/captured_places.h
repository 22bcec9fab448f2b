/// Where kernels of replayed graphs are booked: below the replay, at the path where their node was
/// captured. Not locked: the booking on devices has the lock.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/key_index.h"
#include "base/text.h"
#include "model/ids.h"

namespace proton {

/// What stands between a replay's path and the path where its kernels were captured.
inline constexpr const char* kCapturedAt = "<captured_at>";
/// Stands for that path when nobody saw the capture: before the session, or while it paused.
inline constexpr const char* kUnknownCapture = "<captured while not recording>";

/// Where a kernel is booked: a path, or (with kLaunchBit) one of the session's captured places.
using PlaceId = uint32_t;

inline bool is_captured(PlaceId place) { return (place & kLaunchBit) != 0; }

/// A place below a graph's replay: the kernel's node was captured at another path.
struct CapturedPlace {
  PathId replay;
  PathId capture;  // with kLaunchBit: nobody saw it, and the rest is the graph's number or 0

  bool is_seen() const { return (capture & kLaunchBit) == 0; }
  uint32_t graph() const { return capture & ~kLaunchBit; }
  /// As the backend names a whole graph.
  std::string graph_name() const { return concat("<graph ", graph(), ">"); }
};

class CapturedPlaces {
 public:
  PlaceId find(PathId replay, PathId capture) {
    const uint64_t key = pair_key(replay, capture);
    if (key == last_key_) return last_place_;
    const auto make = [&] { return CapturedPlace{replay, capture}; };
    last_place_ = index_.row_of(key, places_, make) | kLaunchBit;
    last_key_ = key;
    return last_place_;
  }

  /// The place of a graph whose capture nobody saw.
  PlaceId find_unseen(PathId replay, uint32_t graph) {
    graph &= ~kLaunchBit;
    if (!unseen_graphs_.contains(graph)) {
      if (unseen_graphs_.size() < kUnseenGraphs) {
        unseen_graphs_.insert(graph);
      } else {
        graph = 0;
      }
    }
    return find(replay, graph | kLaunchBit);
  }

  bool is_captured_at(PlaceId place, PathId capture) const {
    return is_captured(place) && at(place).capture == capture;
  }
  const CapturedPlace& at(PlaceId place) const { return places_[place & ~kLaunchBit]; }
  const std::vector<CapturedPlace>& all() const { return places_; }  // by id without kLaunchBit
  /// What the user should know of graphs that nobody saw being captured; empty: there are none.
  std::string unseen_graphs() const {
    const size_t count = unseen_graphs_.size();
    if (count == 0) return {};
    return concat(count, count == 1 ? " graph was" : " graphs were",
                  " captured while nothing was recorded: kernels of their replays stand below ",
                  quote(kUnknownCapture),
                  " by graph; start the session before graphs are captured ",
                  "to see the code that captured them");
  }

 private:
  /// So many graphs whose capture nobody saw are told apart in one session.
  static constexpr size_t kUnseenGraphs = 4096;

  KeyIndex index_;  // (replay, capture) -> places_
  std::vector<CapturedPlace> places_;
  std::unordered_set<uint32_t> unseen_graphs_;
  // Of the event before: the next one is mostly from the same place.
  uint64_t last_key_ = 0;
  PlaceId last_place_ = 0;
};

}  // namespace proton
