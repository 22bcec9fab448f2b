// Signals that end the process, caught in children of the test.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>

#include "base/termination.h"
#include "check.h"

namespace termination = proton::termination;

namespace {

constexpr int64_t kSecond = 1'000'000'000;

/// What became of a child that runs `work`.
template <typename Work>
int status_of(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    termination::reset_after_fork();
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST(a_signal_wakes_the_thread_that_waits_and_the_status_is_the_signals) {
  const int status = status_of([] {
    termination::install(10 * kSecond);
    std::thread sender([] { kill(getpid(), SIGTERM); });
    const int signal = termination::wait(10 * kSecond);
    sender.join();
    if (signal != SIGTERM) _exit(1);
    termination::end(signal);
  });
  CHECK(WIFSIGNALED(status));
  CHECK_EQ(WTERMSIG(status), SIGTERM);
}

TEST(the_second_signal_ends_the_process_at_once) {
  const int status = status_of([] {
    termination::install(1000 * kSecond);
    kill(getpid(), SIGHUP);
    kill(getpid(), SIGHUP);
    _exit(1);
  });
  CHECK(WIFSIGNALED(status));
  CHECK_EQ(WTERMSIG(status), SIGHUP);
}

TEST(the_time_limit_ends_a_process_that_does_not_end_itself) {
  const int status = status_of([] {
    termination::install(kSecond / 20);
    kill(getpid(), SIGTERM);
    for (int i = 0; i < 500; ++i) usleep(10'000);
    _exit(1);
  });
  CHECK(WIFSIGNALED(status));
  CHECK_EQ(WTERMSIG(status), SIGTERM);
}

TEST(handlers_of_others_and_ignored_signals_stay) {
  const int status = status_of([] {
    signal(SIGHUP, SIG_IGN);
    termination::install(kSecond);
    if (termination::is_installed(SIGHUP) || !termination::is_installed(SIGTERM)) _exit(1);
    signal(SIGTERM, [](int) {});
    termination::uninstall();
    struct sigaction action{};
    sigaction(SIGTERM, nullptr, &action);
    if (action.sa_handler == SIG_DFL) _exit(2);
  });
  CHECK_EQ(status, 0);
}

TEST(a_child_of_the_process_ends_by_default) {
  const int status = status_of([] {
    termination::install(10 * kSecond);
    const int inner = status_of([] {
      if (termination::is_installed(SIGTERM)) _exit(1);
      kill(getpid(), SIGTERM);
      _exit(2);
    });
    if (!WIFSIGNALED(inner)) _exit(3);
    if (!termination::is_installed(SIGTERM)) _exit(4);
  });
  CHECK_EQ(status, 0);
}

namespace {

constexpr int kWritten = 42;  // what the child tells its parent through a pipe
int pipe_ends[2];

void rescue(int signal) {
  const char byte = static_cast<char>(kWritten + signal);
  if (::write(pipe_ends[1], &byte, 1) != 1) _exit(9);
}

}  // namespace

TEST(a_child_writes_where_nobody_answers_a_signal) {
  const int status = status_of([] {
    if (::pipe(pipe_ends) != 0) _exit(1);
    termination::set_rescue(rescue, kSecond / 50);
    termination::install(10 * kSecond);
    kill(getpid(), SIGTERM);  // nobody is in `wait`: the thread may be held up elsewhere
    if (termination::caught_signal() != SIGTERM || termination::is_rescuing()) _exit(3);
    char byte = 0;
    if (::read(pipe_ends[0], &byte, 1) != 1 || byte != kWritten + SIGTERM) _exit(4);
    if (!termination::answer() || !termination::answer()) _exit(5);
  });
  CHECK_EQ(status, 0);
}

TEST(a_signal_that_is_answered_has_no_child) {
  const int status = status_of([] {
    if (::pipe(pipe_ends) != 0) _exit(1);
    termination::set_rescue(rescue, 10 * kSecond);
    termination::install(20 * kSecond);
    if (termination::answer()) _exit(2);  // no signal came
    kill(getpid(), SIGTERM);
    termination::wait(10 * kSecond);
    if (termination::answer()) _exit(3);
    close(pipe_ends[1]);
    char byte = 0;
    if (::read(pipe_ends[0], &byte, 1) != 0) _exit(4);
  });
  CHECK_EQ(status, 0);
}

TEST(a_child_writes_where_the_thread_is_held_up_after_its_first_answer) {
  const int status = status_of([] {
    if (::pipe(pipe_ends) != 0) _exit(1);
    termination::set_rescue(rescue, kSecond / 5);
    termination::install(20 * kSecond);
    kill(getpid(), SIGTERM);
    if (termination::answer()) _exit(2);
    char byte = 0;
    if (::read(pipe_ends[0], &byte, 1) != 1 || byte != kWritten + SIGTERM) _exit(3);
    if (!termination::answer()) _exit(4);
  });
  CHECK_EQ(status, 0);
}

TEST(the_thread_that_would_fork_goes_when_it_is_told_to_and_comes_again) {
  const int status = status_of([] {
    const auto threads = [] {
      const auto listed = std::filesystem::directory_iterator("/proc/self/task");
      return std::distance(begin(listed), end(listed));
    };
    const auto before = threads();
    if (::pipe(pipe_ends) != 0) _exit(1);
    termination::set_rescue(rescue, kSecond / 50);
    const auto watched = threads();  // a sanitizer may have one of its own by now
    if (watched <= before) _exit(2);
    termination::stop_rescue();
    if (threads() != watched - 1) _exit(3);
    termination::set_rescue(rescue, kSecond / 50);
    termination::install(10 * kSecond);
    kill(getpid(), SIGTERM);
    char byte = 0;
    if (::read(pipe_ends[0], &byte, 1) != 1 || byte != kWritten + SIGTERM) _exit(4);
    termination::stop_rescue();  // too late for that
    if (!termination::answer()) _exit(5);
  });
  CHECK_EQ(status, 0);
}

TEST(a_child_that_fails_has_not_written) {
  const int status = status_of([] {
    termination::set_rescue([](int) { abort(); }, kSecond / 50);
    termination::install(10 * kSecond);
    kill(getpid(), SIGTERM);
    termination::wait(10 * kSecond);
    usleep(200'000);
    if (termination::answer()) _exit(1);
  });
  CHECK_EQ(status, 0);
}

TEST(waking_and_time_end_a_wait_without_a_signal) {
  termination::wake();
  CHECK_EQ(termination::wait(-1), 0);
  CHECK_EQ(termination::wait(kSecond / 100), 0);
}
