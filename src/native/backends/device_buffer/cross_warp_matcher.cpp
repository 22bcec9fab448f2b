#include "backends/device_buffer/cross_warp_matcher.h"

#include <algorithm>

namespace proton::device_buffer {
namespace {

using Halves = std::span<const HalfPassage>;

/// The first ones, of one region; they are taken off.
Halves take_region(Halves& all, uint32_t region) {
  const auto is_other = [region](const HalfPassage& one) { return one.event.region != region; };
  const auto end = std::find_if(all.begin(), all.end(), is_other);
  const Halves taken = all.first(static_cast<size_t>(end - all.begin()));
  all = all.subspan(taken.size());
  return taken;
}

/// How many times as many the first are, if they are of so many warps; 1 where that does not come
/// out even.
size_t times_more(Halves many, Halves few) {
  if (few.empty() || many.size() <= few.size() || many.size() % few.size() != 0) return 1;
  std::vector<uint64_t> slots;
  for (const HalfPassage& one : many) slots.push_back(one.slot);
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  const size_t times = many.size() / few.size();
  return times <= slots.size() ? times : 1;
}

}  // namespace

void book_pair(const HalfPassage& start, const HalfPassage& end, const RecordCost& cost,
               RegionContexts& contexts, uint64_t slot) {
  const uint64_t raw =
      end.event.clock > start.event.clock ? end.event.clock - start.event.clock : 0;
  const double cycles = cost.is_known() ? cost.without(raw, 1) : static_cast<double>(raw);
  contexts.book(start.context, {start.slot, start.event.clock, start.placed},
                {end.slot, end.event.clock, end.placed}, cycles, slot);
}

/// What one warp begins and a group of others waits for ends as often as the group has warps, and
/// is as many passages; the same the other way round.
void CrossWarpMatcher::match(Halves starts, Halves ends, const Books& books) const {
  if (starts.empty() || ends.empty()) {
    books.losses.unmatched_starts += starts.size();
    (is_start_lost_ ? books.losses.overwritten_starts : books.losses.unmatched_ends) += ends.size();
    return;
  }
  if (is_start_lost_) {
    for (const auto& waited : by_waiting(starts, ends)) match_newest(starts, waited, books);
  } else if (const size_t share = times_more(starts, ends); share > 1) {
    match_oldest(starts, ends, share, books);
  } else {
    for (const auto& waited : by_waiting(starts, ends)) match_oldest(starts, waited, 1, books);
  }
}

/// The ends of each warp, where a group of warps waits for every start; else all of them together.
std::vector<std::vector<HalfPassage>> CrossWarpMatcher::by_waiting(Halves starts,
                                                                   Halves ends) const {
  std::vector<std::vector<HalfPassage>> waiting;
  uint64_t whole = starts[0].event.clock;  // from here on no ring has lost a record
  for (const HalfPassage& end : ends) {
    const auto is_same = [&](const auto& each) { return each[0].slot == end.slot; };
    auto found = std::find_if(waiting.begin(), waiting.end(), is_same);
    if (found == waiting.end()) {
      found = waiting.insert(found, std::vector<HalfPassage>());
      whole = std::max(whole, end.event.clock);
    }
    found->push_back(end);
  }
  if (!is_start_lost_) whole = 0;
  const auto is_whole = [whole](const HalfPassage& one) { return one.event.clock >= whole; };
  const auto begun = std::count_if(starts.begin(), starts.end(), is_whole);
  const auto ended = std::count_if(ends.begin(), ends.end(), is_whole);
  const bool is_group = 2 * ended >= begun * (1 + static_cast<ptrdiff_t>(waiting.size()));
  if (!is_group) waiting.assign(1, {ends.begin(), ends.end()});
  return waiting;
}

/// Each end counts `share` times: so many warps begin what one waits for.
void CrossWarpMatcher::match_oldest(Halves starts, Halves ends, size_t share, const Books& books) {
  size_t start = 0;
  for (size_t end = 0; end < ends.size() * share; ++end) {
    const HalfPassage& waited = ends[end / share];
    if (start < starts.size() && starts[start].event.clock <= waited.event.clock) {
      books.add(starts[start++], waited);
    } else {
      ++books.losses.unmatched_ends;
    }
  }
  books.losses.unmatched_starts += starts.size() - start;
}

/// Rings have lost their oldest records, each its own number of them.
void CrossWarpMatcher::match_newest(Halves starts, Halves ends, const Books& books) {
  size_t start = starts.size(), end = ends.size();
  while (start > 0 && end > 0) {
    if (starts[--start].event.clock <= ends[end - 1].event.clock) {
      books.add(starts[start], ends[--end]);
    } else {
      ++books.losses.unmatched_starts;  // nobody waited for it
    }
  }
  books.losses.overwritten_starts += end;
  books.losses.unmatched_starts += start;
}

void CrossWarpMatcher::end_cta(const RecordCost& cost, RegionContexts& contexts, Losses& losses) {
  const Books books{cost, contexts, losses};
  const auto by_region_and_clock = [](const HalfPassage& a, const HalfPassage& b) {
    return a.event.region != b.event.region ? a.event.region < b.event.region
                                            : a.event.clock < b.event.clock;
  };
  std::stable_sort(starts_.begin(), starts_.end(), by_region_and_clock);
  std::stable_sort(ends_.begin(), ends_.end(), by_region_and_clock);
  Halves starts = starts_, ends = ends_;
  while (!starts.empty() || !ends.empty()) {
    const uint32_t region = starts.empty() ? ends[0].event.region
                            : ends.empty() ? starts[0].event.region
                                           : std::min(starts[0].event.region, ends[0].event.region);
    match(take_region(starts, region), take_region(ends, region), books);
  }
  starts_.clear();
  ends_.clear();
  is_start_lost_ = false;
}

}  // namespace proton::device_buffer
