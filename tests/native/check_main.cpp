/// Runs the tests of one program; an argument runs only those whose name contains it.
#include <cstring>

#include "check.h"

int main(int argc, char** argv) {
  int passed = 0;
  int failed = 0;
  for (const check::Test& test : check::tests()) {
    if (argc > 1 && std::strstr(test.name, argv[1]) == nullptr) continue;
    check::failures() = 0;
    try {
      test.run();
    } catch (const std::exception& error) {
      check::fail(test.name, 0, std::string("exception: ") + error.what());
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
