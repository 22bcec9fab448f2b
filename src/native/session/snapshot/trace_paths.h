/// The texts, paths and lanes of a TraceLog, each made when first asked for. Used under the GIL and
/// the lock of the booking on devices.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/key_index.h"
#include "model/recorded_launch.h"
#include "model/trace_log.h"
#include "session/booking/captured_places.h"
#include "session/booking/device_tables.h"
#include "session/scopes/path_table.h"
#include "session/scopes/thread_state.h"
#include "session/snapshot/frame_filter.h"

namespace proton {

/// Each text once, at a stable address.
class TraceTexts {
 public:
  explicit TraceTexts(std::deque<std::string>& texts) : texts_(texts) {}

  uint32_t intern(std::string text);
  uint32_t intern_frame(FrameId frame);
  const std::string* at(uint32_t id) const { return &texts_[id]; }

 private:
  std::deque<std::string>& texts_;
  std::unordered_map<std::string_view, uint32_t> index_;
  std::unordered_map<uint32_t, uint32_t> frames_;  // FrameId -> text
};

/// Paths of the process, and places of replayed kernels.
class TracePaths {
 public:
  /// Where kernels of a replay stand, and what of it is drawn on a graph lane: the replay, and the
  /// captured scopes from the outermost to the innermost.
  struct Captured {
    uint32_t path = 0;
    std::vector<uint32_t> scopes = {};
  };

  TracePaths(std::vector<TracePath>& paths, TraceTexts& texts, const CapturedPlaces& places,
             FrameFilter filter)
      : paths_(paths), texts_(texts), places_(places), filter_(filter) {
    paths_.push_back({0, texts_.at(texts_.intern("ROOT"))});
  }

  /// The path that kernels of a place stand below.
  uint32_t of_place(PlaceId place) {
    return is_captured(place) ? of_captured(place).path : of_path(place);
  }
  /// Of a place with kLaunchBit.
  const Captured& of_captured(PlaceId place);
  uint32_t of_path(PathId path);
  uint32_t child(uint32_t parent, uint32_t text);

 private:
  Captured make_captured(const CapturedPlace& place);
  /// The path of a frame that stands below `above`, which `at` is of; `at` where it is left out.
  uint32_t below(uint32_t at, FrameId frame, FrameId above);

  std::vector<TracePath>& paths_;
  TraceTexts& texts_;
  const CapturedPlaces& places_;
  const FrameFilter filter_;
  std::unordered_map<PlaceId, Captured> captured_;
  std::unordered_map<PathId, uint32_t> of_paths_;
  KeyIndex children_;
};

/// Threads, streams, graphs, multiprocessors and warps.
class TraceLanes {
 public:
  const std::vector<TraceLane>& all() const { return lanes_; }

  uint32_t host(uint32_t thread_number) {
    auto [found, is_new] = of_threads_.try_emplace(thread_number, next());
    if (is_new) lanes_.push_back({LaneKind::kHost, 0, 0, {}, system_thread_id(thread_number)});
    return found->second;
  }

  /// `number` is of a stream or multiprocessor; `seen` is the device of that number.
  uint32_t device(LaneKind kind, uint32_t device, uint64_t number, const SeenDevice& seen) {
    auto [found, is_new] = of_devices_.try_emplace({kind, device, number}, next());
    if (is_new) {
      const auto id = static_cast<uint32_t>(std::stoul(seen.id));
      lanes_.push_back({kind, number, id, seen.type});
    }
    return found->second;
  }

  /// A warp has several lines where its spans overlap.
  uint32_t warp(uint32_t device, uint32_t kernel, const std::string& name,
                const RecordedLaunch& launch, const RecordedWarp& warp, uint32_t line) {
    auto [found, is_new] =
        of_warps_.try_emplace({device, kernel, warp.sm, warp.cta, warp.warp, line}, next());
    if (is_new) {
      TraceLane lane{LaneKind::kWarp, warp.warp, launch.device_id, launch.device_type};
      lane.inside = {name, warp.sm, warp.cta, line};
      lanes_.push_back(std::move(lane));
    }
    return found->second;
  }

  /// From 0 in the order in which the threads appeared, not in that of their first spans' ends.
  void number_threads() {
    uint64_t number = 0;
    for (const auto& [thread, lane] : of_threads_) lanes_[lane].number = number++;
  }

 private:
  using DeviceKey = std::tuple<LaneKind, uint32_t, uint64_t>;
  /// device, kernel, multiprocessor, CTA, warp, line
  using WarpKey = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;

  uint32_t next() const { return static_cast<uint32_t>(lanes_.size()); }

  std::vector<TraceLane> lanes_;
  std::map<uint32_t, uint32_t> of_threads_;  // by thread number
  std::map<DeviceKey, uint32_t> of_devices_;
  std::map<WarpKey, uint32_t> of_warps_;
};

}  // namespace proton
