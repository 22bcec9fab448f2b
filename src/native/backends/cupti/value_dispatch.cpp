#include "backends/cupti/value_dispatch.h"

#include <algorithm>

#include "base/clock.h"
#include "model/losses.h"

namespace proton::cupti {
namespace {

/// A launch that failed is never read: longer than this no mark waits for one.
constexpr int64_t kMarkLimitNs = 30'000'000'000;
/// The GPU's clock and ours may be so far apart.
constexpr int64_t kClockMarginNs = 1'000'000;

}  // namespace

void ValueDispatch::commit(ValueId id, const ValuePlace& place,
                           std::span<const ValueTarget> targets) {
  ValuePlace known = place;
  if (place.kernel_node != 0) {
    if (const CapturedNode node = graphs_.find(place.kernel_node); node.root != 0) {
      known.shadow = node.shadow;
      known.python = node.python;
    }
  }
  values_.commit(id, known, targets);
}

ReplayedRead ValueDispatch::replay_of(const KernelEvent& event) {
  ReplayedRead replay;
  replay.correlation = event.correlation;
  replay.start_ns = event.start_ns;
  replay.lane = event.lane;
  replay.shadow = launches_.context_of(false, event.correlation);
  replay.python = launches_.context_of(true, event.correlation);
  return replay;
}

void ValueDispatch::add_replayed_read(const KernelEvent& event) {
  const ReplayedRead replay = replay_of(event);
  if (event.graph_node == 0) return;  // its value is told apart by its number
  const CapturedNode node = graphs_.find(event.graph_node);
  if (node.value != 0) values_.add_replay(node.value, replay);
}

void ValueDispatch::add_replayed_graph(const KernelEvent& event) {
  if (!values_.has_captured()) return;
  const std::vector<uint64_t> values = graphs_.values_of(event.graph);
  if (values.empty()) return;
  const ReplayedRead replay = replay_of(event);
  for (const uint64_t value : values) values_.add_replay(value, replay);
}

int64_t ValueDispatch::begin_flush() {
  if (!values_.has_captured()) {
    mark_ = {};
    return FinishedReads::kNoReplay;
  }
  const uint32_t generation = launches_.generation();
  int64_t known_ns = FinishedReads::kNoReplay;
  if (mark_.generation != generation) {
    read_until_ = launches_.cells().oldest(generation) - 1;
  } else {
    const bool is_read = !launches_.has_unread(read_until_, mark_.newest, false) &&
                         !launches_.has_unread(read_until_, mark_.newest, true);
    if (!is_read && now_ns() - mark_.time_ns < kMarkLimitNs) return known_ns;
    known_ns = mark_.time_ns - kClockMarginNs;
    read_until_ = mark_.newest;
  }
  const int64_t time_ns = now_ns();  // before the newest launch is looked up
  mark_ = {time_ns, launches_.cells().newest(), generation};
  return known_ns;
}

void ValueDispatch::send(const FinishedReads& finished) {
  LostValues lost;
  arrived_.clear();
  values_.collect(finished, arrived_, lost);
  for (const ArrivedValue& arrived : arrived_) send_value(arrived);
  sinks_.count_loss(losses::kLostValue, lost.dropped);
  sinks_.count_loss(losses::kBadMetric, lost.bad);
}

void ValueDispatch::send_value(const ArrivedValue& arrived) {
  const ValuePlace& place = arrived.place;
  ValueEvent event{place.metric, place.kind, arrived.value, place.is_of_kernel};
  event.device_id = arrived.device_id;
  event.lane = arrived.replay.lane;
  event.time_ns = arrived.replay.start_ns;
  for (const SinkTable::Entry& entry : sinks_.entries()) {
    const bool with_frames = entry.with_frames();
    const ContextId committed = with_frames ? place.python : place.shadow;
    if (arrived.is_captured) {
      // Where no record tells the replay, it is one of those that were active until now.
      if (arrived.has_replay ? !sinks_.wants(entry, arrived.replay.correlation)
                             : !entry.is_active) {
        continue;
      }
      event.correlation = arrived.replay.correlation;
      event.context = !arrived.has_replay ? ContextId{kRootPath}
                      : with_frames       ? arrived.replay.python
                                          : arrived.replay.shadow;
      event.capture = committed;
    } else {
      const auto target = std::ranges::find(arrived.targets, entry.sink, &ValueTarget::sink);
      if (target == arrived.targets.end()) continue;
      event.phase = target->phase;
      event.scope_id = target->scope_id;
      event.correlation = place.kernel_launch;
      event.context =
          place.is_of_kernel ? launches_.context_of(with_frames, place.kernel_launch) : committed;
    }
    entry.sink->on_values({&event, 1});
  }
}

}  // namespace proton::cupti
