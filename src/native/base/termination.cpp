#include "base/termination.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <ctime>
#include <iterator>
#include <mutex>
#include <new>
#include <string>

#include "base/quiet_thread.h"
#include "base/text.h"

namespace proton::termination {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGHUP};
constexpr int64_t kSecondNs = 1'000'000'000;
constexpr unsigned kRescueLimitS = 5;
constexpr unsigned kGoneStepUs = 100;
constexpr int kGoneTries = 1000;

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

std::atomic<Rescue> rescue{nullptr};
std::atomic<int64_t> patience{0};
std::atomic<bool> is_watched{false};  // a thread waits for a signal, then for answers
std::atomic<bool> is_watch_over{false};
std::atomic<pid_t> watcher{0};  // that thread
thread_local bool is_rescuer = false;

/// Between the thread that writes and the one that watches it. The handler posts `asked`; the rest
/// is guarded by `mutex`.
struct Answers {
  Semaphore asked;
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
  bool is_rescue_under_way = false;
  bool has_rescued = false;  // a child has written
};

Answers& answers() {
  static Answers& both = *new Answers;
  return both;
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
  if (is_watched.load()) sem_post(&answers().asked.value);
  errno = saved;
}

/// False: the time was over first; below 0 there is no limit.
bool wait_for(sem_t& semaphore, int64_t limit_ns) noexcept {
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
    result = limit_ns < 0 ? sem_wait(&semaphore) : sem_clockwait(&semaphore, CLOCK_MONOTONIC, &end);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

/// In the child. All signals are blocked there but its own limit: another thread may have held a
/// lock that it needs when the process was copied.
[[noreturn]] void run_rescue(int signal) noexcept {
  prctl(PR_SET_DUMPABLE, 0);  // what fails here is no crash of the program's
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  sigaction(SIGALRM, &action, nullptr);
  sigset_t limit_only;
  sigfillset(&limit_only);
  sigdelset(&limit_only, SIGALRM);
  pthread_sigmask(SIG_SETMASK, &limit_only, nullptr);
  alarm(kRescueLimitS);
  try {
    rescue.load()(signal);
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

/// True: a child has written.
bool fork_rescue(int signal) noexcept {
  is_rescuer = true;  // seen by what runs at a fork
  const pid_t child = fork();
  if (child == 0) run_rescue(signal);
  is_rescuer = false;
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && status == 0;
}

/// On a thread of its own, which needs nothing that the program could hold. The thread that writes
/// answers when it begins and when it is done: it may lose the GIL between the two.
void watch_answers() noexcept {
  Answers& own = answers();
  watcher.store(gettid());
  while (caught.load() == 0) {
    if (is_watch_over.load()) return is_watched.store(false);
    wait_for(own.asked.value, -1);
  }
  std::unique_lock lock(own.mutex);
  for (const int expected : {1, 2}) {
    const auto limit = std::chrono::nanoseconds(patience.load());
    if (own.changed.wait_for(lock, limit, [&] { return own.count >= expected; })) continue;
    own.is_rescue_under_way = true;
    lock.unlock();
    const bool has_rescued = fork_rescue(caught.load());
    lock.lock();
    own.has_rescued = has_rescued;
    own.is_rescue_under_way = false;
    own.changed.notify_all();
    return;
  }
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
  wait_for(woken(), limit_ns);
  return caught.load();
}

void set_rescue(Rescue function, int64_t patience_ns) noexcept {
  answers();
  patience.store(patience_ns);
  rescue.store(function);
  is_watch_over.store(false);
  if (!is_watched.exchange(true) && !start_quiet_thread(watch_answers)) is_watched.store(false);
}

void stop_rescue() noexcept {
  is_watch_over.store(true);
  for (int i = 0; i < kGoneTries && is_watched.load() && caught.load() == 0; ++i) {
    sem_post(&answers().asked.value);
    usleep(kGoneStepUs);
  }
  // The system lists a thread for a moment after its last step.
  const std::string listed = concat("/proc/self/task/", watcher.load());
  for (int i = 0; i < kGoneTries && !is_watched.load() && access(listed.c_str(), F_OK) == 0; ++i) {
    usleep(kGoneStepUs);
  }
}

bool answer() noexcept {
  if (!is_watched.load() || caught.load() == 0) return false;
  Answers& own = answers();
  std::unique_lock lock(own.mutex);
  ++own.count;
  own.changed.notify_all();
  own.changed.wait_for(lock, std::chrono::seconds(kRescueLimitS),
                       [&] { return !own.is_rescue_under_way; });
  return own.has_rescued;
}

bool is_rescuing() noexcept { return is_rescuer; }

int caught_signal() noexcept { return caught.load(); }

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
  new (&answers()) Answers;  // whoever held its lock is not here
  is_watched.store(false);
  watcher.store(0);
  caught.store(0);
  has_timer.store(false);
  if (owner.load() != 0) uninstall();
}

}  // namespace proton::termination
