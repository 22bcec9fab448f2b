/// The head of a DWARF line program, versions 2 to 5: how to read its opcodes, and its files.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

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

}  // namespace proton::cubin
