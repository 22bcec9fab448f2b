/// Samples of running instructions: what a backend that looks at warps now and then reports. A
/// sample is one look at one warp; its reason is why the warp did not issue (`selected`: it did).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace proton {

/// The reason that is none: the warp issued an instruction.
inline constexpr std::string_view kIssued = "selected";

/// What was seen at one instruction since the report before.
struct SampledPc {
  uint64_t module = 0;                // the backend's number for the code that was loaded
  std::string_view function;          // the symbol
  uint32_t pc = 0;                    // bytes from the function's start
  std::span<const uint32_t> samples;  // by reason
  std::span<const uint32_t> latency;  // by reason: those in whose cycle no warp issued at all
};

/// One read-out of one device. Reasons have the hardware's short names (`long_scoreboard`), and
/// are the same in every batch of a process.
struct SampleBatch {
  std::string_view device_type;  // "CUDA"
  uint32_t device_id = 0;
  std::span<const std::string> reasons;
  std::span<const SampledPc> pcs;
};

}  // namespace proton
