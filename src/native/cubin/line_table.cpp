#include "cubin/line_table.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cubin/reader.h"

namespace proton::cubin {
namespace {

constexpr uint32_t kNotYet = ~0u;

/// In order of offsets, the last mark of each.
void put_in_order(Marks& marks) {
  if (!std::ranges::is_sorted(marks, {}, &Mark::offset)) {
    std::ranges::stable_sort(marks, {}, &Mark::offset);
  }
  size_t kept = 0;
  for (size_t i = 0; i < marks.size(); ++i) {
    if (i + 1 == marks.size() || marks[i + 1].offset != marks[i].offset) marks[kept++] = marks[i];
  }
  marks.resize(kept);
}

/// Puts the ends of sequences before what begins there.
void add_ends(Marks& marks, const std::vector<uint64_t>& ends) {
  Marks last, all;
  for (const uint64_t end : ends) last.push_back({end, kNowhere});
  put_in_order(last);
  put_in_order(marks);
  all.reserve(marks.size() + last.size());
  std::ranges::merge(last, marks, std::back_inserter(all), {}, &Mark::offset, &Mark::offset);
  put_in_order(all);
  marks = std::move(all);
}

/// The section of code that a sequence is of: where nothing tells, the only one there is.
std::optional<uint32_t> section_of(const LineSequence& sequence, const Functions& functions) {
  if (sequence.section || functions.all().empty()) return sequence.section;
  const uint32_t first = functions.all().front().section, last = functions.all().back().section;
  return first == last ? std::optional(first) : std::nullopt;
}

}  // namespace

bool LineTable::read(const Elf& elf, const Functions& functions, std::string_view ptx) {
  functions_ = &functions;
  SectionMarks source, from_ptx;
  const bool is_whole = read_source_lines(elf, source);
  if (!ptx.empty()) {
    PtxLocations locations(names_, stacks_);
    locations.parse(ptx);
    read_ptx_lines(elf, locations, from_ptx);
  }
  for (const auto& [section, marks] : source) {
    Marks all = merged(section, marks, from_ptx[section]);
    if (!all.empty()) sections_.emplace(section, std::move(all));
  }
  functions_ = nullptr;
  callees_.clear();
  return is_whole;
}

bool LineTable::read_source_lines(const Elf& elf, SectionMarks& marks) {
  const TextSections texts{elf.data(".debug_str"), elf.data(".debug_line_str")};
  std::unordered_map<uint32_t, std::vector<uint64_t>> ends;
  const bool is_whole =
      run_line_programs(elf.data(".debug_line"), elf.relocations(".debug_line"), texts,
                        [&](const LineSequence& sequence, const LineHeader& header) {
                          const std::optional<uint32_t> section = section_of(sequence, *functions_);
                          if (!section || *section >= elf.sections().size()) return;
                          add_rows(sequence, header, texts.texts, *section, marks[*section]);
                          ends[*section].push_back(sequence.end);
                        });
  for (auto& [section, list] : marks) add_ends(list, ends[section]);
  return is_whole;
}

void LineTable::add_rows(const LineSequence& sequence, const LineHeader& header, Bytes texts,
                         uint32_t section, Marks& marks) {
  std::vector<LocationId> by_row;
  by_row.reserve(sequence.rows.size());
  for (const LineRow& row : sequence.rows) {
    const uint32_t outermost = function_at(section, row.offset);
    const bool is_inlined = row.caller > 0 && row.caller <= by_row.size();
    uint32_t function = outermost;
    if (is_inlined) {
      function = callee_name(texts, row.callee);
      // Triton calls everything by the kernel's name. No kernel is inlined, so that says nothing.
      if (function == outermost) function = 0;
    }
    by_row.push_back(stacks_.add(is_inlined ? by_row[row.caller - 1] : kNowhere,
                                 file_name(header, row.file), row.line, row.column, function));
    marks.push_back({row.offset, by_row.back()});
  }
}

void LineTable::read_ptx_lines(const Elf& elf, const PtxLocations& locations, SectionMarks& marks) {
  std::unordered_map<uint32_t, std::vector<uint64_t>> ends;
  run_line_programs(elf.data(".nv_debug_line_sass"), elf.relocations(".nv_debug_line_sass"), {},
                    [&](const LineSequence& sequence, const LineHeader&) {
                      const auto section = section_of(sequence, *functions_);
                      if (!section) return;
                      Marks& list = marks[*section];
                      for (const LineRow& row : sequence.rows) {
                        list.push_back({row.offset, locations.at(row.line)});
                      }
                      ends[*section].push_back(sequence.end);
                    });
  for (auto& [section, list] : marks) add_ends(list, ends[section]);
}

/// Both lists and the functions of a section in one sweep. No row reaches into the next function:
/// a routine of NVIDIA's that has no lines does not belong to the line that happens to be before
/// it.
Marks LineTable::merged(uint32_t section, const Marks& source, const Marks& ptx) {
  constexpr uint64_t kEnd = ~uint64_t{0};
  const std::vector<Function>& functions = functions_->all();
  auto function = std::ranges::lower_bound(functions, section, {}, &Function::section);
  Marks out;
  LocationId from_source = kNowhere, from_ptx = kNowhere;
  for (size_t i = 0, j = 0;;) {
    const bool has_function = function != functions.end() && function->section == section;
    const std::array next{i < source.size() ? source[i].offset : kEnd,
                          j < ptx.size() ? ptx[j].offset : kEnd,
                          has_function ? function->offset : kEnd};
    const uint64_t offset = *std::ranges::min_element(next);
    if (offset == kEnd) return out;
    if (next[2] == offset) {
      from_source = from_ptx = kNowhere;
      ++function;
    }
    if (next[0] == offset) from_source = source[i++].location;
    if (next[1] == offset) from_ptx = ptx[j++].location;
    const LocationId here = combined(from_source, from_ptx, function_at(section, offset));
    if (!out.empty() && out.back().offset == offset) {  // two functions begin here
      out.back().location = here;
    } else if (out.empty() || out.back().location != here) {
      out.push_back({offset, here});
    }
  }
}

/// The stack of both: callers from where they are known, columns from PTX, functions' names from
/// .debug_line.
LocationId LineTable::combined(LocationId source, LocationId ptx, uint32_t function) {
  if (source == kNowhere || ptx == kNowhere) return source;
  LocationId source_frame = source;
  const uint32_t depth = stacks_[ptx].depth;
  const bool is_as_deep = stacks_[source].depth == depth;
  if (stacks_[source].depth > 1 && !is_as_deep) return source;
  struct Pair {
    Stacks::Node frame;  // of PTX
    uint32_t function;
  };
  std::array<Pair, Stacks::kDeepest> pairs;  // innermost first
  for (uint32_t i = 0; i < depth; ++i, ptx = pairs[i - 1].frame.caller) {
    pairs[i] = {stacks_[ptx], i + 1 == depth ? function : 0};
    if (i > 0 && !is_as_deep) continue;
    const Stacks::Node& other = stacks_[source_frame];
    if (other.line != pairs[i].frame.line || !is_same_file(other.file, pairs[i].frame.file)) {
      return source;
    }
    if (is_as_deep) pairs[i].function = other.function;
    source_frame = other.caller;
  }
  LocationId out = kNowhere;
  for (uint32_t i = depth; i-- > 0;) {
    const Stacks::Node& frame = pairs[i].frame;
    out = stacks_.add(out, frame.file, frame.line, frame.column, pairs[i].function);
  }
  return out;
}

bool LineTable::is_same_file(uint32_t one, uint32_t other) const {
  return one == other || last_part(names_.text(one)) == last_part(names_.text(other));
}

uint32_t LineTable::function_at(uint32_t section, uint64_t offset) {
  Stretch& last = last_function_;
  if (section == last.section && offset >= last.start && offset < last.end) return last.name;
  const Function* function = functions_->at(section, offset);
  if (function == nullptr) return 0;
  const Function* next = function + 1;
  const bool is_last = next == functions_->all().data() + functions_->all().size();
  last = {section, function->offset,
          is_last || next->section != section ? ~uint64_t{0} : next->offset,
          names_.intern(source_name(function->name))};
  return last.name;
}

uint32_t LineTable::callee_name(Bytes texts, uint64_t start) {
  const auto [entry, is_new] = callees_.try_emplace(start);
  if (is_new) entry->second = names_.intern(text_at(texts, start));
  return entry->second;
}

uint32_t LineTable::file_name(const LineHeader& header, uint32_t file) {
  if (header_of_names_ != header.program) {
    header_of_names_ = header.program;
    file_names_.assign(header.files.size(), kNotYet);
  }
  if (file >= file_names_.size()) return 0;
  if (file_names_[file] == kNotYet) {
    const FileName name = header.file(file);
    const bool is_whole = name.folder.empty() || name.name.starts_with('/');
    file_names_[file] = names_.intern(
        unescaped(is_whole ? std::string(name.name) : concat(name.folder, "/", name.name)));
  }
  return file_names_[file];
}

LocationId LineTable::locate(uint32_t section, uint64_t offset) const {
  const auto found = sections_.find(section);
  if (found == sections_.end()) return kNowhere;
  const Marks& marks = found->second;
  const auto after = std::ranges::upper_bound(marks, offset, {}, &Mark::offset);
  return after == marks.begin() ? kNowhere : std::prev(after)->location;
}

std::vector<Frame> LineTable::frames(LocationId id) const {
  if (id == kNowhere || id >= stacks_.size()) return {};
  std::vector<Frame> out(stacks_[id].depth);
  for (auto frame = out.rbegin(); frame != out.rend(); ++frame) {
    const Stacks::Node& node = stacks_[id];
    *frame = {names_.text(node.file), node.line, node.column, names_.text(node.function)};
    id = node.caller;
  }
  return out;
}

}  // namespace proton::cubin
