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

struct SampledFunctionHash {
  size_t operator()(const SampledFunction& function) const {
    return mix_bits(mix_bits(function.module) ^ pair_key(function.symbol, function.device));
  }
};

/// What was seen at one instruction for one reason.
struct SampleCell {
  uint32_t reason;  // of the session's reasons
  uint32_t next;    // the instruction's next cell, or SampleRows::kNoCell
  uint64_t samples;
  uint64_t latency;
};

struct SampledInstruction {
  uint32_t function;
  uint32_t pc;
  uint32_t first_cell;
};

/// The rows of a table. They are only ever added, or change in place, and a cell refers to older
/// ones only: a copy that takes instructions, then cells, then functions is whole.
struct SampleRows {
  static constexpr uint32_t kNoCell = UINT32_MAX;

  std::vector<SampledFunction> functions;
  std::vector<SampledInstruction> instructions;
  std::vector<SampleCell> cells;

  template <typename Take>  // void(const SampleCell&)
  void for_each_cell(const SampledInstruction& instruction, Take take) const {
    for (uint32_t at = instruction.first_cell; at != kNoCell; at = cells[at].next) take(cells[at]);
  }
};

class SampleTable {
 public:
  uint32_t function_of(const SampledFunction& function);

  /// Counts by reason, `reasons` being the session's numbers for them; zeros leave no trace.
  void add(uint32_t function, uint32_t pc, std::span<const uint32_t> reasons,
           std::span<const uint32_t> samples, std::span<const uint32_t> latency);

  const SampleRows& rows() const { return rows_; }
  uint64_t total() const { return total_; }  // samples

 private:
  SampleRows rows_;
  std::unordered_map<SampledFunction, uint32_t, SampledFunctionHash> function_index_;
  KeyIndex instruction_index_;  // (function, pc)
  uint64_t total_ = 0;
};

}  // namespace proton
