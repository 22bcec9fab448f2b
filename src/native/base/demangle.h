/// C++ symbols as people read them. Files keep the symbol itself as well.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace proton {

/// The declaration behind a C++ symbol: `void add<int>(int*)` for `_Z3addIiEvPT_`. Other names, and
/// symbols that are too long or broken, are returned as they are.
std::string demangle(const std::string& name);

/// Demangles the end of a name that starts with `prefix`, and remembers what it did. Names must
/// outlive this. One thread at a time.
class ReadableNames {
 public:
  explicit ReadableNames(std::string_view prefix) : prefix_(prefix) {}

  const std::string& find(const std::string& name);

 private:
  std::string_view prefix_;
  std::unordered_map<const std::string*, std::string> known_;
};

}  // namespace proton
