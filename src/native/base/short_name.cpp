#include "base/short_name.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/demangle.h"

namespace proton {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)::";
constexpr std::string_view kOperator = "operator";
constexpr std::string_view kCall = "operator()";
constexpr std::string_view kCallStandsFor = "operator\x01";  // brackets that open nothing
constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kOpening = "<([{";
constexpr std::string_view kClosing = ">)]}";
constexpr std::string_view kInNames = ":~$";  // besides letters, digits and underscores

bool is_word(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z') || byte == '_' || static_cast<unsigned char>(byte) >= 0x80;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// operator<, operator->: their brackets open nothing either, but they are rare.
bool has_other_operator(std::string_view text) {
  for (size_t at = 0; (at = text.find(kOperator, at)) != std::string_view::npos;) {
    const bool is_start = at == 0 || !is_word(text[at - 1]);
    at += kOperator.size();
    if (!is_start) continue;
    const size_t next = at < text.size() && text[at] == ' ' ? at + 1 : at;
    if (next >= text.size()) continue;
    const char mark = text[next];
    if (!is_word(mark) && mark != ' ' && mark != kCallStandsFor.back()) return true;
  }
  return false;
}

/// Characters, of which UTF-8 has several bytes.
size_t width(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct Parts {
  std::string_view name;
  std::optional<std::string_view> arguments;  // the last template arguments
};

/// Nothing where brackets do not match.
std::optional<Parts> top_level_parts(std::string_view text) {
  std::vector<char> open;  // what closes each
  size_t start = 0;
  std::optional<size_t> opened, closed;
  for (size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (const size_t pair = kOpening.find(byte); pair != std::string_view::npos) {
      if (byte == '(' && open.empty() && at > start) {
        text = text.substr(0, at);
        break;
      }
      if (byte == '<' && open.empty()) opened = at;
      open.push_back(kClosing[pair]);
    } else if (!open.empty() && byte == open.back()) {
      open.pop_back();
      if (byte == '>' && open.empty()) closed = at;
    } else if (kClosing.find(byte) != std::string_view::npos) {
      return std::nullopt;
    } else if (byte == ' ' && open.empty()) {  // what stands before is the return type
      start = at + 1;
      opened = closed = std::nullopt;
    }
  }
  if (!open.empty()) return std::nullopt;
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  start = std::min(start, text.size());
  if (!opened || !closed || !trim(text.substr(*closed + 1)).empty()) {
    return Parts{text.substr(start), std::nullopt};
  }
  return Parts{text.substr(start, *opened - start),
               text.substr(*opened + 1, *closed - *opened - 1)};
}

std::string_view last_part(std::string_view qualified) {
  const size_t at = qualified.rfind("::");
  return at == std::string_view::npos ? qualified : qualified.substr(at + 2);
}

/// `at::native::Add<c10::Half> const` -> `Add<Half> const`.
std::string without_namespaces(std::string_view argument) {
  if (argument.find("{lambda") != std::string_view::npos) {
    // Named by the function it stands in; the rest is noise.
    return std::string(last_part(argument.substr(0, argument.find_first_of("(<")))) + "::{lambda}";
  }
  std::string found;
  size_t word = 0;
  for (size_t at = 0; at <= argument.size(); ++at) {
    const bool is_end = at == argument.size();
    if (!is_end && (is_word(argument[at]) || kInNames.find(argument[at]) != kInNames.npos))
      continue;
    found += last_part(argument.substr(word, at - word));
    if (!is_end) found += argument[at];
    word = at + 1;
  }
  replace_all(found, " >", ">");
  return found;
}

std::vector<std::string_view> split_arguments(std::string_view arguments) {
  std::vector<std::string_view> pieces;
  size_t start = 0;
  int depth = 0;
  for (size_t at = 0; at < arguments.size(); ++at) {
    const char byte = arguments[at];
    depth += kOpening.find(byte) != std::string_view::npos;
    depth -= kClosing.find(byte) != std::string_view::npos;
    if (byte == ',' && depth == 0) {
      pieces.push_back(arguments.substr(start, at - start));
      start = at + 1;
    }
  }
  pieces.push_back(arguments.substr(start));
  return pieces;
}

bool is_identifier(std::string_view text) {
  return !text.empty() && !(text.front() >= '0' && text.front() <= '9') &&
         std::ranges::all_of(text, is_word);
}

std::string shorten_arguments(std::string_view arguments, size_t room) {
  std::string found;
  size_t used = 0;
  for (const std::string_view piece : split_arguments(arguments)) {
    std::string shown = without_namespaces(trim(piece));
    const size_t bracket = shown.find('<');
    if (used + width(shown) > room && bracket != std::string::npos &&
        is_identifier(std::string_view(shown).substr(0, bracket))) {
      // The name of a template says more than nothing.
      shown = shown.substr(0, bracket + 1).append(kEllipsis).append(">");
    }
    found += found.empty() ? "<" : ", ";
    if (used + width(shown) > room) {
      found += kEllipsis;
      break;
    }
    used += width(shown) + 2;
    found += shown;
  }
  return found + ">";
}

}  // namespace

std::string shorten_declaration(const std::string& declaration, size_t room) {
  std::string text = declaration;
  replace_all(text, kAnonymous, "");
  replace_all(text, kCall, kCallStandsFor);
  std::string found = text;
  if (!has_other_operator(text)) {
    if (const auto parts = top_level_parts(text)) {
      found = parts->name;
      if (parts->arguments) found += shorten_arguments(*parts->arguments, room);
    }
  }
  replace_all(found, kCallStandsFor, kCall);
  return found;
}

std::string short_name(const std::string& name) {
  return name.starts_with("_Z") ? shorten_declaration(demangle(name)) : name;
}

}  // namespace proton
