#include "files/msgpack_encoder.h"

#include <cstdint>
#include <stdexcept>
#include <string>

#include "files/utf8.h"

namespace proton {

namespace {

/// Msgpack counts in 32 bits.
uint32_t check_size(size_t size) {
  if (size > UINT32_MAX) {
    throw std::length_error("a text or list of " + std::to_string(size) +
                            " parts is too long for msgpack; write hatchet instead");
  }
  return static_cast<uint32_t>(size);
}

}  // namespace

void MsgpackEncoder::plain_string(std::string_view text) {
  const uint32_t size = check_size(text.size());
  if (size < 32) {
    put_byte(static_cast<uint8_t>(0xA0 | size));
  } else if (size <= UINT8_MAX) {
    put_big_endian(0xD9, static_cast<uint8_t>(size));
  } else if (size <= UINT16_MAX) {
    put_big_endian(0xDA, static_cast<uint16_t>(size));
  } else {
    put_big_endian(0xDB, size);
  }
  out_.put(text);
}

void MsgpackEncoder::string(std::string_view text) {
  if (is_valid_utf8(text)) {
    plain_string(text);
  } else {
    ++invalid_text_count_;
    plain_string(replace_invalid_utf8(text));
  }
}

void MsgpackEncoder::put_positive(uint64_t value) {
  if (value < 0x80) {
    put_byte(static_cast<uint8_t>(value));
  } else if (value <= UINT8_MAX) {
    put_big_endian(0xCC, static_cast<uint8_t>(value));
  } else if (value <= UINT16_MAX) {
    put_big_endian(0xCD, static_cast<uint16_t>(value));
  } else if (value <= UINT32_MAX) {
    put_big_endian(0xCE, static_cast<uint32_t>(value));
  } else {
    put_big_endian(0xCF, value);
  }
}

void MsgpackEncoder::put_negative(int64_t value) {
  if (value >= -32) {
    put_byte(static_cast<uint8_t>(value));
  } else if (value >= INT8_MIN) {
    put_big_endian(0xD0, static_cast<uint8_t>(value));
  } else if (value >= INT16_MIN) {
    put_big_endian(0xD1, static_cast<uint16_t>(value));
  } else if (value >= INT32_MIN) {
    put_big_endian(0xD2, static_cast<uint32_t>(value));
  } else {
    put_big_endian(0xD3, static_cast<uint64_t>(value));
  }
}

void MsgpackEncoder::put_size(size_t size, uint8_t short_lead, uint8_t lead16) {
  const uint32_t count = check_size(size);
  if (count < 16) {
    put_byte(static_cast<uint8_t>(short_lead | count));
  } else if (count <= UINT16_MAX) {
    put_big_endian(lead16, static_cast<uint16_t>(count));
  } else {
    put_big_endian(static_cast<uint8_t>(lead16 + 1), count);
  }
}

}  // namespace proton
