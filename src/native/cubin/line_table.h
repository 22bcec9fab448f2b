/// Where in the source each instruction comes from: one list a section, searched by halves.
///
/// .debug_line gives the line of each instruction and, where ptxas was told, the callers it was
/// inlined into. What Triton up to 3.7 tells only in comments of its PTX comes from there, by way
/// of .nv_debug_line_sass, which gives the line of PTX of each instruction. The PTX also knows
/// columns. Where the two name different lines, .debug_line is right: it is what NVIDIA's tools
/// show.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cubin/elf.h"
#include "cubin/line_program.h"
#include "cubin/ptx_locations.h"
#include "cubin/stacks.h"

namespace proton::cubin {

/// From an offset on, up to the next mark.
struct Mark {
  uint64_t offset = 0;
  LocationId location = kNowhere;
};
using Marks = std::vector<Mark>;

class LineTable {
 public:
  explicit LineTable(size_t name_budget) : names_(name_budget) {}

  /// Reads the tables; `ptx` may be empty. Returns whether all of .debug_line could be read.
  bool read(const Elf& elf, const Functions& functions, std::string_view ptx);

  bool empty() const { return sections_.empty(); }
  LocationId locate(uint32_t section, uint64_t offset) const;

  /// Outermost first.
  std::vector<Frame> frames(LocationId id) const;

 private:
  using SectionMarks = std::unordered_map<uint32_t, Marks>;

  bool read_source_lines(const Elf& elf, SectionMarks& marks);
  void read_ptx_lines(const Elf& elf, const PtxLocations& locations, SectionMarks& marks);
  void add_rows(const LineSequence& sequence, const LineHeader& header, Bytes texts,
                uint32_t section, Marks& marks);
  Marks merged(uint32_t section, const Marks& source, const Marks& ptx);
  LocationId combined(LocationId source, LocationId ptx, uint32_t function);
  bool is_same_file(uint32_t one, uint32_t other) const;
  uint32_t function_at(uint32_t section, uint64_t offset);
  uint32_t callee_name(Bytes texts, uint64_t start);
  uint32_t file_name(const LineHeader& header, uint32_t file);

  /// The function that was last asked for: rows come in the order of the code.
  struct Stretch {
    uint32_t section = 0;
    uint64_t start = 0;
    uint64_t end = 0;
    uint32_t name = 0;
  };

  const Functions* functions_ = nullptr;  // while it reads
  Stretch last_function_;
  Names names_;
  Stacks stacks_;
  std::vector<uint32_t> file_names_;  // of the header last used
  uint64_t header_of_names_ = 0;
  std::unordered_map<uint64_t, uint32_t> callees_;  // where in .debug_str -> name
  SectionMarks sections_;
};

}  // namespace proton::cubin
