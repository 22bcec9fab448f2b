#include "session/samples/sample_report.h"

#include <algorithm>
#include <numeric>

namespace proton {
namespace {

uint64_t sum(const std::vector<uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

}  // namespace

std::string sample_metric(const std::string& reason) {
  if (reason == "no_instructions") return "stalled_no_instruction";
  if (reason == "not_selected") return "stalled_not_Selected";
  return "stalled_" + reason;
}

uint64_t SampleCounts::total() const { return sum(hidden) + sum(latency); }
uint64_t SampleCounts::total_latency() const { return sum(latency); }

SampleCounts& SampleReport::LineCounts::at(LineId line, size_t reason_count) {
  auto [found, is_new] = index.try_emplace(line, counts.size());
  if (is_new) {
    lines.push_back(line);
    counts.emplace_back(reason_count);
  }
  return counts[found->second];
}

SampleReport::SampleReport(const SampleCopy& copy, const ReportLimits& limits)
    : copy_(copy),
      limits_(limits),
      reason_count_(copy.reasons.size()),
      rows_of_function_(copy.rows.functions.size()) {
  const auto& instructions = copy.rows.instructions;
  for (uint32_t row = 0; row < instructions.size(); ++row) {
    rows_of_function_[instructions[row].function].push_back(row);
  }
}

std::vector<SampleReport::Group> SampleReport::groups() const {
  std::vector<Group> found;
  KeyIndex index;
  const auto& functions = copy_.rows.functions;
  for (uint32_t i = 0; i < functions.size(); ++i) {
    bool is_new;
    uint32_t* at = index.find_or_add(pair_key(functions[i].symbol, functions[i].device), is_new);
    if (is_new) {
      *at = static_cast<uint32_t>(found.size());
      found.push_back({functions[i].symbol, functions[i].device, {}, {}});
    }
    found[*at].functions.push_back(i);
  }
  for (uint32_t i = 0; i < copy_.timed.size(); ++i) {
    const TimedSymbol& timed = copy_.timed[i];
    const uint32_t* at = index.find(pair_key(timed.symbol, copy_.device_of(timed)));
    if (at != nullptr) found[*at].timed.push_back(i);
  }
  return found;
}

void SampleReport::divide(const Contexts& contexts, const Take& take) {
  for (const Group& group : groups()) {
    divide_group(group, contexts(group.symbol, group.device, group.timed), take);
  }
  limit_instructions();
}

void SampleReport::divide_group(const Group& group, std::vector<SampleContext> contexts,
                                const Take& take) {
  int64_t times_ns[] = {0, 0};  // of what is left out, of what is not
  for (const SampleContext& context : contexts) times_ns[context.is_included] += context.time_ns;
  const size_t all = contexts.size();
  std::erase_if(contexts, [](const SampleContext& context) { return !context.is_included; });
  if (contexts.empty()) {
    for (const uint32_t function : group.functions) {
      for (const uint32_t row : rows_of_function_[function]) {
        const uint64_t samples = counts_of(copy_.rows.instructions[row]).total();
        total_ += samples;
        left_out_ += samples;
      }
    }
    return;
  }
  ShareSplit included(times_ns);
  LineCounts counts;
  for (const uint32_t function : group.functions) {
    add_function(function, contexts.size(), contexts.size() < all ? &included : nullptr, counts);
  }
  is_split_ |= all > 1;
  divide_lines(counts, contexts, take);
}

SampleCounts SampleReport::counts_of(const SampledInstruction& instruction) const {
  SampleCounts counts(reason_count_);
  copy_.rows.for_each_cell(instruction, [&](const SampleCell& cell) {
    counts.latency[cell.reason] = std::min(cell.latency, cell.samples);
    counts.hidden[cell.reason] = cell.samples - counts.latency[cell.reason];
  });
  return counts;
}

void SampleReport::keep_included(SampleCounts& counts, ShareSplit& included) {
  for (std::vector<uint64_t>* kind : {&counts.hidden, &counts.latency}) {
    for (uint64_t& count : *kind) {
      if (count == 0) continue;
      uint64_t parts[2];
      included.split(count, parts);
      left_out_ += parts[0];
      count = parts[1];
    }
  }
}

void SampleReport::add_function(uint32_t number, size_t context_count, ShareSplit* included,
                                LineCounts& lines) {
  const SampledFunction& function = copy_.rows.functions[number];
  Kernel kernel{function, copy_.code[number].get()};
  kernel.context_count = context_count;
  const std::string& symbol = copy_.kernel_names[function.symbol];
  KeyIndex known;  // location -> line
  LineCounts own;
  std::vector<Instruction> all;
  for (const uint32_t row : rows_of_function_[number]) {
    const SampledInstruction& instruction = copy_.rows.instructions[row];
    SampleCounts counts = counts_of(instruction);
    total_ += counts.total();
    if (included != nullptr) keep_included(counts, *included);
    const uint64_t samples = counts.total();
    if (samples == 0) continue;
    LineId line = kNoLine;
    if (const uint32_t place = kernel.code == nullptr ? 0 : kernel.code->locate(instruction.pc)) {
      bool is_new;
      uint32_t* at = known.find_or_add(uint64_t{place}, is_new);
      if (is_new) *at = lines_.find(*kernel.code, place, symbol);
      line = *at;
    }
    for (LineCounts* to : {&lines, &own}) {
      if (to == &own && !limits_.with_line_totals) continue;
      SampleCounts& sums = to->at(line, reason_count_);
      for (size_t reason = 0; reason < reason_count_; ++reason) {
        sums.hidden[reason] += counts.hidden[reason];
        sums.latency[reason] += counts.latency[reason];
      }
    }
    kernel.has_lines |= line != kNoLine;
    kernel.samples += samples;
    all.push_back({row, line, samples});
    if (included != nullptr) partial_.emplace(row, std::move(counts));
  }
  for (size_t i = 0; i < own.lines.size(); ++i) {
    kernel.totals.emplace_back(own.lines[i], std::move(own.counts[i]));
  }
  if (kernel.samples == 0) return;
  keep_hottest(kernel, all);
  kernels_.push_back(std::move(kernel));
}

void SampleReport::keep_hottest(Kernel& kernel, std::vector<Instruction>& all) const {
  const size_t count = std::min(all.size(), limits_.kernel_instructions);
  std::ranges::partial_sort(all, all.begin() + static_cast<ptrdiff_t>(count), std::greater(),
                            &Instruction::samples);
  kernel.hottest.assign(all.begin(), all.begin() + static_cast<ptrdiff_t>(count));
}

/// Those with most samples, of whatever kernel; each kernel's by offset.
void SampleReport::limit_instructions() {
  std::vector<uint64_t> counts;
  for (const Kernel& kernel : kernels_) {
    for (const Instruction& instruction : kernel.hottest) counts.push_back(instruction.samples);
  }
  const auto pc = [this](const Instruction& each) { return copy_.rows.instructions[each.row].pc; };
  for (Kernel& kernel : kernels_) std::ranges::sort(kernel.hottest, {}, pc);
  if (counts.size() <= limits_.instructions) return;
  const auto last = counts.begin() + static_cast<ptrdiff_t>(limits_.instructions);
  std::nth_element(counts.begin(), last, counts.end(), std::greater());
  const uint64_t bar = *last;  // the first that is too many; ties go as well
  for (Kernel& kernel : kernels_) {
    std::erase_if(kernel.hottest, [bar](const Instruction& each) { return each.samples <= bar; });
  }
}

/// Line by line, so that what is held at a time grows with contexts, not with contexts and lines.
void SampleReport::divide_lines(const LineCounts& lines, const std::vector<SampleContext>& contexts,
                                const Take& take) const {
  if (contexts.size() == 1) {
    for (size_t i = 0; i < lines.lines.size(); ++i) {
      take(contexts.front().row, lines.lines[i], lines.counts[i]);
    }
    return;
  }
  std::vector<int64_t> times_ns;
  for (const SampleContext& context : contexts) times_ns.push_back(context.time_ns);
  ShareSplit split(times_ns);
  std::vector<SampleCounts> shares(contexts.size(), SampleCounts(reason_count_));
  std::vector<uint64_t> parts(contexts.size());
  for (size_t i = 0; i < lines.lines.size(); ++i) {
    for (const auto kind : {&SampleCounts::hidden, &SampleCounts::latency}) {
      for (size_t reason = 0; reason < reason_count_; ++reason) {
        const uint64_t count = (lines.counts[i].*kind)[reason];
        if (count == 0) {
          std::fill(parts.begin(), parts.end(), 0);
        } else {
          split.split(count, parts);
        }
        for (size_t at = 0; at < parts.size(); ++at) (shares[at].*kind)[reason] = parts[at];
      }
    }
    for (size_t at = 0; at < shares.size(); ++at) {
      if (shares[at].total() > 0) take(contexts[at].row, lines.lines[i], shares[at]);
    }
  }
}

}  // namespace proton
