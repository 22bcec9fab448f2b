// The `sampling` object that a report becomes in files.
#include <algorithm>
#include <charconv>

#include "model/losses.h"
#include "session/samples/sample_report.h"

namespace proton {
namespace {

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

/// The lines that are referred to, and those they were inlined into, in order: parents first.
std::vector<LineId> SampleReport::number_lines() const {
  const auto& all = lines_.all();
  std::vector<LineId> numbers(all.size(), kNoLine);
  const auto use = [&](LineId line) {
    for (; line != kNoLine && numbers[line] == kNoLine; line = all[line].parent) numbers[line] = 0;
  };
  for (const Kernel& kernel : kernels_) {
    for (const Instruction& instruction : kernel.hottest) use(instruction.line);
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
  const SampledInstruction& sampled = copy_.rows.instructions[instruction.row];
  const auto part = partial_.find(instruction.row);
  const SampleCounts counts = part == partial_.end() ? counts_of(sampled) : part->second;
  std::string code;
  if (kernel.code != nullptr) code = base64(kernel.code->instruction(sampled.pc));
  return {Value::List{{int64_t{sampled.pc}},
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
  const SampleCopy::Device& device = copy_.devices[kernel.function.device];
  const char* lines = kernel.code == nullptr ? "no cubin" : "no line table";
  if (kernel.has_lines) lines = "found";
  int64_t architecture = device.architecture;
  if (kernel.code != nullptr) architecture = kernel.code->architecture();
  int64_t number = 0;
  std::from_chars(device.id.data(), device.id.data() + device.id.size(), number);
  Value::List instructions;
  uint64_t listed = 0;
  for (const Instruction& instruction : kernel.hottest) {
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
  if (limits_.with_line_totals) {
    map.emplace_back("line_samples", line_totals_value(kernel, numbers));
  }
  return {std::move(map)};
}

void SampleReport::describe(Summary& summary) {
  const Value::Map of_host = std::move(summary.sampling);
  Value::Map object;
  if (copy_.facts.has_value()) {
    object.emplace_back("period_cycles", Value{copy_.facts->period_cycles});
    object.emplace_back("window_ns", Value{copy_.facts->window_ns});
    object.emplace_back("every_ns", Value{copy_.facts->every_ns});
  }
  const auto loss = [&](const char* kind) {
    const auto found = summary.losses.find(kind);
    return count_value(found == summary.losses.end() ? 0 : found->second);
  };
  const std::vector<LineId> numbers = number_lines();
  Value::List reasons, kernels, lines;
  for (const std::string& reason : copy_.reasons) reasons.push_back({reason});
  std::ranges::stable_sort(kernels_, std::greater(), &Kernel::samples);
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

}  // namespace proton
