/// What a session is told about its sampling: how samples are taken, which of them to show, and
/// where the code is that they were taken in.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "model/sampled_code.h"

namespace proton {

struct SamplingFacts {
  int64_t period_cycles = 0;  // between two samples of a multiprocessor
  int64_t window_ns = 0;      // time in which samples are taken, once every `every_ns`
  int64_t every_ns = 0;       // 0: all the time
  /// Whether to show samples of kernels and scopes of that name; none: all are shown. Asked under
  /// the GIL, once a name; copied and destroyed without it.
  std::function<bool(const std::string& name)> include = {};
};

/// Of a function in a module; null: not known. Called on any thread, with or without the GIL.
using FindCode = std::shared_ptr<const SampledCode> (*)(uint64_t module, std::string_view symbol);

}  // namespace proton
