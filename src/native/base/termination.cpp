#include "base/termination.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <iterator>

namespace proton::termination {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGHUP};
constexpr int64_t kSecondNs = 1'000'000'000;

std::atomic<int> caught{0};
std::atomic<int64_t> limit{0};
std::atomic<pid_t> owner{0};
std::atomic<bool> has_timer{false};
timer_t timer;

struct sigaction replaced[std::size(kSignals)]{};  // what ours stand in for

struct Semaphore {
  Semaphore() { sem_init(&value, 0, 0); }
  sem_t value;
};

sem_t& woken() {
  static Semaphore& semaphore = *new Semaphore;
  return semaphore.value;
}

void reset(int signal) noexcept {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
}

timespec to_timespec(int64_t ns) { return {ns / kSecondNs, ns % kSecondNs}; }

/// Calls nothing but what a signal handler may.
void on_signal(int signal) {
  const int saved = errno;
  int none = 0;
  if (owner.load() != getpid() || !caught.compare_exchange_strong(none, signal)) {
    reset(signal);  // a child's, or the second one: as if we were not there
    kill(getpid(), signal);
    errno = saved;
    return;
  }
  if (has_timer.load()) {
    itimerspec end{};
    end.it_value = to_timespec(limit.load());
    timer_settime(timer, 0, &end, nullptr);  // sends the second one
  }
  sem_post(&woken());
  errno = saved;
}

/// LLVM, which Triton brings, takes the signals for itself when it first compiles a kernel, to
/// remove temporary files: no wish of the program's.
bool is_of_compiler(const struct sigaction& action) noexcept {
  Dl_info found{};
  const auto* address = reinterpret_cast<const void*>(action.sa_handler);
  if (dladdr(address, &found) == 0 || found.dli_fname == nullptr) return false;
  const char* slash = std::strrchr(found.dli_fname, '/');
  const char* name = slash == nullptr ? found.dli_fname : slash + 1;
  return std::strncmp(name, "libtriton", 9) == 0 || std::strncmp(name, "libLLVM", 7) == 0;
}

bool is_ours(int signal) noexcept {
  struct sigaction action{};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == on_signal;
}

void make_timer() noexcept {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGTERM;
  has_timer.store(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
}

}  // namespace

void install(int64_t limit_ns) noexcept {
  woken();
  if (owner.exchange(getpid()) != getpid()) make_timer();  // timers do not survive a fork
  limit.store(limit_ns);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    const int signal = kSignals[i];
    struct sigaction action{};
    if (is_ours(signal) || sigaction(signal, nullptr, &action) != 0) continue;
    const bool is_default = (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
    if (!is_default && !is_of_compiler(action)) continue;
    replaced[i] = action;
    action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;  // the program's calls go on as if nothing had come
    sigaction(signal, &action, nullptr);
  }
}

void uninstall() noexcept {
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    if (is_ours(kSignals[i])) sigaction(kSignals[i], &replaced[i], nullptr);
  }
}

bool is_installed(int signal) noexcept { return is_ours(signal); }

int wait(int64_t limit_ns) noexcept {
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &end);
  const timespec more = to_timespec(limit_ns);
  end.tv_sec += more.tv_sec;
  end.tv_nsec += more.tv_nsec;
  if (end.tv_nsec >= kSecondNs) {
    end.tv_nsec -= kSecondNs;
    ++end.tv_sec;
  }
  int result;
  do {
    result = limit_ns < 0 ? sem_wait(&woken()) : sem_clockwait(&woken(), CLOCK_MONOTONIC, &end);
  } while (result != 0 && errno == EINTR);
  return caught.load();
}

void wake() noexcept { sem_post(&woken()); }

void end(int signal) noexcept {
  reset(signal);
  for (;;) {
    kill(getpid(), signal);
    pause();
  }
}

void reset_after_fork() noexcept {
  sem_init(&woken(), 0, 0);
  caught.store(0);
  has_timer.store(false);
  if (owner.load() != 0) uninstall();
}

}  // namespace proton::termination
