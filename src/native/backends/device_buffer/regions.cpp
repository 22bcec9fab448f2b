#include "backends/device_buffer/regions.h"

#include <algorithm>
#include <bit>

namespace proton::device_buffer {
namespace {

// Kernels nest a few regions; damaged buffers would nest as many as there are records.
constexpr size_t kMostDepth = 256;
constexpr size_t kMostContexts = 1u << 16;
constexpr size_t kMostSpare = 64;

/// One entry a slot, in order.
void merge_slots(std::vector<WarpCycles>& warps) {
  std::stable_sort(warps.begin(), warps.end(),
                   [](const WarpCycles& a, const WarpCycles& b) { return a.slot < b.slot; });
  size_t kept = 0;
  for (size_t at = 1; at < warps.size(); ++at) {
    if (warps[at].slot == warps[kept].slot) {
      warps[kept].cycles += warps[at].cycles;
      warps[kept].passages += warps[at].passages;
    } else {
      warps[++kept] = warps[at];
    }
  }
  warps.resize(std::min(warps.size(), kept + 1));
}

/// The first ones, of one region; they are taken off.
template <class Pending>
std::span<const Pending> take_region(std::span<const Pending>& all, uint32_t region) {
  const auto is_other = [region](const Pending& one) { return one.event.region != region; };
  const auto end = std::find_if(all.begin(), all.end(), is_other);
  const std::span<const Pending> taken = all.first(static_cast<size_t>(end - all.begin()));
  all = all.subspan(taken.size());
  return taken;
}

/// How many times as many the first are, if they are of so many warps; 1 where that does not come
/// out even.
template <class Pending>
size_t times_more(std::span<const Pending> many, std::span<const Pending> few) {
  if (few.empty() || many.size() <= few.size() || many.size() % few.size() != 0) return 1;
  std::vector<uint64_t> slots;
  for (const Pending& one : many) slots.push_back(one.slot);
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  const size_t times = many.size() / few.size();
  return times <= slots.size() ? times : 1;
}

}  // namespace

void RegionMatcher::begin(std::span<const Region> regions, Options options, Losses& losses) {
  regions_ = regions;
  options_ = options;
  losses_ = &losses;
  for (RegionContext& context : contexts_) {
    if (spare_.size() >= kMostSpare) break;
    context.warps.clear();
    spare_.push_back(std::move(context.warps));
  }
  contexts_.clear();
  spans_.clear();
  children_.clear();
  last_key_ = 0;
  for (Pattern& pattern : patterns_) pattern.tags.clear();
  repeated_ = learned_ = 0;
  queues_.resize(std::max(queues_.size(), regions.size()));
}

std::span<RegionContext> RegionMatcher::contexts() {
  for (RegionContext& context : contexts_) {
    if (!context.is_in_order) merge_slots(context.warps);
    context.is_in_order = true;
  }
  return contexts_;
}

void RegionMatcher::add_warp(uint64_t slot, std::span<const Event> events, bool is_start_lost,
                             uint32_t alike) {
  slot_ = slot;
  is_start_lost_ = is_start_lost;
  is_start_lost_in_cta_ |= is_start_lost;
  worked_ = 0;
  first_clock_ = events.empty() ? 0 : events[0].clock;
  has_crossed_ = false;
  passages_.clear();
  const Event* before = nullptr;
  for (const Event& event : events) {
    if (options_.cost.is_known()) work_until(event, before);
    if (turn_) settle_turn(event, *before);
    before = &event;
    switch (event.kind) {
      case RecordKind::kStart:
        start(event);
        break;
      case RecordKind::kEnd:
        end(event);
        break;
      case RecordKind::kMark:
      case RecordKind::kValue:
        note(event);
        break;
    }
  }
  if (turn_) end_turn(turn_->end, turn_->worked, turn_->placed);
  learn(events, patterns_[alike % patterns_.size()]);
  finish_warp();
}

void RegionMatcher::work_until(const Event& event, const Event* before) {
  if (before == nullptr || event.clock < before->clock) return;
  const uint64_t raw = event.clock - before->clock, records = event.number - before->number;
  losses_->over_corrected += options_.cost.contradicts(raw, records);
  worked_ += options_.cost.without(raw, records);
}

void RegionMatcher::start(const Event& event) {
  if (crossed_ > 0) [[unlikely]] {
    drop_crossed(event.region);
  }
  const bool is_queued = regions_[event.region].matching == Matching::kQueued;
  if (skipped_ > 0 || open_.size() >= kMostDepth) [[unlikely]] {
    ++losses_->too_deep;
    skipped_ += !is_queued;
    return;
  }
  const uint32_t context = enter_context(event.region);
  if (context == kNoContext) [[unlikely]] {
    skipped_ += !is_queued;
  } else if (is_queued) {
    queues_[event.region].starts.push_back({slot_, event, context, place(event)});
    queued_.push_back(event.region);
  } else {
    open_.push_back({event, context, worked_, place(event)});
  }
}

void RegionMatcher::end(const Event& event) {
  if (regions_[event.region].matching == Matching::kQueued) return end_queued(event);
  if (skipped_ > 0) [[unlikely]] {
    --skipped_;
    return;
  }
  for (size_t at = open_.size(); at-- > 0;) {
    if (open_[at].event.region == event.region) return close(at, event);
  }
  ++(is_start_lost_ ? losses_->overwritten_starts : losses_->unmatched_ends);
}

void RegionMatcher::close(size_t at, const Event& end) {
  const Open start = open_[at];
  if (at + 1 == open_.size()) [[likely]] {
    open_.pop_back();
  } else {
    has_crossed_ = true;
    open_.erase(open_.begin() + static_cast<ptrdiff_t>(at));
  }
  if (start.is_crossed) {
    --crossed_;
    ++losses_->crossed_regions;
  }
  for (size_t above = at; above < open_.size(); ++above) {
    if (open_[above].is_crossed) continue;
    open_[above].is_crossed = true;
    ++crossed_;
  }
  const uint32_t loop = regions_[end.region].loop;
  if (loop == kNoRegion) return book_passage(start, end, worked_, place(end));
  if (!open_.empty() && open_.back().event.region == loop) ++open_.back().turns;
  turn_ = {start, end, worked_, place(end)};
}

/// A turn is over where the next one starts: what waits for its loads is arithmetic, and compilers
/// like to place that between the record of its end and the jump back.
void RegionMatcher::settle_turn(const Event& event, const Event& before) {
  const uint64_t next = before.number + (before.kind == RecordKind::kValue ? 2 : 1);
  const bool is_edge = event.kind == RecordKind::kStart || event.kind == RecordKind::kEnd;
  if (event.number == next && !is_edge) return;
  if (event.number == next && lasts_until(*turn_, event)) {
    end_turn(event, worked_, place(event));
  } else {
    end_turn(turn_->end, turn_->worked, turn_->placed);
  }
}

/// The end of the loop ends its last turn, unless turns that nobody recorded may lie between.
bool RegionMatcher::lasts_until(const Turn& turn, const Event& event) const {
  if (event.kind == RecordKind::kStart) return event.region == turn.end.region;
  const Region& region = regions_[turn.end.region];
  return event.region == region.loop && !is_start_lost_ && !open_.empty() &&
         open_.back().event.region == region.loop &&
         (region.most_turns == 0 || open_.back().turns < region.most_turns);
}

void RegionMatcher::end_turn(const Event& end, double worked, uint64_t placed) {
  book_passage(turn_->start, end, worked, placed);
  turn_.reset();
}

void RegionMatcher::book_passage(const Open& start, const Event& end, double worked,
                                 uint64_t placed) {
  const uint64_t raw = end.clock > start.event.clock ? end.clock - start.event.clock : 0;
  passages_.push_back({static_cast<uint32_t>(start.event.number), static_cast<uint32_t>(end.number),
                       start.context});
  book(start.context, {slot_, start.event.clock, start.placed}, {slot_, end.clock, placed},
       options_.cost.is_known() ? worked - start.worked : static_cast<double>(raw));
}

/// A region that was crossed and starts again will not end twice: its first start is lost.
void RegionMatcher::drop_crossed(uint32_t region) {
  const size_t before = open_.size();
  std::erase_if(open_,
                [&](const Open& one) { return one.is_crossed && one.event.region == region; });
  crossed_ -= before - open_.size();
  losses_->unmatched_starts += before - open_.size();
}

void RegionMatcher::end_queued(const Event& event) {
  Queue& queue = queues_[event.region];
  if (queue.taken == queue.starts.size()) {
    pending_ends_.push_back({slot_, event, kNoContext, place(event)});
    return;
  }
  book_pair(queue.starts[queue.taken++], {slot_, event, kNoContext, place(event)});
}

void RegionMatcher::note(const Event& event) {
  const uint32_t at = enter_context(event.region);
  if (at == kNoContext) return;
  RegionContext& context = contexts_[at];
  ++context.count;
  if (event.kind == RecordKind::kValue) {
    if (regions_[event.region].has_floats) {
      context.values.add_float(std::bit_cast<double>(event.value));
    } else {
      context.values.add(event.value);
    }
  }
  touch(at);
  if (!options_.keeps_spans) return;
  const uint64_t placed = place(event);
  spans_.push_back({slot_, slot_, placed, placed, event.value, at, event.kind});
}

uint32_t RegionMatcher::innermost() const {
  if (crossed_ == 0) [[likely]] {
    return open_.empty() ? kNoContext : open_.back().context;
  }
  for (size_t at = open_.size(); at-- > 0;) {
    if (!open_[at].is_crossed) return open_[at].context;
  }
  return kNoContext;
}

uint32_t RegionMatcher::enter_context(uint32_t region) {
  const uint32_t parent = innermost();
  const uint64_t key = pair_key(parent, region);
  if (key == last_key_) [[likely]] {
    return last_context_;
  }
  if (contexts_.size() >= kMostContexts) [[unlikely]] {
    const uint32_t* known = children_.find(key);
    if (known == nullptr) ++losses_->too_deep;
    return known == nullptr ? kNoContext : *known;
  }
  bool is_new;
  uint32_t* const at = children_.find_or_add(key, is_new);
  if (is_new) [[unlikely]] {
    *at = static_cast<uint32_t>(contexts_.size());
    RegionContext context;
    context.region = region;
    context.parent = parent;
    context.depth = parent == kNoContext ? 0 : contexts_[parent].depth + 1;
    if (!spare_.empty()) {
      context.warps = std::move(spare_.back());
      spare_.pop_back();
    }
    contexts_.push_back(std::move(context));
  }
  last_key_ = key;
  last_context_ = *at;
  return *at;
}

RegionContext& RegionMatcher::touch(uint32_t context) {
  RegionContext& touched = contexts_[context];
  if (!touched.is_touched) {
    touched.is_touched = true;
    touched_.push_back(context);
  }
  return touched;
}

/// Where a span has a record of the warp at hand.
uint64_t RegionMatcher::place(const Event& event) const {
  const bool is_shifted = options_.cost.shifts_spans && options_.cost.is_known();
  return is_shifted ? first_clock_ + static_cast<uint64_t>(worked_) : event.clock;
}

/// What is under way goes on beside the records in between: only the pair itself costs.
void RegionMatcher::book_pair(const Pending& start, const Pending& end) {
  const uint64_t raw =
      end.event.clock > start.event.clock ? end.event.clock - start.event.clock : 0;
  const double cycles =
      options_.cost.is_known() ? options_.cost.without(raw, 1) : static_cast<double>(raw);
  book(start.context, {start.slot, start.event.clock, start.placed},
       {end.slot, end.event.clock, end.placed}, cycles);
}

void RegionMatcher::book(uint32_t at, const Side& start, const Side& end, double cycles) {
  const uint64_t raw = end.clock > start.clock ? end.clock - start.clock : 0;
  RegionContext& context = contexts_[at];
  if (start.slot == slot_ && end.slot == slot_) {
    touch(at).add(raw, cycles);
  } else {
    context.add_elsewhere(raw, cycles);
    context.warps.push_back({start.slot, cycles, 1});
    context.is_in_order = false;
  }
  if (!options_.keeps_spans) return;
  spans_.push_back({start.slot, end.slot, start.placed, std::max(start.placed, end.placed), 0, at,
                    RecordKind::kStart});
}

void RegionMatcher::finish_warp() {
  losses_->unmatched_starts += open_.size();
  open_.clear();
  crossed_ = 0;
  skipped_ = 0;
  for (const uint32_t at : touched_) contexts_[at].finish_warp(slot_);
  touched_.clear();
  for (const uint32_t region : queued_) {
    Queue& queue = queues_[region];
    pending_starts_.insert(pending_starts_.end(),
                           queue.starts.begin() + static_cast<ptrdiff_t>(queue.taken),
                           queue.starts.end());
    queue.starts.clear();
    queue.taken = 0;
  }
  queued_.clear();
}

/// What one warp begins and a group of others waits for ends as often as the group has warps, and
/// is as many passages; the same the other way round.
void RegionMatcher::match_across(std::span<const Pending> starts, std::span<const Pending> ends) {
  if (starts.empty() || ends.empty()) {
    losses_->unmatched_starts += starts.size();
    (is_start_lost_in_cta_ ? losses_->overwritten_starts : losses_->unmatched_ends) += ends.size();
    return;
  }
  if (is_start_lost_in_cta_) {
    for (const auto& waited : by_waiting(starts, ends)) match_newest(starts, waited);
  } else if (const size_t share = times_more(starts, ends); share > 1) {
    match_oldest(starts, ends, share);
  } else {
    for (const auto& waited : by_waiting(starts, ends)) match_oldest(starts, waited, 1);
  }
}

/// The ends of each warp, where a group of warps waits for every start; else all of them together.
std::vector<std::vector<RegionMatcher::Pending>> RegionMatcher::by_waiting(
    std::span<const Pending> starts, std::span<const Pending> ends) const {
  std::vector<std::vector<Pending>> waiting;
  uint64_t whole = starts[0].event.clock;  // from here on no ring has lost a record
  for (const Pending& end : ends) {
    const auto is_same = [&](const auto& each) { return each[0].slot == end.slot; };
    auto found = std::find_if(waiting.begin(), waiting.end(), is_same);
    if (found == waiting.end()) {
      found = waiting.insert(found, std::vector<Pending>());
      whole = std::max(whole, end.event.clock);
    }
    found->push_back(end);
  }
  if (!is_start_lost_in_cta_) whole = 0;
  const auto is_whole = [whole](const Pending& one) { return one.event.clock >= whole; };
  const auto begun = std::count_if(starts.begin(), starts.end(), is_whole);
  const auto ended = std::count_if(ends.begin(), ends.end(), is_whole);
  const bool is_group = 2 * ended >= begun * (1 + static_cast<ptrdiff_t>(waiting.size()));
  if (!is_group) waiting.assign(1, {ends.begin(), ends.end()});
  return waiting;
}

/// Each end counts `share` times: so many warps begin what one waits for.
void RegionMatcher::match_oldest(std::span<const Pending> starts, std::span<const Pending> ends,
                                 size_t share) {
  size_t start = 0;
  for (size_t end = 0; end < ends.size() * share; ++end) {
    const Pending& waited = ends[end / share];
    if (start < starts.size() && starts[start].event.clock <= waited.event.clock) {
      book_pair(starts[start++], waited);
    } else {
      ++losses_->unmatched_ends;
    }
  }
  losses_->unmatched_starts += starts.size() - start;
}

/// Rings have lost their oldest records, each its own number of them.
void RegionMatcher::match_newest(std::span<const Pending> starts, std::span<const Pending> ends) {
  size_t start = starts.size(), end = ends.size();
  while (start > 0 && end > 0) {
    if (starts[--start].event.clock <= ends[end - 1].event.clock) {
      book_pair(starts[start], ends[--end]);
    } else {
      ++losses_->unmatched_starts;  // nobody waited for it
    }
  }
  losses_->overwritten_starts += end;
  losses_->unmatched_starts += start;
}

void RegionMatcher::end_cta() {
  slot_ = ~uint64_t{0};
  const auto by_region_and_clock = [](const Pending& a, const Pending& b) {
    return a.event.region != b.event.region ? a.event.region < b.event.region
                                            : a.event.clock < b.event.clock;
  };
  std::stable_sort(pending_starts_.begin(), pending_starts_.end(), by_region_and_clock);
  std::stable_sort(pending_ends_.begin(), pending_ends_.end(), by_region_and_clock);
  std::span<const Pending> starts = pending_starts_, ends = pending_ends_;
  while (!starts.empty() || !ends.empty()) {
    const uint32_t region = starts.empty() ? ends[0].event.region
                            : ends.empty() ? starts[0].event.region
                                           : std::min(starts[0].event.region, ends[0].event.region);
    match_across(take_region(starts, region), take_region(ends, region));
  }
  pending_starts_.clear();
  pending_ends_.clear();
  is_start_lost_in_cta_ = false;
}

}  // namespace proton::device_buffer
