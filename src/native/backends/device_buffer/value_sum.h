/// What numbers that a kernel recorded in one place add up to. Integers keep their exact extremes;
/// floats that are not finite are counted and left out of the rest. Not locked.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace proton::device_buffer {

/// The smallest and the largest of some numbers.
template <typename T>
struct Extremes {
  T min{};
  T max{};

  void widen(T low, T high, bool is_first) {
    min = is_first ? low : std::min(min, low);
    max = is_first ? high : std::max(max, high);
  }
};

struct ValueSum {
  uint64_t count = 0;       // all of them
  uint64_t not_finite = 0;  // of them: NaN and infinities
  double sum = 0;           // never infinite: the largest number stands for more
  bool is_float = false;    // `floats` has the extremes, else `integers`
  Extremes<int64_t> integers{};
  Extremes<double> floats{};

  uint64_t finite_count() const { return count - not_finite; }

  void add(int64_t value) {
    integers.widen(value, value, count++ == 0);
    sum += static_cast<double>(value);
  }
  void add_float(double value) {
    is_float = true;
    const bool is_first = finite_count() == 0;
    ++count;
    if (!std::isfinite(value)) {
      ++not_finite;
      return;
    }
    floats.widen(value, value, is_first);
    add_to_sum(value);
  }
  /// Of the same kind, or with nothing in one of them.
  void add(const ValueSum& other) {
    is_float = is_float || other.is_float;
    if (other.finite_count() > 0) {
      const bool is_first = finite_count() == 0;
      integers.widen(other.integers.min, other.integers.max, is_first);
      floats.widen(other.floats.min, other.floats.max, is_first);
    }
    count += other.count;
    not_finite += other.not_finite;
    add_to_sum(other.sum);
  }

 private:
  void add_to_sum(double value) {
    constexpr double kMost = std::numeric_limits<double>::max();
    sum = std::clamp(sum + value, -kMost, kMost);
  }
};

}  // namespace proton::device_buffer
