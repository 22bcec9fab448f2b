/// Holds threads before their next launch while sampling is switched on or off: CUPTI's calls that
/// do so hang for ever, and with them the launch, when another thread is inside one. Threads wait
/// before the driver, in its callback, and never longer than a limit: a switch that does not come
/// back is given up, and with it sampling for the rest of the process.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>

#include "backends/cupti/driver/thread_cells.h"

namespace proton::cupti {

class SamplingGate {
 public:
  /// On a launching thread, before and after the driver's call. A flag, while the gate is open.
  void enter(ThreadCell& cell) noexcept {
    for (;;) {
      const uint32_t state = state_.load(std::memory_order_relaxed);
      if ((state & kClosed) == 0) [[likely]] {
        cell.launch_epoch.store(state, std::memory_order_seq_cst);
        // After the store: who closes the gate sees the flag, or we see that it is closed.
        if (state_.load(std::memory_order_seq_cst) == state) [[likely]] {
          return;
        }
        cell.launch_epoch.store(0, std::memory_order_release);
      }
      if (!wait()) return;
    }
  }
  static void leave(ThreadCell& cell) noexcept {
    cell.launch_epoch.store(0, std::memory_order_release);
  }

  /// Whether the calling thread is between `enter` and `leave`.
  bool is_inside() const noexcept;

  /// From now on every launch passes the gate; flags that are older mean nothing.
  void begin() noexcept { state_.fetch_add(kClosed + 1, std::memory_order_seq_cst); }

  /// Keeps threads from launching, and waits for those inside. False: some stayed there longer
  /// than the limit; the gate is open again. One thread at a time.
  bool close(int64_t limit_ns) noexcept;
  void open() noexcept;
  /// The gate is closed for this call, from now on.
  void set_call(const char* function) noexcept;

  /// The switch that did not come back; empty: all did.
  std::string hung() const;
  bool has_hung() const noexcept { return has_hung_.load(std::memory_order_acquire); }
  /// Gives up on the call that the gate is closed for, if it takes longer than the limit.
  void give_up_if_late() noexcept;

  /// How long a call may take before it counts as hung.
  void set_limit(int64_t limit_ns) { limit_ns_.store(limit_ns); }

 private:
  static constexpr uint32_t kClosed = 1;

  /// Until the gate is open. False: the calling thread is the one that closed it.
  bool wait() noexcept;

  std::atomic<uint32_t> state_{2};  // kClosed, and above it the epoch, which is never 0
  std::atomic<bool> has_hung_{false};
  std::atomic<int64_t> limit_ns_{5'000'000'000};
  mutable std::mutex mutex_;
  std::condition_variable opened_;
  const char* function_ = "";
  int64_t since_ns_ = 0;
  std::string hung_;
};

}  // namespace proton::cupti
