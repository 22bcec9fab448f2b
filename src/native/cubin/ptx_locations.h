/// Source lines of PTX text: which inline stack each of its lines belongs to. Compilers write it as
/// `.loc FILE LINE COLUMN`, with the callers either as `inlined_at FILE LINE COLUMN` (Triton from
/// 3.8, CUDA C++), which names an earlier `.loc`, or, in Triton up to 3.7, only as a comment:
/// `// standard.py:191:40 @[ softmax.py:17:30 ]`. That is lost in the cubin, so the text itself is
/// needed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/key_index.h"
#include "cubin/reader.h"
#include "cubin/stacks.h"

namespace proton::cubin {

class PtxLocations {
 public:
  PtxLocations(Names& names, Stacks& stacks) : names_(names), stacks_(stacks) {}

  void parse(std::string_view ptx);

  /// The stack of a line of the text, counted from 1. Functions of frames are not filled in.
  LocationId at(uint64_t line) const { return line < by_line_.size() ? by_line_[line] : kNowhere; }

 private:
  using Site = std::tuple<uint32_t, uint32_t, uint32_t>;  // file, line, column

  void read_files(std::string_view ptx);
  void read_call_sites(std::string_view ptx);
  LocationId read_loc(std::string_view text, LocationId before);
  LocationId callers_in_comment(std::string_view comment);
  uint32_t file_called(std::string_view name, uint32_t line, uint32_t column) const;

  Names& names_;
  Stacks& stacks_;
  std::map<uint32_t, uint32_t> files_;                         // number -> name
  std::multimap<std::string, uint32_t, std::less<>> by_name_;  // last part of a path -> number
  std::set<Site> call_sites_;                                  // of .debug_info
  KeyIndex latest_;                                            // the last `.loc` of each
  std::vector<LocationId> by_line_;
};

/// Whether `ptx` is the text that a cubin was made of, told by `stored`, its .nv_debug_ptx_txt:
/// the same lines, ended by zeros and without comments and `.loc`.
bool is_same_ptx(std::string_view ptx, Bytes stored);

}  // namespace proton::cubin
