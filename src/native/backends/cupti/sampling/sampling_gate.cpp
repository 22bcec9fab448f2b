#include "backends/cupti/sampling/sampling_gate.h"

#include <chrono>
#include <new>
#include <thread>

#include "base/clock.h"
#include "base/text.h"

namespace proton::cupti {
namespace {

/// CUPTI may launch kernels of its own on the thread that switches.
thread_local bool is_switching = false;

}  // namespace

bool SamplingGate::is_inside() const noexcept {
  return this_cell != nullptr && this_cell->launch_epoch.load(std::memory_order_relaxed) != 0 &&
         this_cell->launch_epoch.load(std::memory_order_relaxed) ==
             (state_.load(std::memory_order_relaxed) & ~kClosed);
}

bool SamplingGate::close(int64_t limit_ns) noexcept {
  set_call("launches under way");
  is_switching = true;
  const uint32_t epoch = state_.fetch_or(kClosed, std::memory_order_seq_cst) & ~kClosed;
  const int64_t deadline_ns = now_ns() + limit_ns;
  for (LaunchCell* cell = launch_cells().first(); cell != nullptr; cell = cell->next) {
    const auto& launching = static_cast<ThreadCell&>(*cell);
    while (launching.launch_epoch.load(std::memory_order_seq_cst) == epoch && cell != this_cell) {
      if (now_ns() > deadline_ns) {
        open();
        return false;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  return true;
}

void SamplingGate::open() noexcept {
  is_switching = false;
  state_.fetch_and(~kClosed, std::memory_order_seq_cst);
  std::lock_guard lock(mutex_);
  opened_.notify_all();
}

void SamplingGate::set_call(const char* function) noexcept {
  std::lock_guard lock(mutex_);
  function_ = function;
  since_ns_ = now_ns();
}

bool SamplingGate::wait() noexcept {
  if (is_switching) return false;
  std::unique_lock lock(mutex_);
  while ((state_.load(std::memory_order_relaxed) & kClosed) != 0) {
    const int64_t left_ns = since_ns_ + limit_ns_.load() - now_ns();
    if (left_ns <= 0) {
      lock.unlock();
      give_up_if_late();
      return true;
    }
    opened_.wait_for(lock, std::chrono::nanoseconds(left_ns));
  }
  return true;
}

void SamplingGate::give_up_if_late() noexcept {
  std::lock_guard lock(mutex_);
  if ((state_.load() & kClosed) == 0 || now_ns() < since_ns_ + limit_ns_.load()) return;
  try {
    hung_ = concat(function_, " did not come back within ", limit_ns_.load() / 1'000'000, " ms");
  } catch (const std::bad_alloc&) {
  }
  has_hung_.store(true, std::memory_order_release);
  state_.fetch_and(~kClosed, std::memory_order_seq_cst);
  opened_.notify_all();
}

std::string SamplingGate::hung() const {
  std::lock_guard lock(mutex_);
  return hung_;
}

}  // namespace proton::cupti
