/// The little that native tests need: TEST(name) {...}, CHECK, CHECK_EQ, CHECK_HAS, CHECK_THROWS.
/// A failed check is printed and the test goes on; an exception that leaves a test fails it.
/// `main` is in check_main.cpp. The files of a room may be compiled as one (PROTON_UNITY), so a
/// name that stands at file level, tests' names too, is given once in a room; what two files need
/// goes to a header beside them.
#pragma once

#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace check {

struct Test {
  std::string name;  // test_file.name_of_test
  void (*run)();
};

/// All tests of this program, in the order they are written.
inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

/// Failed checks of the test that runs now. Checks are for the main thread only.
inline int& failures() {
  static int count = 0;
  return count;
}

struct Registration {
  Registration(std::string_view file, const char* name, void (*run)()) {
    file = file.substr(file.rfind('/') + 1);
    tests().push_back({std::string(file.substr(0, file.find('.'))) + "." + name, run});
  }
};

template <typename T>
std::string show(const T& value) {
  if constexpr (requires(std::ostringstream& out) { out << value; }) {
    std::ostringstream out;
    out << std::boolalpha;
    out.precision(17);
    out << value;
    return std::move(out).str();
  } else {
    return "<value without operator<<>";
  }
}

inline void fail(const char* file, int line, const std::string& text) {
  ++failures();
  std::cerr << file << ":" << line << ": " << text << "\n";
}

/// Equal, with integers of different signedness compared by value.
template <typename A, typename B>
bool equal(const A& a, const B& b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && !std::is_same_v<A, bool> &&
                !std::is_same_v<B, bool> && !std::is_same_v<A, char> && !std::is_same_v<B, char>) {
    return std::cmp_equal(a, b);
  } else {
    return a == b;
  }
}

template <typename A, typename B>
void check_equal(const char* file, int line, const char* text, const A& a, const B& b) {
  if (!equal(a, b)) {
    fail(file, line, std::string(text) + ": " + show(a) + " is not " + show(b));
  }
}

inline void check_has(const char* file, int line, const std::string& text,
                      const std::string& part) {
  if (text.find(part) == std::string::npos) {
    fail(file, line, "'" + part + "' is not in '" + text + "'");
  }
}

}  // namespace check

#define TEST(name)                                                                    \
  static void test_##name();                                                          \
  static const check::Registration registration_##name(__FILE__, #name, test_##name); \
  static void test_##name()

#define CHECK(...)                                                                  \
  do {                                                                              \
    if (!(__VA_ARGS__)) check::fail(__FILE__, __LINE__, "not true: " #__VA_ARGS__); \
  } while (false)

#define CHECK_EQ(a, b) check::check_equal(__FILE__, __LINE__, "CHECK_EQ(" #a ", " #b ")", (a), (b))

/// `part` stands in `text`.
#define CHECK_HAS(text, ...) check::check_has(__FILE__, __LINE__, text, __VA_ARGS__)

/// `expression` throws `type`; evaluates to nothing, use try/catch to look at the exception.
#define CHECK_THROWS(expression, type)                                                  \
  do {                                                                                  \
    bool thrown_ = false;                                                               \
    try {                                                                               \
      (void)(expression);                                                               \
    } catch (const type&) {                                                             \
      thrown_ = true;                                                                   \
    }                                                                                   \
    if (!thrown_) check::fail(__FILE__, __LINE__, #expression " did not throw " #type); \
  } while (false)
