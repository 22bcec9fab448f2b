#include "session/samples/sample_report.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <unordered_set>

#include "model/losses.h"

namespace proton {
namespace {

uint64_t sum(const std::vector<uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

Value count_value(uint64_t count) { return {static_cast<int64_t>(count)}; }

std::string base64(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t word = 0;
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    for (size_t i = 0; i < 3; ++i) {
      word = word << 8 | (i < count ? std::to_integer<uint32_t>(bytes[at + i]) : 0);
    }
    for (size_t i = 0; i < 4; ++i) {
      text += i <= count ? kDigits[word >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

std::string hexadecimal(uint64_t number) {
  char digits[16];
  return {digits, std::to_chars(digits, digits + sizeof(digits), number, 16).ptr};
}

/// {reason number: samples}, without zeros.
Value reasons_value(const SampleCounts& counts) {
  Value::Map map;
  for (size_t reason = 0; reason < counts.hidden.size(); ++reason) {
    if (counts.samples(reason) == 0) continue;
    map.emplace_back(std::to_string(reason), count_value(counts.samples(reason)));
  }
  return {std::move(map)};
}

Value number_value(LineId line, const std::vector<LineId>& numbers) {
  return {line == kNoLine ? int64_t{-1} : int64_t{numbers[line]}};
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
    const auto& [symbol, device, module] = functions[i];
    const Group empty{symbol, device, {}, {}};
    const uint32_t row = index.row_of(pair_key(symbol, device), found, [&] { return empty; });
    found[row].functions.push_back(i);
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
  choose_instructions();
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
  KeyIndex known;
  LineCounts own;
  for (const uint32_t row : rows_of_function_[number]) {
    const SampledInstruction& instruction = copy_.rows.instructions[row];
    SampleCounts counts = counts_of(instruction);
    total_ += counts.total();
    if (included != nullptr) keep_included(counts, *included);
    const uint64_t samples = counts.total();
    if (samples == 0) continue;
    const LineId line = line_at(kernel, instruction.pc, known);
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
    kernel.listed.push_back({instruction.pc, row, line, samples});
    if (included != nullptr) partial_.emplace(row, std::move(counts));
  }
  for (size_t i = 0; i < own.lines.size(); ++i) {
    kernel.totals.emplace_back(own.lines[i], std::move(own.counts[i]));
  }
  if (kernel.samples > 0) kernels_.push_back(std::move(kernel));
}

/// The line of an instruction; `known` has those of the kernel by location, as many share one.
LineId SampleReport::line_at(const Kernel& kernel, uint32_t pc, KeyIndex& known) {
  const uint32_t place = kernel.code == nullptr ? 0 : kernel.code->locate(pc);
  if (place == 0) return kNoLine;
  bool is_new;
  uint32_t* at = known.find_or_add(uint64_t{place}, is_new);
  if (is_new) *at = lines_.find(*kernel.code, place, copy_.kernel_names[kernel.function.symbol]);
  return *at;
}

/// The kernels with most samples are listed whole as long as there is room, of the others the
/// hottest instructions; each kernel's by offset.
void SampleReport::choose_instructions() {
  std::ranges::stable_sort(kernels_, std::greater(), &Kernel::samples);
  size_t room = limits_.whole_instructions;
  for (Kernel& kernel : kernels_) {
    const size_t count = kernel.instruction_count = whole_count(kernel);
    kernel.is_whole = count > 0 && count <= room;
    if (kernel.is_whole) {
      room -= count;
      list_whole(kernel);
    } else {
      keep_hottest(kernel);
    }
    std::ranges::sort(kernel.listed, {}, &Instruction::pc);
  }
  drop_coldest();
}

/// The instructions of a kernel's code, and those that were sampled behind its end; 0: not known.
size_t SampleReport::whole_count(const Kernel& kernel) const {
  const uint32_t size = kernel.code == nullptr ? 0 : kernel.code->size();
  if (size == 0) return 0;
  const auto is_behind = [size](const Instruction& each) { return each.pc >= size; };
  return size / kInstructionBytes +
         static_cast<size_t>(std::ranges::count_if(kernel.listed, is_behind));
}

void SampleReport::list_whole(Kernel& kernel) {
  std::unordered_set<uint32_t> sampled;
  for (const Instruction& instruction : kernel.listed) sampled.insert(instruction.pc);
  KeyIndex known;
  const uint32_t size = kernel.code->size();
  for (uint32_t pc = 0; size - pc >= kInstructionBytes; pc += kInstructionBytes) {
    if (sampled.contains(pc)) continue;
    kernel.listed.push_back({pc, kNotSampled, line_at(kernel, pc, known), 0});
  }
}

void SampleReport::keep_hottest(Kernel& kernel) const {
  const size_t count = std::min(kernel.listed.size(), limits_.kernel_instructions);
  std::ranges::partial_sort(kernel.listed, kernel.listed.begin() + static_cast<ptrdiff_t>(count),
                            std::greater(), &Instruction::samples);
  kernel.listed.resize(count);
}

/// Of the kernels that are not whole, the instructions with most samples stay.
void SampleReport::drop_coldest() {
  std::vector<uint64_t> counts;
  for (const Kernel& kernel : kernels_) {
    if (kernel.is_whole) continue;
    for (const Instruction& instruction : kernel.listed) counts.push_back(instruction.samples);
  }
  if (counts.size() <= limits_.instructions) return;
  const auto last = counts.begin() + static_cast<ptrdiff_t>(limits_.instructions);
  std::nth_element(counts.begin(), last, counts.end(), std::greater());
  const uint64_t bar = *last;  // the first that is too many; ties go as well
  for (Kernel& kernel : kernels_) {
    if (kernel.is_whole) continue;
    std::erase_if(kernel.listed, [bar](const Instruction& each) { return each.samples <= bar; });
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

// ---- the `sampling` object that a report becomes in files ----

/// The lines that are referred to, and those they were inlined into, in order: parents first.
std::vector<LineId> SampleReport::number_lines() const {
  const auto& all = lines_.all();
  std::vector<LineId> numbers(all.size(), kNoLine);
  const auto use = [&](LineId line) {
    for (; line != kNoLine && numbers[line] == kNoLine; line = all[line].parent) numbers[line] = 0;
  };
  for (const Kernel& kernel : kernels_) {
    for (const Instruction& instruction : kernel.listed) use(instruction.line);
    for (const auto& [line, counts] : kernel.totals) use(line);
  }
  LineId next = 0;
  for (LineId& number : numbers) {
    if (number != kNoLine) number = next++;
  }
  return numbers;
}

/// [pc, code, line, samples, latency samples, {reason: samples}]
Value SampleReport::instruction_value(const Kernel& kernel, const Instruction& instruction,
                                      const std::vector<LineId>& numbers) const {
  SampleCounts counts(reason_count_);
  if (instruction.row != kNotSampled) {
    const auto part = partial_.find(instruction.row);
    counts =
        part == partial_.end() ? counts_of(copy_.rows.instructions[instruction.row]) : part->second;
  }
  std::string code;
  if (kernel.code != nullptr) code = base64(kernel.code->instruction(instruction.pc));
  return {Value::List{{int64_t{instruction.pc}},
                      {std::move(code)},
                      number_value(instruction.line, numbers),
                      count_value(counts.total()),
                      count_value(counts.total_latency()),
                      reasons_value(counts)}};
}

/// [[line, samples, latency samples, {reason: samples}], ...]
Value SampleReport::line_totals_value(const Kernel& kernel,
                                      const std::vector<LineId>& numbers) const {
  Value::List list;
  for (const auto& [line, counts] : kernel.totals) {
    list.push_back({Value::List{number_value(line, numbers), count_value(counts.total()),
                                count_value(counts.total_latency()), reasons_value(counts)}});
  }
  return {std::move(list)};
}

Value SampleReport::kernel_value(const Kernel& kernel, const std::vector<LineId>& numbers) const {
  const auto& [device, known_architecture] = copy_.devices[kernel.function.device];
  const char* lines = kernel.code == nullptr ? "no cubin" : "no line table";
  if (kernel.has_lines) lines = "found";
  int64_t architecture = known_architecture;
  if (kernel.code != nullptr) architecture = kernel.code->architecture();
  int64_t number = 0;
  std::from_chars(device.id.data(), device.id.data() + device.id.size(), number);
  Value::List instructions;
  uint64_t listed = 0;
  for (const Instruction& instruction : kernel.listed) {
    instructions.push_back(instruction_value(kernel, instruction, numbers));
    listed += instruction.samples;
  }
  Value::Map map{{"symbol", {copy_.kernel_names[kernel.function.symbol]}},
                 {"device_id", {number}},
                 {"arch", {architecture}},
                 {"module", {hexadecimal(kernel.function.module)}},
                 {"samples", count_value(kernel.samples)},
                 {"contexts", count_value(kernel.context_count)},
                 {"lines", {std::string(lines)}},
                 {"instructions", {std::move(instructions)}},
                 {"other_samples", count_value(kernel.samples - listed)}};
  if (kernel.instruction_count > 0) {
    map.emplace_back("instruction_count", count_value(kernel.instruction_count));
  }
  if (limits_.with_line_totals) {
    map.emplace_back("line_samples", line_totals_value(kernel, numbers));
  }
  return {std::move(map)};
}

void SampleReport::describe(Summary& summary) {
  const Value::Map of_host = std::move(summary.sampling);
  Value::Map object;
  if (copy_.sampling != nullptr) {
    const SamplingFacts& facts = copy_.sampling->facts;
    object.emplace_back("period_cycles", Value{facts.period_cycles});
    object.emplace_back("window_ns", Value{facts.window_ns});
    object.emplace_back("every_ns", Value{facts.every_ns});
  }
  const auto loss = [&](const char* kind) {
    const auto found = summary.losses.find(kind);
    return count_value(found == summary.losses.end() ? 0 : found->second);
  };
  const std::vector<LineId> numbers = number_lines();
  Value::List reasons, kernels, lines;
  for (const std::string& reason : copy_.reasons) reasons.push_back({reason});
  for (const Kernel& kernel : kernels_) kernels.push_back(kernel_value(kernel, numbers));
  for (LineId i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == kNoLine) continue;
    const SampleLine& line = lines_.all()[i];
    lines.push_back({Value::List{{lines_.text(line.file)},
                                 {int64_t{line.line}},
                                 {lines_.text(line.function)},
                                 number_value(line.parent, numbers)}});
  }
  object.emplace_back("reasons", Value{std::move(reasons)});
  object.emplace_back("samples", count_value(total_ - left_out_));
  object.emplace_back("left_out", count_value(left_out_));
  object.emplace_back("dropped", loss(losses::kDroppedSamples));
  object.emplace_back("non_user", loss(losses::kNonUserSamples));
  object.emplace_back("overflows", loss(losses::kSampleOverflow));
  object.emplace_back("is_split", Value{is_split_});
  object.emplace_back("kernels", Value{std::move(kernels)});
  object.emplace_back("lines", Value{std::move(lines)});
  object.insert(object.end(), of_host.begin(), of_host.end());
  summary.sampling = std::move(object);
}

namespace {

SampleCopy copy_samples(const Session& session, int phase) {
  SampleCopy copy(session, session.find_phase(phase, session.host.data()));
  copy.copy_device_part();
  return copy;
}

}  // namespace

std::vector<std::string> sampled_files(const Session& session, int phase) {
  const SampleCopy copy = copy_samples(session, phase);
  SampleReport report(copy, {});
  report.divide([](NameId, uint32_t, const auto&) { return std::vector<SampleContext>(1); },
                [](uint32_t, LineId, const SampleCounts&) {});
  std::vector<std::string> files;
  std::unordered_set<uint32_t> known;
  for (const SampleLine& line : report.lines().all()) {
    if (known.insert(line.file).second) files.push_back(report.lines().text(line.file));
  }
  return files;
}

std::vector<std::pair<uint64_t, std::string>> missing_code(const Session& session, int phase) {
  const SampleCopy copy = copy_samples(session, phase);
  std::vector<std::pair<uint64_t, std::string>> missing;
  for (size_t i = 0; i < copy.code.size(); ++i) {
    const SampledFunction& function = copy.rows.functions[i];
    if (copy.code[i] != nullptr) continue;
    missing.emplace_back(function.module, copy.kernel_names[function.symbol]);
  }
  return missing;
}

}  // namespace proton
