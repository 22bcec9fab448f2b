/// Each value in its smallest msgpack form, byte by byte as the specification lays them out.
#include "files/msgpack_encoder.h"

#include <cstdint>
#include <limits>
#include <string>

#include "check.h"

namespace {

template <typename Write>
std::string hex_of(Write write) {
  proton::MemorySink sink;
  proton::MsgpackEncoder encoder(sink);
  write(encoder);
  encoder.flush();
  std::string hex;
  for (const unsigned char byte : sink.take()) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 0xF];
  }
  return hex;
}

template <typename Integer>
std::string integer(Integer value) {
  return hex_of([&](auto& out) { out.integer(value); });
}

std::string text_lead(size_t size, size_t lead_bytes) {
  return hex_of([&](auto& out) { out.string(std::string(size, 'x')); }).substr(0, 2 * lead_bytes);
}

}  // namespace

TEST(positive_integers_take_the_smallest_form) {
  CHECK_EQ(integer(int64_t{0}), "00");
  CHECK_EQ(integer(int64_t{127}), "7f");
  CHECK_EQ(integer(int64_t{128}), "cc80");
  CHECK_EQ(integer(int64_t{255}), "ccff");
  CHECK_EQ(integer(int64_t{256}), "cd0100");
  CHECK_EQ(integer(int64_t{65'536}), "ce00010000");
  CHECK_EQ(integer(int64_t{1} << 32), "cf0000000100000000");
  CHECK_EQ(integer(std::numeric_limits<uint64_t>::max()), "cfffffffffffffffff");
}

TEST(negative_integers_take_the_smallest_form) {
  CHECK_EQ(integer(int64_t{-1}), "ff");
  CHECK_EQ(integer(int64_t{-32}), "e0");
  CHECK_EQ(integer(int64_t{-33}), "d0df");
  CHECK_EQ(integer(int64_t{-128}), "d080");
  CHECK_EQ(integer(int64_t{-129}), "d1ff7f");
  CHECK_EQ(integer(int64_t{-32'769}), "d2ffff7fff");
  CHECK_EQ(integer(std::numeric_limits<int64_t>::min()), "d38000000000000000");
}

TEST(doubles_are_float64_even_when_whole) {
  CHECK_EQ(hex_of([](auto& out) { out.number(1.0); }), "cb3ff0000000000000");
}

TEST(constants_have_their_bytes) {
  CHECK_EQ(hex_of([](auto& out) {
             out.null();
             out.boolean(false);
             out.boolean(true);
           }),
           "c0c2c3");
}

TEST(texts_carry_their_length_in_bytes) {
  CHECK_EQ(hex_of([](auto& out) { out.string("\xC3\xA9"); }), "a2c3a9");
  CHECK_EQ(text_lead(31, 1), "bf");
  CHECK_EQ(text_lead(32, 2), "d920");
  CHECK_EQ(text_lead(256, 3), "da0100");
  CHECK_EQ(text_lead(65'536, 5), "db00010000");
}

TEST(invalid_text_is_replaced_before_its_length_is_written) {
  CHECK_EQ(hex_of([](auto& out) { out.string("\xFF"); }), "a3efbfbd");
}

TEST(maps_and_lists_carry_their_size) {
  CHECK_EQ(hex_of([](auto& out) { out.begin_map(15); }), "8f");
  CHECK_EQ(hex_of([](auto& out) { out.begin_map(16); }), "de0010");
  CHECK_EQ(hex_of([](auto& out) { out.begin_map(65'536); }), "df00010000");
  CHECK_EQ(hex_of([](auto& out) { out.begin_list(15); }), "9f");
  CHECK_EQ(hex_of([](auto& out) { out.begin_list(16); }), "dc0010");
  CHECK_EQ(hex_of([](auto& out) { out.begin_list(65'536); }), "dd00010000");
}
