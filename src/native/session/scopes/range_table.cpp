#include "session/scopes/range_table.h"

#include <new>

#include "session/scopes/process.h"

namespace proton {

NameId RangeTable::intern(std::string_view name) {
  std::lock_guard lock(mutex_);
  return names_.intern(name);
}

ContextId RangeTable::child(ContextId parent, NameId name) {
  std::lock_guard lock(mutex_);
  if (rows_.size() >= kRangeBit - 1) return parent;
  bool is_new;
  uint32_t* row = index_.find_or_add((uint64_t{parent} << 32 | name) + 1, is_new);
  if (is_new) {
    *row = static_cast<uint32_t>(rows_.size());
    rows_.push_back({parent, name, kRootPath});
  }
  return *row | kRangeBit;
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
    const NameId name = process.names.intern(names_.text(row.name));
    row.path = process.paths.child(path_locked(row.parent), FrameId::scope(name));
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
