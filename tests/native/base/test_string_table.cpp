#include "base/string_table.h"

#include "check.h"

using proton::StringTable;

TEST(equal_texts_share_an_id) {
  StringTable table;
  CHECK_EQ(table.intern("a"), 0);
  CHECK_EQ(table.intern("b"), 1);
  CHECK_EQ(table.intern(std::string("a")), 0);
  CHECK_EQ(table.text(1), std::string("b"));
}

TEST(texts_keep_their_place_while_the_table_grows) {
  StringTable table;
  const std::string* first = &table.text(table.intern("first"));
  for (int i = 0; i < 10000; ++i) table.intern(std::to_string(i));
  CHECK_EQ(&table.text(0), first);
  CHECK_EQ(table.intern("first"), 0);
  CHECK_EQ(table.size(), 10001);
}

TEST(a_cleared_table_starts_again) {
  StringTable table;
  table.intern("a");
  table.clear();
  CHECK_EQ(table.size(), 0);
  CHECK_EQ(table.intern("b"), 0);
}

TEST(texts_that_were_taken_stay_when_the_table_is_cleared) {
  StringTable table;
  table.intern("a");
  const proton::StringTexts texts = table.texts();
  table.clear();
  table.intern("b");
  CHECK_EQ(texts[0], std::string("a"));
}
