/// A driver's library or a tool's, opened at run time for the rest of the process: nothing of a
/// vendor is linked.
#pragma once

#include <dlfcn.h>

#include <string>

#include "base/error.h"
#include "base/text.h"

namespace proton {

class LoadedLibrary {
 public:
  /// `what` it is, for the user. Throws BackendError where it cannot be opened.
  LoadedLibrary(const std::string& path, const char* what, const char* backend, const char* remedy)
      : path_(path), backend_(backend), remedy_(remedy) {
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    const char* why = dlerror();
    throw BackendError(backend,
                       concat("cannot open ", what, " ", quote(path), ": ",
                              why == nullptr ? "no reason given" : why),
                       remedy);
  }

  /// Throws BackendError where there is no function of that name; if it is optional, it is null.
  template <typename Function>
  void find(Function& function, const char* name, bool is_optional = false) const {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function != nullptr || is_optional) return;
    throw BackendError(backend_, concat(path_, " has no function ", name), remedy_);
  }

 private:
  const std::string& path_;
  const char* backend_;
  const char* remedy_;
  void* handle_;
};

}  // namespace proton
