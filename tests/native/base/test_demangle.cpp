#include "base/demangle.h"

#include <string>
#include <string_view>

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

/// A symbol whose text doubles with every parameter: B<A, A>, B<B<A, A>, B<A, A>>, ...
std::string doubling_symbol(int times) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string symbol = "_Z1f1A";
  for (int step = 0; step < times; ++step) {
    std::string reference = "S";
    if (const int index = 2 * step - 1; index >= 36) {
      reference += {kDigits[index / 36], kDigits[index % 36]};
    } else if (index >= 0) {
      reference += kDigits[index];
    }
    symbol += "1BI" + reference + "_" + reference + "_E";
  }
  return symbol;
}

TEST(the_text_of_a_symbol_is_bounded_while_it_is_made) {
  CHECK_EQ(demangle(doubling_symbol(2)), "f(A, B<A, A>, B<B<A, A>, B<A, A> >)");
  // Some 300 characters for 2 to the 60 types: to make the text and then measure it takes years.
  const std::string hostile = doubling_symbol(60);
  CHECK_EQ(demangle(hostile), hostile);
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
