#include "backends/cupti/driver/thread_cells.h"

#include <new>

#include "base/launch_count.h"

namespace proton::cupti {

constinit thread_local ThreadCell* this_cell = nullptr;

namespace {

constinit LaunchCells all_cells;

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

}  // namespace

LaunchCells& launch_cells() noexcept { return all_cells; }

ThreadCell* make_cell() noexcept {
  auto* cell = static_cast<ThreadCell*>(all_cells.reuse());
  if (cell == nullptr) {
    cell = new (std::nothrow) ThreadCell;
    if (cell == nullptr) return nullptr;
    all_cells.add(*cell);
  }
  cell->graphs.nodes.clear();
  this_cell = cell;
  this_launch_count = &cell->launch_count;
  cell_exit.cell = cell;
  return cell;
}

NodeLog& lead_nodes() noexcept {
  static NodeLog& log = *new NodeLog;
  return log;
}

uint32_t newest_correlation() noexcept { return all_cells.newest(); }

}  // namespace proton::cupti
