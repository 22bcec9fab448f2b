#include "bindings/nvtx_names.h"

namespace proton::bindings {
namespace {

constexpr std::string_view kDigits = "0123456789-";

/// The end of the part that begins at `at` (", seq = 12"), if it is one to leave out; else `at`.
size_t skip_part(std::string_view name, size_t at) {
  const std::string_view rest = name.substr(at);
  for (const std::string_view key : {", seq = ", ", op_id = "}) {
    if (!rest.starts_with(key)) continue;
    const size_t end = rest.find_first_not_of(kDigits, key.size());
    if (end == key.size()) return at;  // no number
    return end == std::string_view::npos ? name.size() : at + end;
  }
  constexpr std::string_view kInputs = ", input_op_ids = [";
  if (!rest.starts_with(kInputs)) return at;
  size_t depth = 1;
  size_t end = kInputs.size();
  for (; end < rest.size() && depth > 0; ++end) {
    if (rest[end] == '[') ++depth;
    if (rest[end] == ']') --depth;
  }
  return at + end;
}

}  // namespace

std::string_view plain_name(std::string_view name, std::string& buffer) {
  size_t comma = name.find(", ");
  if (comma == std::string_view::npos) return name;
  size_t kept = 0;
  for (; comma != std::string_view::npos; comma = name.find(", ", comma)) {
    const size_t end = skip_part(name, comma);
    if (end == comma) {
      ++comma;
      continue;
    }
    buffer.append(name.substr(kept, comma - kept));
    kept = comma = end;
  }
  if (kept == 0) return name;
  buffer.append(name.substr(kept));
  return buffer;
}

}  // namespace proton::bindings
