/// The Python stack as a path: frames are (code object, instruction offset) pairs while recording
/// and become `file:line@function` only when written. Frames of proton itself are left out.
/// GIL held.
#pragma once

#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/scopes/modules.h"
#include "bindings/scopes/python_frames.h"
#include "model/ids.h"
#include "session/scopes/thread_state.h"

namespace proton::bindings {

/// The stack that a thread showed last, and the paths of its frames: the next one mostly differs in
/// its innermost frames alone, and only those are looked up. Used by the thread that owns it.
/// With modules, two stacks are alike if they call the same ones too: a loop over layers is at one
/// instruction each time.
template <bool kWithModules>
class BasicFrameStack {
 public:
  /// Whether `path` is at work further up: a step ran code of the program that came back here.
  bool is_busy() const { return is_busy_; }

  /// Reads the calling thread's stack. False: it has no Python frames, or they cannot be read.
  bool read(PyThreadState* state) {
    std::swap(now_, before_);
    std::swap(depth_, before_depth_);
    int count = read_marks(state);
    if (count > static_cast<int>(now_.size())) {
      now_.resize(static_cast<size_t>(count) * 2);
      before_.resize(now_.size());
      count = read_marks(state);
    }
    depth_ = static_cast<size_t>(std::max(count, 0));
    if constexpr (kWithModules) read_modules();
    if (depth_ != before_depth_) changed_ = depth_ - count_common();
    return count > 0;
  }

  /// The path of the stack just read, below `base`; `step` gives that of a frame below a path, and
  /// gets its module (null: none) where there are any. Where it throws, `clear` comes next.
  template <typename Step>
  PathId path(Step step, PathId base = kRootPath) {
    if constexpr (kWithModules) {
      if (base != base_) changed_ = depth_;
      base_ = base;
    }
    paths_.resize(depth_ - changed_);
    PathId path = paths_.empty() ? base : paths_.back();
    if (changed_ == 0) return path;
    is_busy_ = true;
    for (size_t i = changed_; i-- > 0;) {
      proton_frame frame;
      if (proton_read_frame(&now_[i], &frame) != 0) {
        if constexpr (kWithModules) {
          path = step(path, frame, modules_.now[i]);
        } else {
          path = step(path, frame);
        }
      }
      paths_.push_back(path);
    }
    is_busy_ = false;
    return path;
  }

  /// The outermost module of the stack just read; null: there is none.
  PyObject* root() const {
    for (size_t i = depth_; i-- > 0;) {
      if (modules_.now[i] != nullptr) return modules_.now[i];
    }
    return nullptr;
  }

  void clear() {
    is_busy_ = false;
    depth_ = before_depth_ = changed_ = 0;
    paths_.clear();
  }

 private:
  int read_marks(PyThreadState* state) {
    int changed = 0;
    const int count = proton_read_marks(state, now_.data(), before_.data(),
                                        static_cast<int>(now_.size()), &changed);
    changed_ = static_cast<size_t>(changed);
    return count;
  }

  void read_modules() {
    std::swap(modules_.now, modules_.before);
    modules_.now.resize(now_.size());
    modules_.before.resize(now_.size());
    proton_read_selves(now_.data(), static_cast<int>(depth_), module_code(), modules_.now.data());
    if (depth_ != before_depth_) return;
    for (size_t i = depth_; i-- > changed_;) {
      if (modules_.now[i] == modules_.before[i]) continue;
      changed_ = i + 1;
      break;
    }
  }

  bool is_common(size_t now, size_t before) const {
    if constexpr (kWithModules) {
      if (modules_.now[now] != modules_.before[before]) return false;
    }
    return now_[now].instruction == before_[before].instruction;
  }

  /// How many of the outermost frames are as they were.
  size_t count_common() const {
    const size_t most = std::min(depth_, before_depth_);
    size_t common = 0;
    while (common < most && is_common(depth_ - 1 - common, before_depth_ - 1 - common)) ++common;
    return common;
  }

  struct Modules {
    std::vector<PyObject*> now, before;  // as the marks; borrowed from the frames
  };
  struct None {};

  // innermost first; those beyond the depth do not count
  std::vector<proton_mark> now_ = std::vector<proton_mark>(64);
  std::vector<proton_mark> before_ = std::vector<proton_mark>(64);
  size_t depth_ = 0;
  size_t before_depth_ = 0;
  size_t changed_ = 0;         // how many of the innermost frames are not as they were
  std::vector<PathId> paths_;  // outermost first
  bool is_busy_ = false;
  [[no_unique_address]] std::conditional_t<kWithModules, Modules, None> modules_;
  PathId base_ = kRootPath;
};

using FrameStack = BasicFrameStack<false>;
using ModuleStack = BasicFrameStack<true>;

/// The stack that a thread showed last, within an epoch.
struct FrameCache {
  FrameStack stack;
  uint32_t epoch = 0;
};

/// Positions that are no frames of the user's.
inline constexpr uint32_t kInternal = 0;  // proton itself: left out of the path
inline constexpr uint32_t kLauncher = 1;  // runs the target of the `proton` command: paths start
                                          // above it

/// Code objects are 16-byte aligned and kept alive, so that (code, offset) fits one exact key as
/// long as offsets stay below 2^20; longer functions share their last position.
inline uint64_t position_key(const PyCodeObject* code, int offset) {
  const auto limited = static_cast<uint64_t>(offset < 0 ? 0 : std::min(offset, (1 << 20) - 1));
  return (reinterpret_cast<uint64_t>(code) >> 4) << 20 | limited;
}

/// Takes the GIL, from any thread and also where it is held already.
class WithGil {
 public:
  WithGil() : state_(PyGILState_Ensure()) {}
  ~WithGil() { PyGILState_Release(state_); }
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

/// Whether Python is ending: nobody gets the GIL any more. Any thread.
inline bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

/// The number of a place in a code object, valid within the epoch; keeps the code alive.
uint32_t intern_position(PyCodeObject* code, int offset);

/// The path one position below `parent`.
PathId path_below(PathId parent, uint32_t position);

/// The path of a thread's frames, whichever it is.
PathId capture_frames_of(PyThreadState* state);

/// Sets the hooks of the core that concern frames. `package` is the folder of the proton package.
void init_python_context(const std::string& package);

void clear_frame_tables();

/// Sets the hook of the core that finds the context of a launch.
void init_python_launch();

/// The path of a thread's frames and modules below `base`, whichever thread it is.
PathId framework_path_of(PyThreadState* state, PathId base);

/// Sets the hooks of the core that find contexts for sessions which record a framework.
void init_framework_context();

/// The path of the lead's frames, for threads that have none of their own (autograd's, a
/// library's): their work is that of the code which the lead runs. Any thread but the lead, with or
/// without the GIL; waits for milliseconds, on a busy machine for 1 s at most. Where the lead
/// stands, with its state; where that cannot be found out in time, where it was seen last.
PathId path_of_lead() noexcept;

/// The same for sessions that record a framework: scopes, frames and modules of the lead.
PathId framework_path_of_lead() noexcept;

/// In a forked child, safe in a pthread_atfork handler.
void forget_lead_frames();

}  // namespace proton::bindings
