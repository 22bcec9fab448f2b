#include "backends/cupti/thread_cells.h"

#include <new>

#include "base/launch_count.h"

namespace proton::cupti {

constinit thread_local ThreadCell* this_cell = nullptr;

namespace {

std::atomic<ThreadCell*> newest_cell{nullptr};

/// Runs at thread exit.
struct CellExit {
  ThreadCell* cell = nullptr;
  ~CellExit() {
    if (cell == nullptr) return;
    this_cell = nullptr;
    this_launch_count = &no_launches;
    cell->is_used.store(false, std::memory_order_release);
  }
};
thread_local CellExit cell_exit;

ThreadCell* reuse_cell() noexcept {
  for (ThreadCell* cell = first_cell(); cell != nullptr; cell = cell->next) {
    bool is_used = false;
    if (cell->is_used.compare_exchange_strong(is_used, true)) return cell;
  }
  return nullptr;
}

}  // namespace

ThreadCell* first_cell() noexcept { return newest_cell.load(std::memory_order_acquire); }

ThreadCell* make_cell() noexcept {
  ThreadCell* cell = reuse_cell();
  if (cell == nullptr) {
    cell = new (std::nothrow) ThreadCell;
    if (cell == nullptr) return nullptr;
    cell->next = newest_cell.load(std::memory_order_relaxed);
    while (!newest_cell.compare_exchange_weak(cell->next, cell, std::memory_order_release,
                                              std::memory_order_relaxed)) {
    }
  }
  cell->nodes.clear();
  cell->under_way.store(0, std::memory_order_relaxed);
  cell->launches_before = cell->launch_count.load(std::memory_order_relaxed);
  this_cell = cell;
  this_launch_count = &cell->launch_count;
  cell_exit.cell = cell;
  return cell;
}

NodeLog& lead_nodes() noexcept {
  static NodeLog& log = *new NodeLog;
  return log;
}

uint32_t newest_correlation() noexcept {
  uint32_t newest = 0;
  for (ThreadCell* cell = first_cell(); cell != nullptr; cell = cell->next) {
    const uint32_t last = cell->last_correlation.load(std::memory_order_relaxed);
    if (last != 0 && (newest == 0 || is_after(last, newest))) newest = last;
  }
  return newest;
}

uint32_t oldest_correlation(uint32_t generation) noexcept {
  uint32_t oldest = 0;
  for (ThreadCell* cell = first_cell(); cell != nullptr; cell = cell->next) {
    if (cell->generation.load(std::memory_order_acquire) != generation) continue;
    const uint32_t first = cell->first_correlation.load(std::memory_order_relaxed);
    if (oldest == 0 || is_after(oldest, first)) oldest = first;
  }
  return oldest;
}

std::vector<uint32_t> launches_under_way() {
  std::vector<uint32_t> ids;
  for (ThreadCell* cell = first_cell(); cell != nullptr; cell = cell->next) {
    // With the exit's: what it launched is seen to be launched.
    if (const uint32_t id = cell->under_way.load(std::memory_order_acquire)) ids.push_back(id);
  }
  return ids;
}

void forget_correlations() noexcept {
  for (ThreadCell* cell = first_cell(); cell != nullptr; cell = cell->next) {
    cell->last_correlation.store(0, std::memory_order_relaxed);
    cell->nodes.forget();
    cell->under_way.store(0, std::memory_order_relaxed);
    std::lock_guard lock(cell->mutex);
    cell->launches.clear();
  }
  lead_nodes().forget();
}

void interrupt_logs() {
  for (ThreadCell* cell = first_cell(); cell != nullptr; cell = cell->next) {
    cell->nodes.interrupt();
  }
  lead_nodes().interrupt();
}

void forget_old_correlations(uint32_t newest, uint64_t distance) noexcept {
  for (ThreadCell* cell = first_cell(); cell != nullptr; cell = cell->next) {
    uint32_t last = cell->last_correlation.load(std::memory_order_relaxed);
    if (last == 0 || is_after(last, newest) || newest - last < distance) continue;
    // A launch that comes meanwhile stays.
    cell->last_correlation.compare_exchange_strong(last, 0, std::memory_order_relaxed);
  }
}

uint64_t count_launches() noexcept {
  uint64_t count = 0;
  for (ThreadCell* cell = first_cell(); cell != nullptr; cell = cell->next) {
    count += cell->launch_count.load(std::memory_order_relaxed);
  }
  return count;
}

void take_launches(std::vector<LaunchEvent>& out) {
  for (ThreadCell* cell = first_cell(); cell != nullptr; cell = cell->next) {
    std::lock_guard lock(cell->mutex);
    out.insert(out.end(), cell->launches.begin(), cell->launches.end());
    cell->launches.clear();
  }
}

}  // namespace proton::cupti
