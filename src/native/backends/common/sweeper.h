/// Asks a driver for its records every so many launches, on a thread of its own. A thread that
/// launches rarely keeps a buffer of its own that may not fill for hours; the table of launches
/// would meanwhile be overwritten by other threads, and with it the contexts of those records.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <cstdint>

namespace proton {

class Sweeper {
 public:
  /// A quarter of what the table of launches holds.
  static constexpr int32_t kEvery = 1 << 18;

  /// Any launching thread. One load, but for one launch in kEvery.
  void on_launch(uint32_t correlation) noexcept {
    const uint32_t last = last_.load(std::memory_order_relaxed);
    // Signed: a thread that was interrupted may come with an older id than `last`.
    if (static_cast<int32_t>(correlation - last) < kEvery) [[likely]] {
      return;
    }
    ask(correlation, last);
  }

  /// Has the thread sweep now. Any thread, also inside the driver.
  void wake() noexcept;

  /// Starts the thread that sweeps, once; `sweep` must not throw. Without one launches still work.
  void start(void (*sweep)()) noexcept;

 private:
  void ask(uint32_t correlation, uint32_t last) noexcept;

  std::atomic<uint32_t> last_{0};
  std::atomic<bool> is_started_{false};
  sem_t asked_;
};

}  // namespace proton
