/// Protobuf's wire format, byte by byte.
#include "files/proto_encoder.h"

#include <string>

#include "check.h"

using proton::ProtoEncoder;

namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

}  // namespace

TEST(a_varint_has_seven_bits_a_byte_the_lowest_first) {
  ProtoEncoder out;
  out.varint_field(1, 0);
  out.varint_field(1, 127);
  out.varint_field(1, 128);
  out.varint_field(58, 300);
  CHECK_EQ(std::string(out.view()),
           bytes({0x08, 0x00, 0x08, 0x7F, 0x08, 0x80, 0x01, 0xD0, 0x03, 0xAC, 0x02}));
}

TEST(the_largest_varint_takes_ten_bytes) {
  ProtoEncoder out;
  out.varint_field(1, ~uint64_t{0});
  CHECK_EQ(out.size(), size_t{11});
  CHECK_EQ(static_cast<int>(out.view().back()), 1);
}

TEST(fixed_numbers_stand_in_little_endian) {
  ProtoEncoder out;
  out.fixed64_field(47, 0x0102);
  out.double_field(5, 1.0);
  CHECK_EQ(std::string(out.view()), bytes({0xF9, 0x02, 2, 1, 0, 0, 0, 0, 0, 0,  //
                                           0x29, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F}));
}

TEST(messages_nest_and_buffers_grow) {
  ProtoEncoder inner;
  inner.bytes_field(2, std::string(1000, 'x'));
  ProtoEncoder out;
  out.bytes_field(1, inner.view());
  out.append(inner.view());
  CHECK_EQ(out.size(), size_t{1003 + 3 + 1003});
  CHECK_EQ(std::string(out.view().substr(0, 6)), bytes({0x0A, 0xEB, 0x07, 0x12, 0xE8, 0x07}));
  out.clear();
  CHECK_EQ(out.size(), size_t{0});
}
