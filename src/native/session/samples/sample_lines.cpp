#include "session/samples/sample_lines.h"

#include "base/text.h"

namespace proton {
namespace {

constexpr std::string_view kInlined = "<inlined>";  // code of a function whose name no table tells

}  // namespace

LineId SampleLines::find(const SampledCode& code, uint32_t location, std::string_view kernel) {
  LineId line = kNoLine;
  for (const SourceFrame& frame : code.frames(location)) {
    std::string_view function = frame.function;
    if (function.empty()) function = line == kNoLine ? kernel : kInlined;
    line = intern({line, texts_.intern(frame.file), frame.line, texts_.intern(function)});
  }
  return line;
}

LineId SampleLines::intern(const SampleLine& line) {
  bool is_new;
  const auto number = [&is_new](KeyIndex& index, uint32_t first, uint32_t second, uint32_t& count) {
    uint32_t* at = index.find_or_add(pair_key(first, second), is_new);
    if (is_new) *at = count++;
    return *at;
  };
  const uint32_t place = number(places_, line.file, line.function, place_count_);
  const uint32_t site = number(sites_, place, line.line, site_count_);
  auto count = static_cast<uint32_t>(lines_.size());
  const LineId id = number(index_, line.parent, site, count);
  if (is_new) lines_.push_back(line);
  return id;
}

std::string SampleLines::name(LineId line) const {
  const SampleLine& at = lines_[line];
  return concat(text(at.file), ":", at.line, "@", text(at.function));
}

}  // namespace proton
