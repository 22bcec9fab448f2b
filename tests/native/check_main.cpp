/// Runs the tests of one program: all, those of a file (`test_file`), or those whose name, written
/// `test_file.name_of_test`, contains the argument.
#include "check.h"

namespace {

bool is_wanted(const std::string& name, const std::string& wanted) {
  const bool is_file = wanted.starts_with("test_") && wanted.find('.') == std::string::npos;
  return is_file ? name.starts_with(wanted + ".") : name.find(wanted) != std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  int passed = 0;
  int failed = 0;
  for (const check::Test& test : check::tests()) {
    if (argc > 1 && !is_wanted(test.name, argv[1])) continue;
    check::failures() = 0;
    try {
      test.run();
    } catch (const std::exception& error) {
      check::fail(test.name.c_str(), 0, std::string("exception: ") + error.what());
    }
    if (check::failures() == 0) {
      ++passed;
    } else {
      ++failed;
      std::cerr << "FAILED " << test.name << "\n";
    }
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed == 0 && passed > 0 ? 0 : 1;
}
