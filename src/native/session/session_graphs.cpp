// Replays of graphs in a session: the places of their kernels, and metrics of captured scopes and
// launches.
#include <algorithm>

#include "session/scopes/process.h"
#include "session/session.h"

namespace proton {
namespace {

/// So many graphs whose capture nobody saw are told apart in one session.
constexpr size_t kUnseenGraphs = 4096;

}  // namespace

PlaceId Session::captured_place(PathId replay, PathId capture) {
  const uint64_t key = pair_key(replay, capture);
  if (key == last_captured_) return last_place_;
  bool is_new;
  uint32_t* at = captured_index_.find_or_add(key, is_new);
  if (is_new) {
    *at = static_cast<uint32_t>(captured_places_.size()) | kLaunchBit;
    captured_places_.push_back({replay, capture});
  }
  last_captured_ = key;
  last_place_ = *at;
  return *at;
}

PlaceId Session::unseen_place(PathId replay, uint32_t graph) {
  graph &= ~kLaunchBit;
  if (!unseen_graphs_.contains(graph)) {
    if (unseen_graphs_.size() < kUnseenGraphs) {
      unseen_graphs_.insert(graph);
    } else {
      graph = 0;
    }
  }
  return captured_place(replay, graph | kLaunchBit);
}

/// In a tree: below the replay, at the paths of the captured scopes.
void Session::book_riders(const KernelEvent& event, Phase& phase) {
  const PathId replay = path_of_context(event.context);
  for (const uint64_t node : event.riders) {
    process.riders.visit(node, [&](const Rider& rider) {
      const PlaceId place = captured_place(replay, path_of_rider(rider));
      for (const OpMetric& metric : rider.metrics) {
        count_booking(phase.replay_metrics.add(place, metric.metric, metric.kind, metric.value));
      }
    });
  }
}

/// In a trace: on the span itself, beside those that the span has from `first` on.
void Session::add_rider_metrics(const KernelEvent& event, Phase& phase, size_t first) {
  auto& stored = phase.kernel_span_metrics;
  for (const uint64_t node : event.riders) {
    process.riders.visit(node, [&](const Rider& rider) {
      for (const OpMetric& metric : rider.metrics) {
        const auto same =
            std::find_if(stored.begin() + static_cast<ptrdiff_t>(first), stored.end(),
                         [&](const SpanMetric& other) { return other.metric == metric.metric; });
        if (same == stored.end()) {
          stored.push_back({metric.metric, metric.value});
        } else {
          count_booking(add_value(same->value, metric.kind, metric.value));
        }
      }
    });
  }
}

void Session::GraphSum::add(const Op& launch) {
  for (const OpMetric& metric : launch.metrics) {
    if (metric.kind == MetricKind::kProperty) continue;  // one kernel's, not the graph's
    const auto same =
        std::find_if(op.metrics.begin(), op.metrics.end(),
                     [&](const OpMetric& other) { return other.metric == metric.metric; });
    if (same == op.metrics.end()) {
      op.metrics.push_back(metric);
      continue;
    }
    const Booking booking = add_value(same->value, metric.kind, metric.value);
    if (booking != Booking::kBooked) refused.push_back(booking);
  }
}

/// Where kernels are not told apart: their launch metadata as one, added up when the graph is seen
/// for the first time or with other nodes. What does not add up is lost at every replay.
const Op* Session::op_of_graph(const KernelEvent& event) {
  const GraphLaunches& launches = *event.graph_launches;
  GraphSum& sum = graph_sums_[event.graph];
  if (sum.version != launches.version) {
    sum = {launches.version, {}, {}};
    for (const ContextId context : launches.contexts) {
      uint32_t op_id = 0;
      if (const Op* launch = process.contexts.op(context, op_id)) sum.add(*launch);
    }
  }
  for (const Booking booking : sum.refused) count_booking(booking);
  return &sum.op;
}

}  // namespace proton
