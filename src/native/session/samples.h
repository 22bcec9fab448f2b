/// The samples of a phase: how often each instruction was seen, by reason. Memory grows with
/// distinct instructions and the reasons seen there, never with samples. Not locked.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/key_index.h"
#include "model/ids.h"

namespace proton {

/// A function of one loaded module on one device.
struct SampledFunction {
  NameId symbol;    // of the session's kernel names
  uint32_t device;  // of the session's devices
  uint64_t module;

  bool operator==(const SampledFunction&) const = default;
};

/// What was seen at one instruction for one reason.
struct SampleCell {
  uint32_t reason;  // of the session's reasons
  uint32_t next;    // the instruction's next cell, or SampleTable::kNoCell
  uint64_t samples;
  uint64_t latency;
};

struct SampledInstruction {
  uint32_t function;
  uint32_t pc;
  uint32_t first_cell;
};

class SampleTable {
 public:
  static constexpr uint32_t kNoCell = UINT32_MAX;

  uint32_t function_of(const SampledFunction& function);

  /// Counts by reason, `reasons` being the session's numbers for them; zeros leave no trace.
  void add(uint32_t function, uint32_t pc, std::span<const uint32_t> reasons,
           std::span<const uint32_t> samples, std::span<const uint32_t> latency);

  const std::vector<SampledFunction>& functions() const { return functions_; }
  const std::vector<SampledInstruction>& instructions() const { return instructions_; }

  template <typename Take>  // void(const SampleCell&)
  void for_each_cell(const SampledInstruction& instruction, Take take) const {
    for (uint32_t at = instruction.first_cell; at != kNoCell; at = cells_[at].next) {
      take(cells_[at]);
    }
  }

  uint64_t total() const { return total_; }  // samples

 private:
  struct Hash {
    size_t operator()(const SampledFunction& function) const {
      return mix_bits(mix_bits(function.module) ^ pair_key(function.symbol, function.device));
    }
  };

  std::vector<SampledFunction> functions_;
  std::vector<SampledInstruction> instructions_;
  std::vector<SampleCell> cells_;
  std::unordered_map<SampledFunction, uint32_t, Hash> function_index_;
  KeyIndex instruction_index_;  // (function, pc)
  uint64_t total_ = 0;
};

}  // namespace proton
