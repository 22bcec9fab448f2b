#include "files/utf8.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace proton {

namespace {

constexpr uint64_t kHighBits = 0x8080808080808080;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Sequence {
  size_t length;  // of the sequence, or of the invalid part
  bool is_valid;
};

/// What a lead byte asks for: the length, and the range of the second byte (Unicode table 3-7).
struct Lead {
  uint8_t length;
  uint8_t second_low;
  uint8_t second_high;
};

Lead describe_lead(uint8_t byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};  // above lie the surrogates
  if (byte >= 0xE1 && byte <= 0xEF) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

Sequence read_sequence(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (byte(0) < 0x80) return {1, true};
  const Lead lead = describe_lead(byte(0));
  if (lead.length == 0) return {1, false};
  if (text.size() < 2 || byte(1) < lead.second_low || byte(1) > lead.second_high) {
    return {1, false};
  }
  for (size_t i = 2; i < lead.length; ++i) {
    if (i >= text.size() || byte(i) < 0x80 || byte(i) > 0xBF) return {i, false};
  }
  return {lead.length, true};
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    uint64_t word;
    if (text.size() >= sizeof(word)) {
      std::memcpy(&word, text.data(), sizeof(word));
      if ((word & kHighBits) == 0) {
        text.remove_prefix(sizeof(word));
        continue;
      }
    }
    const Sequence sequence = read_sequence(text);
    if (!sequence.is_valid) return false;
    text.remove_prefix(sequence.length);
  }
  return true;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const Sequence sequence = read_sequence(text);
    valid.append(sequence.is_valid ? text.substr(0, sequence.length) : kReplacement);
    text.remove_prefix(sequence.length);
  }
  return valid;
}

}  // namespace proton
