#include "session/scopes/range_thread.h"

#include <utility>

#include "base/hash.h"
#include "base/text.h"

namespace proton {
namespace {

std::string full_name(const RangeStart& start) {
  if (start.domain_name.empty()) return std::string(start.text);
  return concat(start.domain_name, ":", start.text);
}

}  // namespace

constinit thread_local RangeThread* this_ranges = nullptr;

void RangeThread::follow_epoch(uint32_t epoch) {
  if (epoch_ == epoch) return;
  epoch_ = epoch;
  name_index_.clear();
  names_.clear();
  registered_.clear();
  child_index_.clear();
  children_.clear();
}

NameId RangeThread::name_of(const RangeStart& start, RangeTable& table) {
  if (start.registered != 0 && start.registered < registered_.size() &&
      registered_[start.registered] != 0) {
    return registered_[start.registered] - 1;
  }
  const uint64_t hash = hash_text(start.text, start.domain);
  bool is_new;
  uint32_t* at = name_index_.find_or_add(hash, is_new);
  if (is_new) {
    *at = static_cast<uint32_t>(names_.size());
    names_.push_back({std::string(start.text), start.domain, table.intern(full_name(start))});
  }
  const SeenName& seen = names_[*at];
  const bool is_same = seen.text == start.text && seen.domain == start.domain;
  const NameId name = is_same ? seen.id : table.intern(full_name(start));
  constexpr uint32_t kLimit = 1u << 20;
  if (start.registered != 0 && start.registered < kLimit) {
    if (start.registered >= registered_.size()) registered_.resize(start.registered + 16);
    registered_[start.registered] = name + 1;
  }
  return name;
}

ContextId RangeThread::child(ContextId parent, NameId name, uint32_t tick, RangeTable& table,
                             bool& is_sighting) {
  bool is_new;
  uint32_t* at = child_index_.find_or_add((uint64_t{parent} << 32 | name) + 1, is_new);
  if (is_new) {
    *at = static_cast<uint32_t>(children_.size());
    children_.push_back({table.child(parent, name), tick - 1});
  }
  SeenChild& seen = children_[*at];
  is_sighting = seen.tick != tick;
  seen.tick = tick;
  return seen.context;
}

void RangeThread::add_sum(const OpenRange& range, bool is_mark) {
  const uint64_t key = (uint64_t{range.context} << 32 | range.frames) << 3 ^
                       (uint64_t{is_mark} << 2 | static_cast<uint64_t>(range.payload.kind));
  bool is_new;
  uint32_t* at = sum_index_.find_or_add(mix_bits(key) | 1, is_new);
  const auto is_same = [&](const RangeSum& sum) {
    return sum.context == range.context && sum.frames == range.frames && sum.is_mark == is_mark &&
           sum.kind == range.payload.kind;
  };
  if (is_new || !is_same(sums_[*at])) {  // of two keys that mix alike the newer stands here
    *at = static_cast<uint32_t>(sums_.size());
    sums_.push_back({range.context, range.frames, is_mark, range.payload.kind, 0, 0, 0});
  }
  RangeSum& sum = sums_[*at];
  ++sum.count;
  if (sum.kind == RangePayload::Kind::kInteger &&
      __builtin_add_overflow(sum.integer, range.payload.integer, &sum.integer)) {
    sum.integer = range.payload.integer < 0 ? INT64_MIN : INT64_MAX;
  }
  if (sum.kind == RangePayload::Kind::kReal) sum.real += range.payload.real;
}

std::vector<RangeSum> RangeThread::take_sums() {
  sum_index_.clear();
  return std::exchange(sums_, {});
}

ContextId RangeThread::innermost_after(uint64_t limit) const {
  for (size_t i = open.size(); i-- > 0 && open[i].serial > limit;) {
    if (open[i].context != kRootPath) return open[i].context;
  }
  return kRootPath;
}

void RangeThread::update() {
  context.store(innermost_after(host_serial), std::memory_order_release);
  depth.store(static_cast<uint32_t>(open.size()), std::memory_order_relaxed);
}

void RangeThread::clear() {
  open.clear();
  spans.clear();
  take_sums();
  host_serial = 0;
  update();
}

}  // namespace proton
