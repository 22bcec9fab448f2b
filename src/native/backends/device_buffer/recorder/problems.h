/// What went wrong, as lines for the user: each is told once, and not too many. Any thread.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace proton::device_buffer {

class Problems {
 public:
  void note(const std::string& text) {
    std::lock_guard lock(mutex_);
    if (told_.size() >= kMost || std::ranges::find(told_, text) != told_.end()) return;
    told_.push_back(text);
    lines_.push_back(text);
  }
  std::vector<std::string> take() {
    std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }
  /// The first session begins: what was told before may be told again.
  void restart() {
    std::lock_guard lock(mutex_);
    told_.clear();
  }

 private:
  static constexpr size_t kMost = 32;  // between two calls of `restart`

  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::vector<std::string> told_;
};

}  // namespace proton::device_buffer
