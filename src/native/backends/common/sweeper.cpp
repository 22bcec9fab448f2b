#include "backends/common/sweeper.h"

#include "base/quiet_thread.h"

namespace proton {

void Sweeper::start(void (*sweep)()) noexcept {
  last_.store(0, std::memory_order_relaxed);  // ids may begin anew
  if (is_started_.load(std::memory_order_relaxed)) return;
  if (sem_init(&asked_, 0, 0) != 0) return;
  // Without a thread quiet threads may lose contexts.
  const bool is_started = start_quiet_thread([this, sweep] {
    for (;;) {
      if (sem_wait(&asked_) == 0) sweep();
    }
  });
  is_started_.store(is_started, std::memory_order_release);
}

void Sweeper::ask(uint32_t correlation, uint32_t last) noexcept {
  if (!last_.compare_exchange_strong(last, correlation, std::memory_order_relaxed)) return;
  wake();
}

void Sweeper::wake() noexcept {
  if (is_started_.load(std::memory_order_acquire)) sem_post(&asked_);
}

}  // namespace proton
