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
#include "model/sampled_code.h"

namespace proton {

/// Below its caller; kNoLine for those of the kernel itself.
using LineId = uint32_t;
inline constexpr LineId kNoLine = UINT32_MAX;

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

}  // namespace proton
