#include "base/columns.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>

namespace proton::columns {

namespace {

constexpr double kNearlyWhole = 1e-3;

/// Numbers that sort as the doubles do; -0 and 0 are equal.
uint64_t sort_key(double value) {
  const auto bits = std::bit_cast<uint64_t>(value + 0.0);
  return bits >> 63 ? ~bits : bits | 1ULL << 63;
}

uint64_t sort_key(uint32_t value) { return value; }

struct Row {
  uint64_t key;
  uint32_t place;
};

/// Sorts `places` by the first of `columns`, then runs of equals by the rest.
void sort_by(std::span<uint32_t> places, std::span<const Column> columns) {
  if (columns.empty() || places.size() < 2) return;
  std::vector<Row> rows(places.size());
  std::visit(
      [&](const auto& column) {
        std::ranges::transform(places, rows.begin(),
                               [&](uint32_t place) { return Row{sort_key(column[place]), place}; });
      },
      columns.front());
  if (!std::ranges::is_sorted(rows, {}, &Row::key)) {
    std::ranges::stable_sort(rows, {}, &Row::key);
    std::ranges::transform(rows, places.begin(), &Row::place);
  }
  if (columns.size() == 1) return;
  for (size_t begin = 0, end; begin < rows.size(); begin = end) {
    end = begin + 1;
    while (end < rows.size() && rows[end].key == rows[begin].key) ++end;
    sort_by(places.subspan(begin, end - begin), columns.subspan(1));
  }
}

/// A time in which the host had not launched, cut where it sat in a copy call.
void cut_host(Gaps& gaps, double start_ns, double end_ns, const Calls& calls) {
  const auto next = std::ranges::upper_bound(calls.start_ns, start_ns);
  auto at = static_cast<size_t>(next - calls.start_ns.begin());
  at -= at > 0;
  for (; at < calls.start_ns.size() && calls.start_ns[at] < end_ns; ++at) {
    const double call_ns = std::max(calls.start_ns[at], start_ns);
    gaps.add(start_ns, call_ns, Gaps::kHost);
    start_ns = std::max(call_ns, std::min(calls.end_ns[at], end_ns));
    gaps.add(call_ns, start_ns, Gaps::kCopy);
  }
  gaps.add(start_ns, end_ns, Gaps::kHost);
}

}  // namespace

std::vector<uint32_t> order_by(std::span<const Column> columns) {
  const size_t size = std::visit([](const auto& column) { return column.size(); }, columns.front());
  std::vector<uint32_t> places(size);
  std::iota(places.begin(), places.end(), 0U);
  sort_by(places, columns);
  return places;
}

Groups group_by(std::span<const Column> columns) {
  const std::vector<uint32_t> sorted = order_by(columns);
  const auto is_same = [&](uint32_t a, uint32_t b) {
    return std::ranges::all_of(columns, [&](const Column& given) {
      return std::visit([&](const auto& column) { return column[a] == column[b]; }, given);
    });
  };
  struct Group {
    uint32_t first;  // row
    uint32_t begin;  // in `sorted`
    uint32_t size;
  };
  std::vector<Group> groups;
  for (uint32_t at = 0; at < sorted.size(); ++at) {
    if (at == 0 || !is_same(sorted[at - 1], sorted[at])) groups.push_back({sorted[at], at, 0});
    ++groups.back().size;
  }
  std::ranges::sort(groups, {}, &Group::first);
  Groups found;
  found.places.reserve(sorted.size());
  for (const Group& group : groups) {
    found.bounds.push_back(static_cast<uint32_t>(found.places.size()));
    const auto begin = sorted.begin() + group.begin;
    found.places.insert(found.places.end(), begin, begin + group.size);
  }
  found.bounds.push_back(static_cast<uint32_t>(found.places.size()));
  return found;
}

bool to_whole(Times times, std::vector<uint32_t>& whole) {
  whole.clear();
  whole.reserve(times.size());
  for (const double time : times) {
    const double nearest = std::nearbyint(time);
    if (!(nearest >= 0 && nearest <= UINT32_MAX && std::abs(time - nearest) < kNearlyWhole)) {
      return false;
    }
    whole.push_back(static_cast<uint32_t>(nearest));
  }
  return true;
}

Gaps cut_gaps(const DeviceWork& work, std::span<const Calls> blocking, const WorkByEnd& elsewhere) {
  Gaps gaps;
  double free_ns = work.start_ns.empty() ? 0 : work.start_ns.front();
  for (size_t at = 0; at < work.start_ns.size(); ++at) {
    const double end_ns = work.start_ns[at];
    double start_ns = free_ns;
    free_ns = std::max(free_ns, work.end_ns[at]);
    if (end_ns <= start_ns) continue;
    double launched_ns = work.launched_ns[at];
    if (std::isnan(launched_ns)) {
      gaps.add(start_ns, end_ns, Gaps::kUnknown);
      continue;
    }
    if (launched_ns > start_ns) {
      launched_ns = std::min(launched_ns, end_ns);
      if (const uint32_t thread = work.thread[at]; thread < blocking.size()) {
        cut_host(gaps, start_ns, launched_ns, blocking[thread]);
      } else {
        gaps.add(start_ns, launched_ns, Gaps::kHost);
      }
      start_ns = launched_ns;
    }
    // A stream that is idle in that time had no work of its own that ended in it.
    const auto later = std::ranges::upper_bound(elsewhere.end_ns, end_ns);
    if (later != elsewhere.end_ns.begin() && start_ns < end_ns && *std::prev(later) > start_ns) {
      const double freed_ns = *std::prev(later);
      const auto last = static_cast<size_t>(later - elsewhere.end_ns.begin()) - 1;
      gaps.add(start_ns, freed_ns, elsewhere.cause[last]);
      start_ns = freed_ns;
    }
    gaps.add(start_ns, end_ns, Gaps::kLaunch);
  }
  return gaps;
}

}  // namespace proton::columns
