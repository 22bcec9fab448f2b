/// Small steps through text: lines, words, numbers, paths.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace proton::cubin {

inline std::string_view without_leading_blanks(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t\r");
  return start == std::string_view::npos ? std::string_view() : text.substr(start);
}
inline std::string_view without_trailing_blanks(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);  // npos + 1 is 0
}

/// A file's name without its folders.
inline std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// What a quoted text of PTX means: `\"`, `\\` and `\303` become one byte each. ptxas copies names
/// of files with these into line tables.
inline std::string unescaped(std::string_view text) {
  std::string out;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end; ++at) {
    if (*at != '\\' || at + 1 == end) {
      out += *at;
      continue;
    }
    unsigned code = 0;
    const auto [stop, error] = std::from_chars(at + 1, end - at > 4 ? at + 4 : end, code, 8);
    out += error == std::errc() ? static_cast<char>(code) : at[1];
    at = error == std::errc() ? stop - 1 : at + 1;
  }
  return out;
}

/// Takes what is before the next `end` off `text`, and `end` too.
inline std::string_view take_until(std::string_view& text, char end) {
  const size_t at = text.find(end);
  const std::string_view found = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return found;
}

/// Takes `word` off `text`, after blanks; whether it was there.
inline bool take_word(std::string_view& text, std::string_view word) {
  const std::string_view rest = without_leading_blanks(text);
  if (!rest.starts_with(word)) return false;
  text = rest.substr(word.size());
  return true;
}

/// Takes a decimal number off `text`, after blanks; whether there was one.
inline bool take_number(std::string_view& text, uint32_t& number) {
  const std::string_view rest = without_leading_blanks(text);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc()) return false;
  text = rest.substr(static_cast<size_t>(end - rest.data()));
  return true;
}

/// Takes `:NUMBER` off the end of `text`; whether there was one.
inline bool take_last_number(std::string_view& text, uint32_t& number) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return false;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || stop != end) return false;
  text = text.substr(0, colon);
  return true;
}

}  // namespace proton::cubin
