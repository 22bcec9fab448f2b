#include "backends/device_buffer/regions.h"

#include <algorithm>
#include <bit>

namespace proton::device_buffer {
namespace {

// Kernels nest a few regions; damaged buffers would nest as many as there are records.
constexpr size_t kMostDepth = 256;

}  // namespace

void RegionMatcher::begin(std::span<const Region> regions, Options options, Losses& losses) {
  regions_ = regions;
  options_ = options;
  losses_ = &losses;
  contexts_.begin(options.keeps_spans);
  patterns_.begin();
  queues_.resize(std::max(queues_.size(), regions.size()));
  may_overlap_ = std::ranges::any_of(regions, &Region::may_overlap);
}

void RegionMatcher::add_warp(uint64_t slot, std::span<const Event> events, bool is_start_lost,
                             uint32_t alike) {
  slot_ = slot;
  is_start_lost_ = is_start_lost;
  if (is_start_lost) across_.lose_start();
  worked_ = 0;
  first_clock_ = events.empty() ? 0 : events[0].clock;
  has_crossed_ = false;
  patterns_.begin_warp();
  if (may_overlap_) ends_.find(events, regions_);
  const Event* before = nullptr;
  for (const Event& event : events) {
    at_ = static_cast<size_t>(&event - events.data());
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
  patterns_.learn(alike, events, !has_crossed_ && !options_.keeps_spans, contexts_.touched());
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
  const size_t ends_at = may_overlap_ && !is_queued ? ends_.of(at_) : at_;
  if (ends_at == RegionEnds::kNone) [[unlikely]] {
    ++losses_->unmatched_starts;
    return;
  }
  const uint32_t context = enter_context(event.region, ends_at);
  if (context == kNoContext) [[unlikely]] {
    skipped_ += !is_queued;
  } else if (is_queued) {
    queues_[event.region].starts.push_back({slot_, event, context, place(event)});
    queued_.push_back(event.region);
  } else {
    open_.push_back({event, context, worked_, place(event), false, 0, ends_at});
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
    has_crossed_ = !may_overlap_;
    open_.erase(open_.begin() + static_cast<ptrdiff_t>(at));
  }
  if (start.is_crossed) {
    --crossed_;
    ++losses_->crossed_regions;
  }
  for (size_t above = at; has_crossed_ && above < open_.size(); ++above) {
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
  patterns_.add_passage(start.event.number, end.number, start.context);
  contexts_.book(
      start.context, {slot_, start.event.clock, start.placed}, {slot_, end.clock, placed},
      options_.cost.is_known() ? worked - start.worked : static_cast<double>(raw), slot_);
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
  const HalfPassage half{slot_, event, kNoContext, place(event)};
  if (queue.taken == queue.starts.size()) return across_.add_end(half);
  book_pair(queue.starts[queue.taken++], half, options_.cost, contexts_, slot_);
}

void RegionMatcher::note(const Event& event) {
  const uint32_t at = enter_context(event.region, at_);
  if (at == kNoContext) return;
  RegionContext& context = contexts_.touch(at);
  ++context.count;
  if (event.kind == RecordKind::kValue) {
    if (regions_[event.region].has_floats) {
      context.values.add_float(std::bit_cast<double>(event.value));
    } else {
      context.values.add(event.value);
    }
  }
  const uint64_t placed = place(event);
  contexts_.add_span({slot_, slot_, placed, placed, event.value, at, event.kind});
}

uint32_t RegionMatcher::innermost(size_t end) const {
  if (crossed_ == 0 && !may_overlap_) [[likely]] {
    return open_.empty() ? kNoContext : open_.back().context;
  }
  for (size_t at = open_.size(); at-- > 0;) {
    const bool is_around = may_overlap_ ? open_[at].ends_at > end : !open_[at].is_crossed;
    if (is_around) return open_[at].context;
  }
  return kNoContext;
}

uint32_t RegionMatcher::enter_context(uint32_t region, size_t end) {
  const uint32_t context = contexts_.enter(innermost(end), region);
  losses_->too_deep += context == kNoContext;
  return context;
}

/// Where a span has a record of the warp at hand.
uint64_t RegionMatcher::place(const Event& event) const {
  const bool is_shifted = options_.cost.shifts_spans && options_.cost.is_known();
  return is_shifted ? first_clock_ + static_cast<uint64_t>(worked_) : event.clock;
}

void RegionMatcher::finish_warp() {
  losses_->unmatched_starts += open_.size();
  open_.clear();
  crossed_ = 0;
  skipped_ = 0;
  contexts_.finish_warp(slot_);
  for (const uint32_t region : queued_) {
    Queue& queue = queues_[region];
    across_.add_starts(std::span(queue.starts).subspan(queue.taken));
    queue.starts.clear();
    queue.taken = 0;
  }
  queued_.clear();
}

}  // namespace proton::device_buffer
