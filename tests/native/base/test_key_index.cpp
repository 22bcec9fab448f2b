#include "base/key_index.h"

#include <string>

#include "check.h"

using proton::KeyIndex;

TEST(every_key_keeps_its_number_while_the_table_grows) {
  KeyIndex index;
  bool is_new;
  for (uint32_t i = 1; i <= 5000; ++i) {
    uint32_t* number = index.find_or_add(uint64_t{i} << 32 | (i % 7), is_new);
    CHECK(is_new);
    *number = i;
  }
  for (uint32_t i = 1; i <= 5000; ++i) {
    CHECK_EQ(*index.find_or_add(uint64_t{i} << 32 | (i % 7), is_new), i);
    CHECK(!is_new);
  }
  CHECK_EQ(index.size(), 5000);
}

TEST(a_key_has_one_row_that_is_made_when_it_is_new) {
  KeyIndex index;
  std::vector<std::string> rows;
  CHECK_EQ(index.row_of(proton::pair_key(0, 0), rows, [] { return "first"; }), 0);
  CHECK_EQ(index.row_of(proton::pair_key(0, 1), rows, [] { return "second"; }), 1);
  CHECK_EQ(index.row_of(proton::pair_key(0, 0), rows, [] { return "again"; }), 0);
  CHECK(rows == std::vector<std::string>({"first", "second"}));
}
