/// What counts as text, by the tables of the Unicode standard.
#include "files/utf8.h"

#include <string>

#include "check.h"

using proton::is_valid_utf8;
using proton::replace_invalid_utf8;

namespace {

const std::string kReplacement = "\xEF\xBF\xBD";

}  // namespace

TEST(ascii_and_longer_sequences_are_valid) {
  CHECK(is_valid_utf8(""));
  CHECK(is_valid_utf8("twelve bytes and more"));
  CHECK(is_valid_utf8("\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"));
}

TEST(overlong_sequences_are_invalid) {
  CHECK(!is_valid_utf8("\xC0\x80"));
  CHECK(!is_valid_utf8("\xE0\x9F\xBF"));
  CHECK(!is_valid_utf8("\xF0\x8F\xBF\xBF"));
}

TEST(surrogates_and_what_lies_past_unicode_are_invalid) {
  CHECK(!is_valid_utf8("\xED\xA0\x80"));
  CHECK(!is_valid_utf8("\xF4\x90\x80\x80"));
  CHECK(!is_valid_utf8("\xF5\x80\x80\x80"));
}

TEST(cut_sequences_are_invalid_wherever_they_stand) {
  CHECK(!is_valid_utf8("\xE2\x82"));
  CHECK(!is_valid_utf8("plain text and then \xF0\x9F\x98"));
  CHECK(!is_valid_utf8("\x80"));
}

TEST(each_maximal_invalid_part_becomes_one_replacement) {
  CHECK_EQ(replace_invalid_utf8("a\xF0\x9F\x98z"), "a" + kReplacement + "z");
  CHECK_EQ(replace_invalid_utf8("\xE2\x82\xE2\x82\xAC"), kReplacement + "\xE2\x82\xAC");
  CHECK_EQ(replace_invalid_utf8("\xC0\x80"), kReplacement + kReplacement);
}

TEST(valid_text_is_replaced_by_itself) {
  CHECK_EQ(replace_invalid_utf8("caf\xC3\xA9"), "caf\xC3\xA9");
}
