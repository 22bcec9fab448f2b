/// The stack that a thread showed last, and the paths of its frames: the next one mostly differs in
/// its innermost frames alone, and only those are looked up. Used by the thread that owns it.
#pragma once

#include <Python.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "bindings/frames/python_frames.h"
#include "model/ids.h"

namespace proton::bindings {

class FrameStack {
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
    if (depth_ != before_depth_) changed_ = depth_ - count_common();
    return count > 0;
  }

  /// The path of the stack just read; `step` gives that of a frame below a path. Where it throws,
  /// `clear` comes next.
  template <typename Step>
  PathId path(Step step) {
    paths_.resize(depth_ - changed_);
    PathId path = paths_.empty() ? kRootPath : paths_.back();
    if (changed_ == 0) return path;
    is_busy_ = true;
    for (size_t i = changed_; i-- > 0;) {
      proton_frame frame;
      if (proton_read_frame(&now_[i], &frame) != 0) path = step(path, frame);
      paths_.push_back(path);
    }
    is_busy_ = false;
    return path;
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

  /// How many of the outermost frames are as they were.
  size_t count_common() const {
    const size_t most = std::min(depth_, before_depth_);
    size_t common = 0;
    while (common < most && now_[depth_ - 1 - common].instruction ==
                                before_[before_depth_ - 1 - common].instruction) {
      ++common;
    }
    return common;
  }

  // innermost first; those beyond the depth do not count
  std::vector<proton_mark> now_ = std::vector<proton_mark>(64);
  std::vector<proton_mark> before_ = std::vector<proton_mark>(64);
  size_t depth_ = 0;
  size_t before_depth_ = 0;
  size_t changed_ = 0;         // how many of the innermost frames are not as they were
  std::vector<PathId> paths_;  // outermost first
  bool is_busy_ = false;
};

}  // namespace proton::bindings
