/// The steps that a program marked in one phase. Under the GIL.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace proton {

using StepId = uint64_t;  // of a session; later steps have larger ones

struct MarkedStep {
  int64_t start_ns;  // host clock
  int64_t duration_ns;
  StepId id = 0;  // under which devices have their part of it
};

struct MarkedSteps {
  static constexpr size_t kMost = 65'536;  // with their times; those beyond are counted

  std::vector<MarkedStep> all;
  std::unordered_map<size_t, std::string> names;  // of those that have one, by their number
  uint64_t left_out = 0;

  uint64_t count() const { return all.size() + left_out; }
  bool is_full() const { return all.size() >= kMost; }

  /// False: there was no room for its times.
  bool add(MarkedStep step, const std::string& name) {
    if (is_full()) {
      ++left_out;
      return false;
    }
    if (!name.empty()) names.emplace(all.size(), name);
    all.push_back(step);
    return true;
  }
};

}  // namespace proton
