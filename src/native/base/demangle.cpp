#include "base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace proton {
namespace {

constexpr size_t kLongest = 8192;       // the runtime keeps work space in proportion to the name
constexpr size_t kLongestText = 65536;  // a short symbol can stand for very much

bool is_symbol(std::string_view name) { return name.starts_with("_Z"); }

}  // namespace

std::string demangle(const std::string& name) {
  if (!is_symbol(name) || name.size() > kLongest) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || text == nullptr) return name;
  std::string readable = text.get();
  return readable.size() > kLongestText ? name : readable;
}

const std::string& ReadableNames::find(const std::string& name) {
  const std::string_view whole = name;
  const bool has_prefix = whole.starts_with(prefix_);
  const std::string_view symbol = has_prefix ? whole.substr(prefix_.size()) : whole;
  if (!is_symbol(symbol)) return name;
  auto [found, is_new] = known_.try_emplace(&name);
  if (is_new) {
    found->second = demangle(std::string(symbol));
    if (has_prefix) found->second.insert(0, prefix_);
  }
  return found->second;
}

}  // namespace proton
