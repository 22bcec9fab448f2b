/// DWARF line programs, versions 2 to 5: their heads, which say how to read opcodes and name files,
/// and how they run, with the opcode that NVIDIA adds for code that was inlined.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cubin/elf.h"
#include "cubin/reader.h"

namespace proton::cubin {

/// Sections that a line program refers to.
struct TextSections {
  Bytes texts;       // .debug_str
  Bytes line_texts;  // .debug_line_str
};

struct FileName {
  std::string_view folder;
  std::string_view name;
};

struct LineHeader {
  bool is_readable = false;   // what follows can be run
  uint64_t program = 0;       // where opcodes begin
  uint64_t end = 0;           // where the next unit begins
  uint64_t address_size = 8;  // of a relocated address
  uint8_t shortest_instruction = 1;
  int8_t line_base = 0;
  uint8_t line_range = 1;
  uint8_t opcode_base = 1;
  std::array<uint8_t, 256> operand_counts{};  // of standard opcodes, by opcode
  std::vector<FileName> files;                // by the number that opcodes use

  FileName file(uint64_t number) const {
    return number < files.size() ? files[number] : FileName();
  }
};

/// The head of the unit that begins at `start` of `section`. `end` is past `start` in any case.
LineHeader read_line_header(Bytes section, uint64_t start, const TextSections& texts);

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
