/// Runs the line programs of a section: DWARF's opcodes, and the one that NVIDIA adds for code that
/// was inlined.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cubin/elf.h"
#include "cubin/line_header.h"

namespace proton::cubin {

struct LineRow {
  uint64_t offset = 0;  // in the section of code
  uint32_t file = 1;    // in the header's files
  uint32_t line = 1;    // 0: the compiler cannot tell
  uint32_t column = 0;  // 0: not known
  uint32_t caller = 0;  // inlined: the row of its sequence, from 1, that it was called at; 0: not
  uint64_t callee = 0;  // inlined: where the function's name stands in .debug_str
};

/// Rows of one stretch of code, in the order of the program; `caller` counts in that order. Several
/// may have one offset: the last of them tells.
struct LineSequence {
  std::optional<uint32_t> section;  // of the code; none: no relocation tells
  uint64_t end = 0;                 // the offset past the last row's code
  std::vector<LineRow> rows;
};

/// Calls `take` with every sequence of `section`, whose addresses `places` fills in. Returns
/// whether all of it could be read; what could is taken.
bool run_line_programs(Bytes section, const std::unordered_map<uint64_t, Place>& places,
                       const TextSections& texts,
                       const std::function<void(const LineSequence&, const LineHeader&)>& take);

}  // namespace proton::cubin
