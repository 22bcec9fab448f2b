/// Opens the fake driver for C++ tests: FAKE(fake_launch)("name", 1000, nullptr). Which one says
/// the environment variable FAKE_CUDA_PATH, else the macro of that name.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "fake_cuda/fake_cuda.h"

namespace fake {

inline std::string library_path() {
  const char* given = std::getenv("FAKE_CUDA_PATH");
  return given != nullptr ? given : FAKE_CUDA_PATH;
}

/// An exported function, by its name; the test ends when the library has no such name.
template <typename F>
F find(const char* name, bool is_optional = false) {
  static void* const library = dlopen(library_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const symbol = library == nullptr ? nullptr : dlsym(library, name);
  if (symbol == nullptr && !is_optional) {
    std::fprintf(stderr, "fake driver: %s\n", dlerror());
    std::abort();
  }
  return reinterpret_cast<F>(symbol);
}

}  // namespace fake

#define FAKE(function) (::fake::find<decltype(&::function)>(#function))
