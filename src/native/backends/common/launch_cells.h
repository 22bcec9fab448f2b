/// What a backend keeps for each thread that launches work: the newest correlation id, and for
/// timelines the calls themselves. Cells are made at a thread's first launch, used again after the
/// thread has ended, and never freed. A backend derives its own cell, with what else it needs, and
/// has a thread_local pointer to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "model/event.h"

namespace proton {

/// On cache lines of its own: its thread writes at every launch.
struct alignas(64) LaunchCell {
  std::atomic<uint32_t> last_correlation{0};
  std::atomic<uint32_t> generation{0};  // of the subscription that `first_correlation` is of
  std::atomic<uint32_t> first_correlation{0};
  std::atomic<uint32_t> under_way{0};  // the launch whose call has not returned; 0: none
  std::atomic<uint64_t> launch_count{0};
  const void* context = nullptr;  // that of the last launch; null: none in this generation
  int64_t start_ns = 0;           // of the call under way
  uint64_t launches_before = 0;   // of threads that had this cell earlier
  std::mutex mutex;               // guards `calls`
  std::vector<LaunchEvent> calls;
  std::atomic<bool> is_used{true};
  LaunchCell* next = nullptr;
};

/// Ids this far apart are still in order, whichever came first.
inline constexpr uint32_t kFarBack = 1u << 29;

/// Whether `id` comes after `other`; ids wrap around.
inline bool is_after(uint32_t id, uint32_t other) { return static_cast<int32_t>(id - other) > 0; }

/// All cells of a backend, newest first. Any thread; no lock but a cell's.
class LaunchCells {
 public:
  LaunchCell* first() const noexcept { return first_.load(std::memory_order_acquire); }
  /// For a new thread: the cell of one that has ended; null: there is none, make one and `add` it.
  LaunchCell* reuse() noexcept;
  void add(LaunchCell& cell) noexcept;

  /// The newest correlation id that any thread has seen: later launches have later ids.
  uint32_t newest() const noexcept;
  /// The oldest correlation id that any thread has seen in this generation; 0: none.
  uint32_t oldest(uint32_t generation) const noexcept;
  /// The launches whose calls have not returned.
  std::vector<uint32_t> under_way() const;
  uint64_t count() const noexcept;

  /// Appends the calls noted so far to `out` and forgets them.
  void take_calls(std::vector<LaunchEvent>& out);

  /// Ids start anew, and calls that were noted under old ones are nobody's; nobody may be launching
  /// under callbacks.
  void forget() noexcept;
  /// Those that lie `distance` launches or more behind `newest`, of threads that have launched
  /// nothing since: once ids have wrapped around they would seem newer than all others.
  void forget_old(uint32_t newest, uint64_t distance) noexcept;

 private:
  std::atomic<LaunchCell*> first_{nullptr};
};

}  // namespace proton
