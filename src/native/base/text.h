/// Building text without <format>, which g++ 12 lacks.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace proton {

inline void append_text(std::string& out, std::string_view part) { out.append(part); }
inline void append_text(std::string& out, std::integral auto part) { out += std::to_string(part); }

/// Text and integers, one after the other.
template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::string out;
  (append_text(out, parts), ...);
  return out;
}

/// `name` between single quotes, as Python shows a plain string.
inline std::string quote(std::string_view name) { return concat("'", name, "'"); }

}  // namespace proton
