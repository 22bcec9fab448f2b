/// Source lines that samples were taken in, as small integers: a line and the line it was inlined
/// into. Lines of one text below one line are one, whatever module they are of. Not locked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/key_index.h"
#include "base/string_table.h"
#include "base/text.h"
#include "model/sampled_code.h"

namespace proton {

/// Below its caller; kNoLine for those of the kernel itself.
using LineId = uint32_t;
inline constexpr LineId kNoLine = UINT32_MAX;

/// Stands for a function whose name no table tells.
inline constexpr std::string_view kInlined = "<inlined>";

struct SampleLine {
  LineId parent;
  uint32_t file;  // of SampleLines::texts
  uint32_t line;
  uint32_t function;
};

class SampleLines {
 public:
  /// The line of a place; kNoLine where it has no frames. `kernel` is the function of the
  /// outermost where the tables do not tell.
  LineId find(const SampledCode& code, uint32_t location, std::string_view kernel);

  const std::vector<SampleLine>& all() const { return lines_; }
  const std::string& text(uint32_t id) const { return texts_.text(id); }

  /// `path/file.py:12@function`
  std::string name(LineId line) const;

 private:
  LineId intern(const SampleLine& line);

  StringTable texts_;
  std::vector<SampleLine> lines_;
  KeyIndex places_;  // (file, function) -> number
  KeyIndex sites_;   // (place, line) -> number
  KeyIndex index_;   // (parent, site) -> line
  uint32_t place_count_ = 0;
  uint32_t site_count_ = 0;
};

inline LineId SampleLines::find(const SampledCode& code, uint32_t location,
                                std::string_view kernel) {
  LineId line = kNoLine;
  for (const SourceFrame& frame : code.frames(location)) {
    std::string_view function = frame.function;
    if (function.empty()) function = line == kNoLine ? kernel : kInlined;
    line = intern({line, texts_.intern(frame.file), frame.line, texts_.intern(function)});
  }
  return line;
}

inline LineId SampleLines::intern(const SampleLine& line) {
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

inline std::string SampleLines::name(LineId line) const {
  const SampleLine& at = lines_[line];
  return concat(text(at.file), ":", at.line, "@", text(at.function));
}

}  // namespace proton
