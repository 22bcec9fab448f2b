#include "files/json_encoder.h"

#include <array>

#include "files/utf8.h"

namespace proton {

namespace {

enum class ByteClass : uint8_t { kPlain, kEscaped, kNonAscii };

constexpr std::array<ByteClass, 256> classify_bytes() {
  std::array<ByteClass, 256> classes{};
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_escaped = byte < 0x20 || byte == '"' || byte == '\\';
    classes[byte] = byte >= 0x80 ? ByteClass::kNonAscii
                    : is_escaped ? ByteClass::kEscaped
                                 : ByteClass::kPlain;
  }
  return classes;
}

constexpr std::array<ByteClass, 256> kClasses = classify_bytes();
constexpr char kHexDigits[] = "0123456789abcdef";

/// Length of the part of `text` before the first byte that is not plain.
size_t plain_length(std::string_view text) {
  size_t length = 0;
  while (length < text.size() &&
         kClasses[static_cast<unsigned char>(text[length])] == ByteClass::kPlain) {
    ++length;
  }
  return length;
}

}  // namespace

void JsonEncoder::put_escaped(std::string_view text) {
  const size_t plain = plain_length(text);
  if (plain == text.size()) {
    out_.put(text);
  } else if (is_valid_utf8(text.substr(plain))) {
    put_escaped_valid(text);
  } else {
    ++invalid_text_count_;
    put_escaped_valid(replace_invalid_utf8(text));
  }
}

void JsonEncoder::put_escaped_valid(std::string_view text) {
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (kClasses[byte] != ByteClass::kEscaped) continue;
    out_.put(text.substr(begin, i - begin));
    put_escape(byte);
    begin = i + 1;
  }
  out_.put(text.substr(begin));
}

void JsonEncoder::put_escape(unsigned char byte) {
  out_.put('\\');
  switch (byte) {
    case '"':
    case '\\':
      out_.put(static_cast<char>(byte));
      return;
    case '\n':
      out_.put('n');
      return;
    case '\t':
      out_.put('t');
      return;
    case '\r':
      out_.put('r');
      return;
    default:
      out_.put("u00");
      out_.put(kHexDigits[byte >> 4]);
      out_.put(kHexDigits[byte & 0xF]);
  }
}

void JsonEncoder::microseconds(int64_t time_ns) {
  separate();
  char* begin = out_.reserve(kNumberBytes);
  char* end = begin;
  if (time_ns < 0) *end++ = '-';
  // Negated as unsigned: the smallest int64 has no positive counterpart.
  const uint64_t size_ns = time_ns < 0 ? -static_cast<uint64_t>(time_ns) : time_ns;
  end = std::to_chars(end, begin + kNumberBytes, size_ns / 1000).ptr;
  const auto rest = static_cast<unsigned>(size_ns % 1000);
  *end++ = '.';
  *end++ = static_cast<char>('0' + rest / 100);
  *end++ = static_cast<char>('0' + rest / 10 % 10);
  *end++ = static_cast<char>('0' + rest % 10);
  out_.advance(end - begin);
}

}  // namespace proton
