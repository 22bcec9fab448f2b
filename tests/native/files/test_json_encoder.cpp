/// Text and numbers of JSON files.
#include "files/json_encoder.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "check.h"

namespace {

template <typename Write>
std::string encode(Write write) {
  proton::MemorySink sink;
  proton::JsonEncoder encoder(sink);
  write(encoder);
  encoder.flush();
  return sink.take();
}

std::string text(std::string_view value) {
  return encode([&](auto& out) { out.string(value); });
}

std::string number(double value) {
  return encode([&](auto& out) { out.number(value); });
}

std::string microseconds(int64_t value) {
  return encode([&](auto& out) { out.microseconds(value); });
}

}  // namespace

TEST(plain_text_stands_as_it_is) { CHECK_EQ(text("a kernel<int, 4>"), "\"a kernel<int, 4>\""); }

TEST(empty_text_is_two_quotes) { CHECK_EQ(text(""), "\"\""); }

TEST(quotes_and_backslashes_are_escaped) {
  CHECK_EQ(text("say \"a\\b\""), "\"say \\\"a\\\\b\\\"\"");
}

TEST(control_characters_are_escaped) {
  CHECK_EQ(text(std::string_view("\n\t\r\0\x01\x1f\x7f", 7)),
           "\"\\n\\t\\r\\u0000\\u0001\\u001f\x7f\"");
}

TEST(valid_utf8_is_kept) {
  CHECK_EQ(text("\xC3\xA9\n\xE2\x82\xAC\xF0\x9F\x98\x80"),
           "\"\xC3\xA9\\n\xE2\x82\xAC\xF0\x9F\x98\x80\"");
}

TEST(invalid_utf8_is_replaced_and_counted) {
  proton::MemorySink sink;
  proton::JsonEncoder encoder(sink);
  encoder.string("a\xFF\"b");
  encoder.string("\xED\xA0\x80");  // a surrogate
  encoder.flush();
  CHECK_EQ(encoder.invalid_text_count(), 2u);
  CHECK_EQ(sink.take(), "\"a\xEF\xBF\xBD\\\"b\",\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(text_longer_than_the_buffer_is_whole) {
  const std::string long_text(3'000'000, 'x');
  CHECK(text(long_text) == "\"" + long_text + "\"");
}

TEST(integers_are_exact) {
  CHECK_EQ(encode([](auto& out) { out.integer(std::numeric_limits<int64_t>::min()); }),
           "-9223372036854775808");
  CHECK_EQ(encode([](auto& out) { out.integer(std::numeric_limits<uint64_t>::max()); }),
           "18446744073709551615");
}

TEST(whole_doubles_stay_doubles) {
  CHECK_EQ(number(1.0), "1.0");
  CHECK_EQ(number(-0.0), "-0.0");
  CHECK_EQ(number(1e300), "1e+300");
  CHECK_EQ(number(0.1), "0.1");
}

TEST(doubles_read_back_equal) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    CHECK_EQ(std::bit_cast<uint64_t>(std::strtod(number(value).c_str(), nullptr)),
             std::bit_cast<uint64_t>(value));
  }
}

TEST(microseconds_keep_every_nanosecond) {
  CHECK_EQ(microseconds(0), "0.000");
  CHECK_EQ(microseconds(1), "0.001");
  CHECK_EQ(microseconds(1'234'567), "1234.567");
  CHECK_EQ(microseconds(-1'050), "-1.050");
  CHECK_EQ(microseconds(std::numeric_limits<int64_t>::max()), "9223372036854775.807");
  CHECK_EQ(microseconds(std::numeric_limits<int64_t>::min()), "-9223372036854775.808");
}

TEST(commas_stand_between_values_only) {
  const std::string json = encode([](auto& out) {
    out.begin_list(3);
    out.begin_map(2);
    out.key("a");
    out.begin_list(0);
    out.end_list();
    out.plain_key("b");
    out.null();
    out.end_map();
    out.boolean(true);
    out.integer(3);
    out.end_list();
  });
  CHECK_EQ(json, "[{\"a\":[],\"b\":null},true,3]");
}
