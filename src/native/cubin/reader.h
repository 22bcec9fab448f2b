/// Reads numbers and texts out of bytes that nobody vouches for. Past the end every read gives 0 or
/// nothing and `ok()` turns false for good, so that a parser checks once a step, not once a field.
/// Below, small steps through text: lines, words, numbers, paths.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace proton::cubin {

using Bytes = std::span<const std::byte>;

/// `count` bytes from `start`; nothing when they are not all there.
inline Bytes part_of(Bytes bytes, uint64_t start, uint64_t count) {
  if (start > bytes.size() || count > bytes.size() - start) return {};
  return bytes.subspan(start, count);
}

/// Longer than any name that a compiler writes, short enough to look for the end of many.
inline constexpr size_t kLongestText = 1 << 16;

/// The text at `start`, up to its zero byte; empty when it is not there or has no end.
inline std::string_view text_at(Bytes bytes, uint64_t start) {
  if (start >= bytes.size()) return {};
  const auto* first = reinterpret_cast<const char*>(bytes.data()) + start;
  const void* end = std::memchr(first, 0, std::min(bytes.size() - start, kLongestText));
  if (end == nullptr) return {};
  return {first, static_cast<size_t>(static_cast<const char*>(end) - first)};
}

class Reader {
 public:
  explicit Reader(Bytes bytes, uint64_t start = 0) : bytes_(bytes), at_(start) {
    if (start > bytes.size()) fail();
  }

  bool ok() const { return is_ok_; }
  bool at_end() const { return at_ >= bytes_.size(); }
  uint64_t position() const { return at_; }

  uint8_t u8() { return number<uint8_t>(); }
  uint16_t u16() { return number<uint16_t>(); }
  uint32_t u32() { return number<uint32_t>(); }
  uint64_t u64() { return number<uint64_t>(); }

  /// A number of `size` bytes, 1 to 8, least significant first.
  uint64_t unsigned_of(uint64_t size) {
    uint64_t value = 0;
    const Bytes found = bytes(size);
    if (found.empty() || size > sizeof value) return fail();
    std::memcpy(&value, found.data(), size);
    return value;
  }

  /// A number in groups of seven bits (LEB128). Bits past the 64th are lost.
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t group = u8();
      if (shift < 64) value |= uint64_t{group & 0x7fu} << shift;
      if (group < 0x80) return value;
    }
  }
  int64_t sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const uint8_t group = u8();
      if (shift < 64) value |= uint64_t{group & 0x7fu} << shift;
      shift += 7;
      if (group >= 0x80) continue;
      if (shift < 64 && (group & 0x40) != 0) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
  }

  std::string_view text() {
    const std::string_view found = text_at(bytes_, at_);
    if (found.empty() && (at_end() || bytes_[at_] != std::byte{0})) {
      fail();
      return {};
    }
    at_ += found.size() + 1;
    return found;
  }

  Bytes bytes(uint64_t count) {
    const Bytes found = part_of(bytes_, at_, count);
    if (found.size() != count) {
      fail();
      return {};
    }
    at_ += count;
    return found;
  }
  void skip(uint64_t count) { bytes(count); }

 private:
  template <typename T>
  T number() {
    T value = 0;
    const Bytes found = bytes(sizeof value);
    if (!found.empty()) std::memcpy(&value, found.data(), sizeof value);
    return value;
  }

  uint64_t fail() {
    is_ok_ = false;
    at_ = bytes_.size();
    return 0;
  }

  Bytes bytes_;
  uint64_t at_;
  bool is_ok_ = true;
};

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
