#include "cubin/ptx_locations.h"

#include "cubin/reader.h"

namespace proton::cubin {
namespace {

/// A place as one number, never 0. Numbers too large for any compiler are folded.
uint64_t site_key(uint32_t file, uint32_t line, uint32_t column) {
  return (uint64_t{file & 0x7fff} << 48 | uint64_t{line} << 16 | (column & 0xffff)) + 1;
}

/// `.visible .entry softmax(` or `.func (.param .b32 r) helper(`
bool begins_function(std::string_view line) {
  constexpr auto kNone = std::string_view::npos;
  return line.starts_with('.') && (line.find(".entry ") != kNone || line.find(".func ") != kNone);
}

}  // namespace

void PtxLocations::parse(std::string_view ptx) {
  read_files(ptx);
  read_call_sites(ptx);
  LocationId current = kNowhere;
  by_line_.assign(1, kNowhere);
  while (!ptx.empty()) {
    std::string_view line = take_until(ptx, '\n');
    if (take_word(line, ".loc")) {
      current = read_loc(line, current);
    } else if (begins_function(line)) {
      current = kNowhere;
    }
    by_line_.push_back(current);
  }
}

void PtxLocations::read_files(std::string_view ptx) {
  while (!ptx.empty()) {
    std::string_view line = take_until(ptx, '\n');
    uint32_t number = 0;
    if (!take_word(line, ".file") || !take_number(line, number)) continue;
    const size_t first = line.find('"'), last = line.rfind('"');
    if (first == last) continue;  // one quote, or none
    const std::string path = unescaped(line.substr(first + 1, last - first - 1));
    files_[number] = names_.intern(path);
    by_name_.emplace(last_part(path), number);
  }
}

/// Comments name files without their folders. Where that is not enough, .debug_info has the numbers
/// of files, written as `.b8 1 // DW_AT_call_file` and so on; a number of two bytes goes on in the
/// next line.
void PtxLocations::read_call_sites(std::string_view ptx) {
  uint32_t file = 0, line_number = 0, column = 0, shift = 0;
  uint32_t* field = nullptr;
  const auto finish = [&] {
    if (field == &column) call_sites_.emplace(file, line_number, column);
  };
  while (!ptx.empty()) {
    std::string_view line = take_until(ptx, '\n');
    uint32_t byte = 0;
    if (!line.starts_with(".b8") || !take_word(line, ".b8") || !take_number(line, byte)) continue;
    const std::string_view comment = without_leading_blanks(line);
    if (comment.empty() && field != nullptr && shift < 24) {
      *field |= (byte & 0xff) << (shift += 8);
      continue;
    }
    finish();
    shift = 0;
    field = comment == "// DW_AT_call_file"     ? &file
            : comment == "// DW_AT_call_line"   ? &line_number
            : comment == "// DW_AT_call_column" ? &column
                                                : nullptr;
    if (field != nullptr) *field = byte;
  }
  finish();
}

/// What follows `.loc`. A line of 0, where a compiler merged code, changes nothing for ptxas.
LocationId PtxLocations::read_loc(std::string_view text, LocationId before) {
  uint32_t file = 0, line = 0, column = 0;
  if (!take_number(text, file) || !take_number(text, line) || !take_number(text, column)) {
    return kNowhere;
  }
  if (line == 0) return before;
  const size_t comment = text.find("//");
  std::string_view attributes = text.substr(0, comment);
  LocationId caller = kNowhere;
  uint32_t call_file, call_line, call_column;
  if (const size_t at = attributes.find("inlined_at"); at != std::string_view::npos) {
    attributes.remove_prefix(at + std::string_view("inlined_at").size());
    if (take_number(attributes, call_file) && take_number(attributes, call_line) &&
        take_number(attributes, call_column)) {
      const uint32_t* found = latest_.find(site_key(call_file, call_line, call_column));
      if (found != nullptr) caller = *found;
    }
  } else if (comment != std::string_view::npos) {
    caller = callers_in_comment(text.substr(comment));
  }
  const auto name = files_.find(file);
  const LocationId here =
      stacks_.add(caller, name == files_.end() ? 0 : name->second, line, column, 0);
  bool is_new;
  *latest_.find_or_add(site_key(file, line, column), is_new) = here;
  return here;
}

/// `// inner.py:1:2 @[ middle.py:3:4 @[ outer.py:5:6 ] ]`: the stack without its innermost frame.
LocationId PtxLocations::callers_in_comment(std::string_view comment) {
  constexpr std::string_view kInside = " @[ ";
  LocationId caller = kNowhere;
  for (uint32_t depth = 0; depth < Stacks::kDeepest; ++depth) {
    const size_t at = comment.rfind(kInside);
    if (at == std::string_view::npos) break;
    std::string_view site = comment.substr(at + kInside.size());
    comment = comment.substr(0, at);
    while (site.ends_with(']') || site.ends_with(' ')) site.remove_suffix(1);
    uint32_t line = 0, column = 0;
    if (!take_last_number(site, column)) break;
    if (!take_last_number(site, line)) std::swap(line, column);  // a column of 0 is left out
    caller = stacks_.add(caller, file_called(site, line, column), line, column, 0);
  }
  return caller;
}

uint32_t PtxLocations::file_called(std::string_view name, uint32_t line, uint32_t column) const {
  const auto [first, last] = by_name_.equal_range(last_part(name));
  if (first == last) return names_.intern(name);
  auto found = first;
  for (auto it = first; it != last; ++it) {
    if (call_sites_.contains(Site(it->second, line, column))) {
      found = it;
      break;
    }
  }
  return files_.at(found->second);
}

bool is_same_ptx(std::string_view ptx, Bytes stored) {
  std::string_view left(reinterpret_cast<const char*>(stored.data()), stored.size());
  while (!left.empty()) {
    const std::string_view line = take_until(ptx, '\n');
    const std::string_view wanted = without_trailing_blanks(take_until(left, '\0'));
    if (!wanted.empty() && !without_leading_blanks(line).starts_with(wanted)) return false;
  }
  return true;
}

}  // namespace proton::cubin
