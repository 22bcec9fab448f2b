#include "session/scopes/range_thread.h"

#include <new>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "session/scopes/process.h"

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
  const uint32_t row = name_index_.row_of(hash_text(start.text, start.domain), names_, [&] {
    return SeenName{std::string(start.text), start.domain, table.intern(full_name(start))};
  });
  const SeenName& seen = names_[row];
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
                             bool& is_first_use) {
  const auto make = [&] { return SeenChild{table.child(parent, name), tick - 1}; };
  SeenChild& seen = children_[child_index_.row_of(pair_key(parent, name), children_, make)];
  is_first_use = seen.tick != tick;
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

NameId RangeTable::intern(std::string_view name) {
  std::lock_guard lock(mutex_);
  return names_.intern(name);
}

ContextId RangeTable::child(ContextId parent, NameId name, FrameKind kind) {
  const FrameId frame = FrameId::named(kind, name);
  std::lock_guard lock(mutex_);
  if (rows_.size() >= kRangeBit - 1) return parent;
  const auto make = [&] { return Row{parent, frame, kRootPath}; };
  return index_.row_of(pair_key(parent, frame.bits()), rows_, make) | kRangeBit;
}

uint32_t RangeTable::epoch() const {
  std::lock_guard lock(mutex_);
  return epoch_;
}

PathId RangeTable::path_locked(ContextId context) const {
  if (is_range(context)) {
    const size_t row = context & ~kRangeBit;
    return row < rows_.size() ? rows_[row].path : kRootPath;
  }
  return context < process.paths.size() ? context : kRootPath;
}

void RangeTable::resolve_locked(size_t count) {
  for (; resolved_ < count; ++resolved_) {
    Row& row = rows_[resolved_];
    const NameId name = process.names.intern(names_.text(row.frame.number()));
    const FrameId frame = FrameId::named(row.frame.kind(), name);
    row.path = process.paths.child(path_locked(row.parent), frame);
  }
}

PathId RangeTable::path(ContextId context) {
  if (!is_range(context)) return context;
  std::lock_guard lock(mutex_);
  const size_t row = context & ~kRangeBit;
  if (row >= rows_.size()) return kRootPath;  // of a time before the tables were cleared
  resolve_locked(row + 1);
  return rows_[row].path;
}

void RangeTable::resolve_all() {
  std::lock_guard lock(mutex_);
  resolve_locked(rows_.size());
}

std::string RangeTable::text(NameId name) {
  std::lock_guard lock(mutex_);
  return name < names_.size() ? names_.text(name) : std::string("?");
}

void RangeTable::clear() {
  std::lock_guard lock(mutex_);
  ++epoch_;
  names_.clear();
  index_.clear();
  rows_.clear();
  resolved_ = 0;
}

void RangeTable::reset_after_fork() noexcept {
  const uint32_t next = epoch_ + 1;
  new (this) RangeTable;  // what it held is leaked: another thread may have been changing it
  epoch_ = next;
}

}  // namespace proton
