// Another thread's frames stand still only while somebody else holds the GIL, and a thread that
// launches must not wait for it: who holds it may be waiting for the launch. So a thread of our
// own takes it, and launches wait for that thread with a limit. What it saw is good for as long as
// nobody but the launching thread has taken the GIL since (autograd's does, to let Python's tensors
// go), which a few loads tell: a whole backward pass asks once.
#include "bindings/scopes/python_context.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>

#include "session/scopes/host_booking.h"
#include "session/scopes/process.h"
#include "session/scopes/scope_events.h"

namespace proton::bindings {
namespace {

constexpr std::chrono::microseconds kFreeWait(1'000'000);  // nobody has the GIL: for a processor
constexpr std::chrono::microseconds kFirstWait(20'000);
constexpr std::chrono::microseconds kWait(250);  // it is known where the lead stood a moment ago

/// Where the lead stood, and when.
struct Seen {
  const ThreadState* lead = nullptr;
  uint32_t epoch = 0;  // 0: never
  PathId path = kRootPath;
  PathId framework = kRootPath;  // for sessions that record one
  unsigned long turns = 0;

  bool is_of(const ThreadState* of, uint32_t when) const { return lead == of && epoch == when; }
};

/// Null: the thread has ended, or Python does not know it. GIL held.
PyThreadState* python_state(const ThreadState& thread) {
  const uint64_t id = system_thread_id(thread.number);
  PyThreadState* found = nullptr;
  PyThreadState* state = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
  // The last one, which is the oldest: until a thread runs, Python 3.11 has the id of the thread
  // that starts it in its place.
  for (; state != nullptr; state = PyThreadState_Next(state)) {
    if (state->native_thread_id == id) found = state;
  }
  return found;
}

/// Reads them in place where it can: making objects of them could run code of the program's.
PathId frames_of(PyThreadState* state) {
  FrameStack stack;
  if (!stack.read(state)) return capture_frames_of(state);
  return stack.path([](PathId above, const proton_frame& frame) {
    return path_below(above, intern_position(frame.code, frame.offset));
  });
}

/// GIL held, and not by the lead.
Seen look() {
  Seen seen;
  seen.lead = process.threads.lead();
  seen.epoch = process.epoch.load(std::memory_order_relaxed);
  const PyThreadState* holder = nullptr;
  proton_lock_turns(&seen.turns, &holder);
  PyThreadState* state = seen.lead == nullptr ? nullptr : python_state(*seen.lead);
  if (state == nullptr) return seen;
  seen.path = path_with_state(frames_of(state), seen.lead->stack);
  if (process.has_active(is_framework)) {
    const PathId base = process.ranges.path(seen.lead->published.load(std::memory_order_relaxed));
    seen.framework = framework_path_of(state, base);
  }
  return seen;
}

class LeadFrames {
 public:
  PathId find(PathId Seen::* which) {
    const ThreadState* lead = process.threads.lead();
    const uint32_t epoch = process.epoch.load(std::memory_order_acquire);
    std::unique_lock lock(mutex_);
    // Twice: the first answer may have been on its way since before the lead came here.
    for (int i = 0; i < 2; ++i) {
      const bool is_known = seen_.is_of(lead, epoch);
      bool is_free = false;
      if (is_known_still(is_free) && is_known) break;
      if (is_finalizing()) break;
      if (process.hooks.holds_lock()) {
        lock.unlock();
        const Seen now = look();
        lock.lock();
        seen_ = now;
        break;
      }
      if (!is_asked_) {
        ask();
      } else if (!is_free) {  // the answer takes time; one thread has waited for it
        break;
      }
      const auto limit = is_free ? kFreeWait : is_known ? kWait : kFirstWait;
      if (!answered_.wait_for(lock, limit, [&] { return !is_asked_; }) || !is_free) break;
    }
    return seen_.is_of(lead, epoch) ? seen_.*which : kRootPath;
  }

 private:
  /// Whether the lead has not run since it was seen; the mutex is held. `is_free`: nobody has the
  /// GIL.
  bool is_known_still(bool& is_free) {
    unsigned long turns = 0;
    const PyThreadState* holder = nullptr;
    is_free = proton_lock_turns(&turns, &holder) != 0;
    if (is_free && turns == seen_.turns + 1 && holder != nullptr &&
        holder == PyGILState_GetThisThreadState()) {
      seen_.turns = turns;
    }
    return is_free && turns == seen_.turns;
  }

  /// The mutex is held.
  void ask() {
    if (!has_thread_) {
      std::thread([this] { serve(); }).detach();
      has_thread_ = true;
    }
    is_asked_ = true;
    asked_.notify_one();
  }

  /// Python may end the thread where it waits for the GIL: nothing is held there.
  void serve() {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        asked_.wait(lock, [&] { return is_asked_; });
      }
      const PyGILState_STATE held = PyGILState_Ensure();
      Seen now;
      try {
        now = look();
      } catch (const std::bad_alloc&) {  // asked again at the next launch
      }
      PyGILState_Release(held);
      std::lock_guard lock(mutex_);
      if (now.epoch != 0) seen_ = now;
      is_asked_ = false;
      answered_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable asked_, answered_;
  bool has_thread_ = false;
  bool is_asked_ = false;
  Seen seen_;
};

/// Never destroyed: its thread outlives main.
LeadFrames& lead_frames = *new LeadFrames;

}  // namespace

namespace {

PathId find_lead(PathId Seen::* which) noexcept {
  try {
    return lead_frames.find(which);
  } catch (...) {  // out of memory, or of threads
    return kRootPath;
  }
}

}  // namespace

PathId path_of_lead() noexcept { return find_lead(&Seen::path); }

PathId framework_path_of_lead() noexcept { return find_lead(&Seen::framework); }

void forget_lead_frames() { new (&lead_frames) LeadFrames; }

}  // namespace proton::bindings
