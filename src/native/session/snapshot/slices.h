/// Copying a table that others add to, with its lock held for a slice of rows at a time. Private to
/// session/.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace proton {

inline constexpr size_t kSliceRows = 2048;  // a fraction of a millisecond
/// Whoever waits for the mutex gets it in a pause; without one this thread would take it again
/// first.
inline constexpr std::chrono::microseconds kSlicePause{1};

/// The rows that there are at the first look: they are only added to, or change in place.
template <typename Row>
void copy_in_slices(std::mutex& mutex, const std::vector<Row>& rows, std::vector<Row>& copied) {
  size_t count = 0;
  for (bool is_first = true; is_first || copied.size() < count; is_first = false) {
    if (!is_first) std::this_thread::sleep_for(kSlicePause);
    std::lock_guard lock(mutex);
    if (is_first) {
      count = rows.size();
      copied.reserve(count);
    }
    const auto from = rows.begin() + static_cast<ptrdiff_t>(copied.size());
    const size_t slice = std::min(kSliceRows, count - copied.size());
    copied.insert(copied.end(), from, from + static_cast<ptrdiff_t>(slice));
  }
}

}  // namespace proton
