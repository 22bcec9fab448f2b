/// Signals that end the process by default (SIGTERM, SIGHUP), caught so that a thread of ours can
/// write first: the handler only notes the signal and wakes that thread. A second signal, or the
/// end of the time limit, ends the process at once.
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

/// Ends a `wait`, now or the next one.
void wake() noexcept;

/// Ends this process as `signal` does by default. Does not return.
[[noreturn]] void end(int signal) noexcept;

/// In a forked child: nobody waits there.
void reset_after_fork() noexcept;

}  // namespace proton::termination
