#include "base/short_name.h"

#include <string>

#include "check.h"

using proton::short_name;
using proton::shorten_declaration;

TEST(return_type_parameters_and_namespaces_of_arguments_go) {
  CHECK_EQ(shorten_declaration("void a::f<4, b::C<int> >(int)"), "a::f<4, C<int>>");
  CHECK_EQ(shorten_declaration("at::native::add(float)"), "at::native::add");
  CHECK_EQ(shorten_declaration("void (anonymous namespace)::f<int>(int)"), "f<int>");
}

TEST(arguments_past_their_room_lose_their_tail) {
  CHECK_EQ(shorten_declaration("void f<first_argument, second<third> >()", 20),
           "f<first_argument, …>");
  CHECK_EQ(shorten_declaration("void f<ab, second<third, fourth_one> >()", 15), "f<ab, second<…>>");
}

TEST(a_lambda_is_called_after_its_function) {
  CHECK_EQ(shorten_declaration("void k<4, n::tanh(n::T&)::{lambda()#2}::operator()() const>(int)"),
           "k<4, tanh::{lambda}>");
}

TEST(operators_and_broken_brackets_stay) {
  CHECK_EQ(shorten_declaration("bool n::operator< <int>(n::T)"), "bool n::operator< <int>(n::T)");
  CHECK_EQ(shorten_declaration("f<int"), "f<int");
  CHECK_EQ(shorten_declaration("T::operator()(int)"), "T::operator()");
}

TEST(names_that_are_no_symbols_stay) {
  CHECK_EQ(short_name("matmul<4>(x)"), "matmul<4>(x)");
  CHECK_EQ(short_name("_Z3addIiEvPT_"), "add<int>");
}
