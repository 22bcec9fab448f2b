/// A thread of Proton's own: the program's signals are not for it.
#pragma once

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

namespace proton {

/// Starts a thread that nobody joins. False: none is to be had.
template <typename Function>
bool start_quiet_thread(Function&& run) noexcept {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool is_started = true;
  try {
    std::thread(std::forward<Function>(run)).detach();
  } catch (const std::system_error&) {
    is_started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return is_started;
}

}  // namespace proton
