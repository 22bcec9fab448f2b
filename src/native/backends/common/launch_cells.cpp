#include "backends/common/launch_cells.h"

namespace proton {

LaunchCell* LaunchCells::reuse() noexcept {
  for (LaunchCell* cell = first(); cell != nullptr; cell = cell->next) {
    bool is_used = false;
    if (!cell->is_used.compare_exchange_strong(is_used, true)) continue;
    cell->under_way.store(0, std::memory_order_relaxed);
    cell->launches_before = cell->launch_count.load(std::memory_order_relaxed);
    return cell;
  }
  return nullptr;
}

void LaunchCells::add(LaunchCell& cell) noexcept {
  cell.next = first_.load(std::memory_order_relaxed);
  while (!first_.compare_exchange_weak(cell.next, &cell, std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
}

uint32_t LaunchCells::newest() const noexcept {
  uint32_t newest = 0;
  for (const LaunchCell* cell = first(); cell != nullptr; cell = cell->next) {
    const uint32_t last = cell->last_correlation.load(std::memory_order_relaxed);
    if (last != 0 && (newest == 0 || is_after(last, newest))) newest = last;
  }
  return newest;
}

uint32_t LaunchCells::oldest(uint32_t generation) const noexcept {
  uint32_t oldest = 0;
  for (const LaunchCell* cell = first(); cell != nullptr; cell = cell->next) {
    if (cell->generation.load(std::memory_order_acquire) != generation) continue;
    const uint32_t first_id = cell->first_correlation.load(std::memory_order_relaxed);
    if (oldest == 0 || is_after(oldest, first_id)) oldest = first_id;
  }
  return oldest;
}

std::vector<uint32_t> LaunchCells::under_way() const {
  std::vector<uint32_t> ids;
  for (const LaunchCell* cell = first(); cell != nullptr; cell = cell->next) {
    // With the exit's: what it launched is seen to be launched.
    if (const uint32_t id = cell->under_way.load(std::memory_order_acquire)) ids.push_back(id);
  }
  return ids;
}

uint64_t LaunchCells::count() const noexcept {
  uint64_t count = 0;
  for (const LaunchCell* cell = first(); cell != nullptr; cell = cell->next) {
    count += cell->launch_count.load(std::memory_order_relaxed);
  }
  return count;
}

void LaunchCells::take_calls(std::vector<LaunchEvent>& out) {
  for (LaunchCell* cell = first(); cell != nullptr; cell = cell->next) {
    std::lock_guard lock(cell->mutex);
    out.insert(out.end(), cell->calls.begin(), cell->calls.end());
    cell->calls.clear();
  }
}

void LaunchCells::forget() noexcept {
  for (LaunchCell* cell = first(); cell != nullptr; cell = cell->next) {
    cell->last_correlation.store(0, std::memory_order_relaxed);
    cell->under_way.store(0, std::memory_order_relaxed);
    std::lock_guard lock(cell->mutex);
    cell->calls.clear();
  }
}

void LaunchCells::forget_old(uint32_t newest, uint64_t distance) noexcept {
  for (LaunchCell* cell = first(); cell != nullptr; cell = cell->next) {
    uint32_t last = cell->last_correlation.load(std::memory_order_relaxed);
    if (last == 0 || is_after(last, newest) || newest - last < distance) continue;
    // A launch that comes meanwhile stays.
    cell->last_correlation.compare_exchange_strong(last, 0, std::memory_order_relaxed);
  }
}

}  // namespace proton
