/// Signals that end the process by default (SIGTERM, SIGHUP), caught so that a thread of ours can
/// write first: the handler only notes the signal and wakes that thread. A second signal, or the
/// end of the time limit, ends the process at once. Where the thread does not come to write,
/// because the program's own code holds a lock that it needs, a forked child writes in its place.
#pragma once

#include <cstdint>

namespace proton::termination {

/// Catches those signals that still have their default action, or a compiler's: LLVM takes them to
/// remove its files. `limit_ns`: how long the process may live on after one. Anybody who installs a
/// handler later replaces ours.
void install(int64_t limit_ns) noexcept;

/// Gives back what ours replaced, where the handler is still ours.
void uninstall() noexcept;

/// Whether `signal` would come to us.
bool is_installed(int signal) noexcept;

/// Until a signal came (its number), `wake` was called or the time is over (0); below 0: no limit.
int wait(int64_t limit_ns) noexcept;

/// What a child does in place of the thread that waits: a copy of this process in which nothing
/// else runs, ended with the process by a time limit of its own.
using Rescue = void (*)(int signal);

/// From here on a thread of its own sees to that. `patience_ns`: how long the thread that waits may
/// take to `answer` after a signal.
void set_rescue(Rescue rescue, int64_t patience_ns) noexcept;

/// Ends that thread, unless a signal has come: a process that forks shall have as few as can be.
void stop_rescue() noexcept;

/// Called by the thread when it begins to write, and again when it has written. Waits for a child
/// that writes; true: there was one, and it has written.
bool answer() noexcept;

/// Whether the calling thread is forking such a child, or is in it.
bool is_rescuing() noexcept;

/// The signal that is ending the process; 0: none.
int caught_signal() noexcept;

/// Ends a `wait`, now or the next one.
void wake() noexcept;

/// Ends this process as `signal` does by default. Does not return.
[[noreturn]] void end(int signal) noexcept;

/// In a forked child: nobody waits there.
void reset_after_fork() noexcept;

}  // namespace proton::termination
