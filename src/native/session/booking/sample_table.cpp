#include "session/booking/sample_table.h"

#include <algorithm>

namespace proton {

uint32_t SampleTable::function_of(const SampledFunction& function) {
  auto [found, is_new] =
      function_index_.try_emplace(function, static_cast<uint32_t>(rows_.functions.size()));
  if (is_new) rows_.functions.push_back(function);
  return found->second;
}

void SampleTable::add(uint32_t function, uint32_t pc, std::span<const uint32_t> reasons,
                      std::span<const uint32_t> samples, std::span<const uint32_t> latency) {
  bool is_new;
  uint32_t* row = instruction_index_.find_or_add(pair_key(function, pc), is_new);
  if (is_new) {
    *row = static_cast<uint32_t>(rows_.instructions.size());
    rows_.instructions.push_back({function, pc, SampleRows::kNoCell});
  }
  SampledInstruction& instruction = rows_.instructions[*row];
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

}  // namespace proton
