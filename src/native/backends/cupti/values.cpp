// Metric values that a kernel of ours has read, from the ring to the sinks.
#include <algorithm>

#include "backends/cupti/hub.h"
#include "base/error.h"
#include "base/text.h"
#include "model/losses.h"

namespace proton::cupti {
namespace {

constexpr int64_t kSettleLimitNs = 10'000'000'000;

ContextId context_of(CorrelationMap* map, CorrelationId correlation) {
  const auto launch = map == nullptr ? std::nullopt : map->find(correlation);
  return launch.has_value() ? launch->context : ContextId{kUnknownContext};
}

}  // namespace

ValueId Hub::read_value(const ValueSource& source, bool& is_captured) {
  if (!is_loaded() || is_forked_ || !reads_values()) {
    throw Error(ErrorKind::kUsage,
                "no active session of backend 'cupti' can read it; give value.cpu()");
  }
  if (source.count == 0 || source.count > MetricValues::kCountLimit) {
    throw Error(ErrorKind::kUsage, concat("a list of ", source.count, " numbers; give from 1 to ",
                                          MetricValues::kCountLimit, " of them"));
  }
  return values_.read(library_, source, is_captured);
}

void Hub::commit_value(ValueId id, const ValuePlace& place, std::span<const ValueTarget> targets) {
  ValuePlace known = place;
  if (place.kernel_node != 0) {
    std::lock_guard lock(nodes_.mutex());
    if (const CapturedNode* node = nodes_.find(place.kernel_node); node != nullptr) {
      known.shadow = node->shadow;
      known.python = node->python;
    }
  }
  values_.commit(id, known, targets);
}

/// Sessions come and go between replays, not in the middle of one: each value in a graph is read by
/// the kernel while a session is active, and must meet the record of its own replay.
void Hub::settle_values() {
  if (!is_subscribed_ || is_forked_ || !values_.has_captured()) return;
  const ValueId newest = values_.newest();
  const bool is_done = flush_within(kSettleLimitNs, true, kFlushForced);
  std::lock_guard decoding(decode_);
  dispatch_values(is_done ? newest : 0);
}

void Hub::add_replayed_read(const KernelEvent& event) {
  ReplayedRead replay;
  replay.correlation = event.correlation;
  replay.start_ns = event.start_ns;
  replay.lane = event.lane;
  replay.shadow = context_of(shadow_map_.get(), event.correlation);
  replay.python = context_of(python_map_.get(), event.correlation);
  if (event.graph_node == 0) return;  // its value is told apart by its number
  std::lock_guard lock(nodes_.mutex());
  const CapturedNode* node = nodes_.find(event.graph_node);
  if (node != nullptr && node->value != 0) values_.add_replay(node->value, replay);
}

void Hub::dispatch_values(ValueId settled) {
  LostValues lost;
  arrived_.clear();
  values_.collect(settled, arrived_, lost);
  for (const ArrivedValue& arrived : arrived_) send_value(arrived);
  if (lost.dropped + lost.bad == 0) return;
  for (const SinkEntry& entry : sinks_) {
    if (lost.dropped != 0) entry.sink->on_loss(losses::kLostValue, lost.dropped);
    if (lost.bad != 0) entry.sink->on_loss(losses::kBadMetric, lost.bad);
  }
}

void Hub::send_value(const ArrivedValue& arrived) {
  const ValuePlace& place = arrived.place;
  ValueEvent event{place.metric, place.kind, arrived.value, place.is_of_kernel};
  event.device_id = arrived.device_id;
  event.lane = arrived.replay.lane;
  event.time_ns = arrived.replay.start_ns;
  for (const SinkEntry& entry : sinks_) {
    const bool with_frames = entry.options.with_frames;
    const auto target =
        std::find_if(arrived.targets.begin(), arrived.targets.end(),
                     [&](const ValueTarget& one) { return one.sink == entry.sink; });
    const ContextId given = with_frames ? place.python : place.shadow;
    if (arrived.is_captured) {
      // Where no record tells the replay, it is one of those that were active until now.
      if (arrived.has_replay ? !wants(entry, arrived.replay.correlation) : !entry.is_active) {
        continue;
      }
      event.correlation = arrived.replay.correlation;
      event.context = !arrived.has_replay ? ContextId{kRootPath}
                      : with_frames       ? arrived.replay.python
                                          : arrived.replay.shadow;
      event.capture = given;
    } else {
      if (target == arrived.targets.end()) continue;
      event.phase = target->phase;
      event.scope_id = target->scope_id;
      event.correlation = place.kernel_launch;
      event.context = given;
      const auto& map = with_frames ? python_map_ : shadow_map_;
      if (place.is_of_kernel) event.context = context_of(map.get(), place.kernel_launch);
    }
    entry.sink->on_values({&event, 1});
  }
}

}  // namespace proton::cupti
