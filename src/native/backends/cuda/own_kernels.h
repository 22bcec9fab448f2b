/// Kernels of Proton's own, by their names in CUPTI's records: their times are in no profile.
#pragma once

#include <string_view>

namespace proton {

inline constexpr const char* kReaderName = "proton_read_metric_value";
inline constexpr const char* kReplayCounterName = "proton_count_replay";

inline bool is_own_kernel(std::string_view name) {
  return name == kReaderName || name == kReplayCounterName;
}

}  // namespace proton
