/// Msgpack, value by value, in the smallest form of each; numbers with a point are float64.
/// Shares its interface with JsonEncoder.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string_view>

#include "files/output_buffer.h"

namespace proton {

class MsgpackEncoder {
 public:
  explicit MsgpackEncoder(ByteSink& sink) : out_(sink) {}

  void begin_map(size_t size) { put_size(size, 0x80, 0xDE); }
  void end_map() {}
  void begin_list(size_t size) { put_size(size, 0x90, 0xDC); }
  void end_list() {}

  void plain_key(std::string_view name) { plain_string(name); }
  void key(std::string_view name) { string(name); }

  void null() { put_byte(0xC0); }
  void boolean(bool value) { put_byte(value ? 0xC3 : 0xC2); }
  void plain_string(std::string_view text);
  void string(std::string_view text);

  template <std::integral Integer>
  void integer(Integer value) {
    if constexpr (std::signed_integral<Integer>) {
      if (value < 0) {
        put_negative(value);
        return;
      }
    }
    put_positive(static_cast<uint64_t>(value));
  }
  void number(double value) { put_big_endian(0xCB, std::bit_cast<uint64_t>(value)); }

  void flush() { out_.flush(); }
  uint64_t invalid_text_count() const { return invalid_text_count_; }

 private:
  void put_byte(uint8_t byte) { out_.put(static_cast<char>(byte)); }
  void put_positive(uint64_t value);
  void put_negative(int64_t value);
  /// A map or list of `size`: in the lead byte below 16, else after `lead16` or the one above it.
  void put_size(size_t size, uint8_t short_lead, uint8_t lead16);

  template <std::unsigned_integral Word>
  void put_big_endian(uint8_t lead, Word word) {
    char* place = out_.reserve(1 + sizeof(Word));
    *place++ = static_cast<char>(lead);
    for (size_t i = 0; i < sizeof(Word); ++i) {
      place[i] = static_cast<char>(word >> (8 * (sizeof(Word) - 1 - i)));
    }
    out_.advance(1 + sizeof(Word));
  }

  OutputBuffer out_;
  uint64_t invalid_text_count_ = 0;
};

}  // namespace proton
