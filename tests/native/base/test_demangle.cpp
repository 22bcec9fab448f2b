#include "base/demangle.h"

#include "check.h"

using proton::demangle;
using proton::ReadableNames;

TEST(cpp_symbols_become_declarations) {
  CHECK_EQ(demangle("_Z3addIiEvPT_"), "void add<int>(int*)");
  CHECK_EQ(demangle("_ZN2at6native3addEf"), "at::native::add(float)");
}

TEST(other_names_stay_as_they_are) {
  for (const char* name : {"matmul_kernel", "_Z", "_Zbroken", "", "<memcpy HtoD>"}) {
    CHECK_EQ(demangle(name), name);
  }
  const std::string endless = "_Z" + std::string(100'000, '1');
  CHECK_EQ(demangle(endless), endless);
}

TEST(a_short_symbol_that_stands_for_very_much_stays_as_it_is) {
  std::string symbol = "_Z1fI1xE";
  for (int i = 0; i < 14; ++i) symbol = "_Z1fI" + symbol.substr(2) + symbol.substr(2) + "E";
  CHECK_EQ(demangle(symbol), symbol);
}

TEST(a_prefix_is_kept) {
  ReadableNames names("launch ");
  const std::string launch = "launch _Z3addIiEvPT_", kernel = "_Z3addIiEvPT_", plain = "launch k";
  for (int i = 0; i < 2; ++i) {
    CHECK_EQ(names.find(launch), "launch void add<int>(int*)");
    CHECK_EQ(names.find(kernel), "void add<int>(int*)");
    CHECK_EQ(names.find(plain), "launch k");
  }
}
