/// Kernels of Proton's own, by their names in CUPTI's records: they are in no profile.
#pragma once

namespace proton {

inline constexpr const char* kReaderName = "proton_read_metric_value";
inline constexpr const char* kReplayCounterName = "proton_count_replay";

}  // namespace proton
