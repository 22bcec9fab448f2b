/// A JSON-like value for the parts of a file that the core only carries (headers, autotune
/// records).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace proton {

struct Value {
  using List = std::vector<Value>;
  using Map = std::vector<std::pair<std::string, Value>>;  // in insertion order

  // An integer is unsigned only where it is too large for the other.
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Map, uint64_t> data;
};

}  // namespace proton
