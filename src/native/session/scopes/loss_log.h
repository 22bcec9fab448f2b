/// What a session lost, and what it warns of. It has a lock of its own, the innermost one: any
/// thread may count, with or without the GIL and with any other lock held.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "model/losses.h"
#include "session/metrics/metric_table.h"

namespace proton {

class LossLog {
 public:
  void count(const std::string& kind, uint64_t count = 1) noexcept {
    try {
      std::lock_guard lock(mutex_);
      counts_[kind] += count;
    } catch (...) {  // out of memory: nothing left to say it with
    }
  }

  /// A metric value that a table may have refused.
  void count_refused(Booking booking) noexcept {
    if (booking == Booking::kBooked) return;
    count(booking == Booking::kOverflow ? losses::kMetricOverflow : losses::kMetricConflict);
  }

  void warn(const std::string& text) {
    std::lock_guard lock(mutex_);
    for (auto& [known, count] : warnings_) {
      if (known == text) {
        ++count;
        return;
      }
    }
    warnings_.emplace_back(text, 1);
  }

  /// The same, unless it was said already.
  void warn_once(const std::string& text) {
    std::lock_guard lock(mutex_);
    const auto is_same = [&](const auto& known) { return known.first == text; };
    if (std::ranges::none_of(warnings_, is_same)) warnings_.emplace_back(text, 1);
  }

  std::map<std::string, uint64_t> counts() const {
    std::lock_guard lock(mutex_);
    return counts_;
  }

  /// One line a text, with how often it was given.
  std::vector<std::string> warnings() const {
    std::lock_guard lock(mutex_);
    std::vector<std::string> lines;
    for (const auto& [text, count] : warnings_) {
      lines.push_back(count == 1 ? text : concat(text, " (", count, " times)"));
    }
    return lines;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, uint64_t> counts_;
  std::vector<std::pair<std::string, uint64_t>> warnings_;
};

}  // namespace proton
