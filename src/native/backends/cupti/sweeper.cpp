#include "backends/cupti/sweeper.h"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <thread>

namespace proton::cupti {

void Sweeper::start(void (*sweep)()) noexcept {
  last_.store(0, std::memory_order_relaxed);  // ids may begin anew
  if (is_started_.load(std::memory_order_relaxed)) return;
  if (sem_init(&asked_, 0, 0) != 0) return;
  // The program's signals are not for this thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([this, sweep] {
      for (;;) {
        if (sem_wait(&asked_) == 0) sweep();
      }
    }).detach();
    is_started_.store(true, std::memory_order_release);
  } catch (const std::system_error&) {  // no thread to be had: quiet threads may lose contexts
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Sweeper::ask(uint32_t correlation, uint32_t last) noexcept {
  if (!last_.compare_exchange_strong(last, correlation, std::memory_order_relaxed)) return;
  if (is_started_.load(std::memory_order_acquire)) sem_post(&asked_);
}

}  // namespace proton::cupti
