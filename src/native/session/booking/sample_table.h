/// The samples of a phase: how often each instruction was seen, by reason, and how long the sampled
/// kernels ran. Memory grows with distinct instructions and the reasons seen there, never with
/// samples. Not locked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/key_index.h"
#include "model/ids.h"

namespace proton {

/// How samples are taken, and which of them to show.
struct SamplingFacts {
  int64_t period_cycles = 0;  // between two samples of a multiprocessor
  int64_t window_ns = 0;      // time in which samples are taken, once every `every_ns`
  int64_t every_ns = 0;       // 0: all the time
  /// Whether to show samples of kernels and scopes of that name; none: all are shown. Asked under
  /// the GIL, once a name; copied and destroyed without it.
  std::function<bool(const std::string& name)> include = {};
};

/// The facts, with what the filter has said. Shared by the session and its snapshots.
class Sampling {
 public:
  explicit Sampling(SamplingFacts given) : facts(std::move(given)) {}

  /// Under the GIL. May run code of the program's, and throw what that throws.
  bool includes(const std::string& name) const {
    if (const auto known = answers_.find(name); known != answers_.end()) return known->second;
    const bool is_included = facts.include(name);
    answers_.insert_or_assign(name, is_included);
    return is_included;
  }

  const SamplingFacts facts;

 private:
  mutable std::unordered_map<std::string, bool> answers_;  // guarded by the GIL
};

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

inline uint32_t SampleTable::function_of(const SampledFunction& function) {
  auto [found, is_new] =
      function_index_.try_emplace(function, static_cast<uint32_t>(rows_.functions.size()));
  if (is_new) rows_.functions.push_back(function);
  return found->second;
}

inline void SampleTable::add(uint32_t function, uint32_t pc, std::span<const uint32_t> reasons,
                             std::span<const uint32_t> samples, std::span<const uint32_t> latency) {
  const uint32_t row = instruction_index_.row_of(pair_key(function, pc), rows_.instructions, [&] {
    return SampledInstruction{function, pc, SampleRows::kNoCell};
  });
  SampledInstruction& instruction = rows_.instructions[row];
  const auto count_at = [](std::span<const uint32_t> counts, size_t i) {
    return i < counts.size() ? counts[i] : 0u;
  };
  for (size_t i = 0; i < reasons.size(); ++i) {
    const uint32_t seen = count_at(samples, i);
    const uint32_t waited = count_at(latency, i);
    if (seen == 0 && waited == 0) continue;
    uint32_t at = instruction.first_cell;
    while (at != SampleRows::kNoCell && rows_.cells[at].reason != reasons[i])
      at = rows_.cells[at].next;
    if (at == SampleRows::kNoCell) {
      at = static_cast<uint32_t>(rows_.cells.size());
      rows_.cells.push_back({reasons[i], instruction.first_cell, 0, 0});
      instruction.first_cell = at;
    }
    rows_.cells[at].samples += seen;
    rows_.cells[at].latency += waited;
    total_ += seen;
  }
}

/// How long a kernel ran at a place, by the symbol that the device knows it by: what its samples
/// are divided by. Kept by sessions that sample.
struct TimedSymbol {
  uint32_t place;   // a PlaceId
  uint32_t kernel;  // of the session's kernels: the name that launch metadata may have given
  NameId symbol;    // of the session's kernel names
  int64_t time_ns = 0;
};

class TimedSymbols {
 public:
  /// `name_id` tells symbols apart; `symbol` is asked for those that are new at this place.
  template <typename Symbol>  // NameId()
  void add(uint32_t place, uint32_t kernel, uint32_t name_id, int64_t time_ns, Symbol symbol) {
    bool is_new;
    uint32_t* group = groups_.find_or_add(pair_key(place, kernel), is_new);
    if (is_new) *group = group_count_++;
    const uint32_t row = index_.row_of(pair_key(*group, name_id), all_,
                                       [&] { return TimedSymbol{place, kernel, symbol()}; });
    all_[row].time_ns += time_ns;
  }

  const std::vector<TimedSymbol>& all() const { return all_; }

 private:
  KeyIndex groups_;  // (place, kernel)
  uint32_t group_count_ = 0;
  KeyIndex index_;  // (group, name id) -> all_
  std::vector<TimedSymbol> all_;
};

}  // namespace proton
