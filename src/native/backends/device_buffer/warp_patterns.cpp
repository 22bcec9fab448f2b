#include "backends/device_buffer/warp_patterns.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/device_buffer/decode.h"

namespace proton::device_buffer {
namespace {

constexpr uint32_t kNoPayload = ~0u << kPayloadBits;
constexpr size_t kMostRecords = 4096;  // of a pattern
constexpr uint64_t kTries = 64;        // patterns that were of no use before no more are learned

Record record_at(const std::byte* place) {
  Record record;
  std::memcpy(&record, place, sizeof record);
  return record;
}

}  // namespace

void WarpPatterns::begin() {
  for (Pattern& pattern : patterns_) pattern.tags.clear();
  repeated_ = learned_ = 0;
}

/// Where every record is the start or the end of a passage within the warp, and nothing was lost.
void WarpPatterns::learn(uint32_t alike, std::span<const Event> events, bool is_plain,
                         std::span<const uint32_t> contexts) {
  Pattern& pattern = patterns_[alike % patterns_.size()];
  pattern.tags.clear();
  pattern.passages.clear();
  std::swap(pattern.passages, passages_);
  const bool is_simple = !events.empty() && events.size() == 2 * pattern.passages.size() &&
                         events.size() <= kMostRecords &&
                         events.back().number + 1 == events.size() && is_plain;
  if (!is_simple || learned_ > repeated_ + kTries) return;
  ++learned_;
  for (const Event& event : events) pattern.tags.push_back(pack_tag(event.kind, event.region));
  pattern.contexts.assign(contexts.begin(), contexts.end());
}

bool WarpPatterns::repeat(uint64_t slot, uint32_t alike, const WarpBytes& warp, uint32_t clock_bits,
                          const RecordCost& cost, RegionContexts& contexts, Losses& losses) {
  const Pattern& pattern = patterns_[alike % patterns_.size()];
  const size_t count = pattern.tags.size();
  if (count == 0 || warp.header.written_bytes != count * kRecordBytes ||
      warp.ring.size() < count * kRecordBytes || !warp.drained.empty()) {
    return false;
  }
  const std::byte* const ring = warp.ring.data();
  for (size_t at = 0; at < count; ++at) {
    if ((record_at(ring + at * kRecordBytes).tag & kNoPayload) != pattern.tags[at]) return false;
  }
  if (clocks_.size() < count) {
    clocks_.resize(count);
    worked_at_.resize(count);
  }
  const ClockWidener widener(warp.header, clock_bits);
  const bool is_cost_known = cost.is_known();
  uint64_t latest = widener.start(), before = UINT64_MAX;
  double worked = 0;
  for (size_t at = 0; at < count; ++at) {
    const uint64_t clock = widener.forward(
        clock_of(record_at(ring + at * kRecordBytes), clock_bits), latest, losses.clock_anomalies);
    if (is_cost_known && clock >= before) {
      losses.over_corrected += cost.contradicts(clock - before, 1);
      worked += cost.without(clock - before, 1);
    }
    clocks_[at] = before = clock;
    worked_at_[at] = worked;
  }
  losses.long_gaps += widener.has_end() && warp.header.end_clock - latest >= widener.wrap();
  for (const Pattern::Passage& passage : pattern.passages) {
    const uint64_t start = clocks_[passage.start], end = clocks_[passage.end];
    const uint64_t raw = end > start ? end - start : 0;
    const double cycles = is_cost_known ? worked_at_[passage.end] - worked_at_[passage.start]
                                        : static_cast<double>(raw);
    contexts[passage.context].add(raw, cycles);
  }
  for (const uint32_t at : pattern.contexts) contexts[at].finish_warp(slot);
  ++repeated_;
  return true;
}

}  // namespace proton::device_buffer
