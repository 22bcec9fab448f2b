#include "base/demangle.h"

#include <cxxabi.h>

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <memory>

#ifdef PROTON_DEMANGLE_BY_CALLBACK
// Of GCC's runtime, which shared libraries of it do not export: it hands the text over in pieces.
extern "C" int __gcclibcxx_demangle_callback(const char* name,
                                             void (*take)(const char*, size_t, void*), void* sink);
#endif

namespace proton {
namespace {

constexpr size_t kLongest = 8192;       // the runtime keeps work space in proportion to the name
constexpr size_t kLongestText = 65536;  // a symbol of 100 characters can stand for gigabytes

bool is_symbol(std::string_view name) { return name.starts_with("_Z"); }

#ifdef PROTON_DEMANGLE_BY_CALLBACK

struct BoundedText {
  std::unique_ptr<char[]> room{new char[kLongestText]};
  size_t size = 0;
  std::jmp_buf is_full;
};

void take_piece(const char* piece, size_t size, void* sink) {
  BoundedText& text = *static_cast<BoundedText*>(sink);
  // The runtime has no other way to stop. It holds no memory and no lock at this point.
  if (size > kLongestText - text.size) std::longjmp(text.is_full, 1);
  std::memcpy(text.room.get() + text.size, piece, size);
  text.size += size;
}

/// Apart from the caller's objects: a jump must not cross the end of any.
bool fill_text(const char* name, BoundedText& text) {
  if (setjmp(text.is_full) != 0) return false;
  return __gcclibcxx_demangle_callback(name, take_piece, &text) == 0;
}

std::string readable(const std::string& name) {
  BoundedText text;
  return fill_text(name.c_str(), text) ? std::string(text.room.get(), text.size) : name;
}

#else

constexpr int kMostReferences = 16;  // each may double the text, and nothing can stop the runtime

std::string readable(const std::string& name) {
  int references = 0;
  for (size_t at = 1; at < name.size(); ++at) references += name[at] == '_';
  if (references > kMostReferences) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status != 0 || text == nullptr ? name : std::string(text.get());
}

#endif

}  // namespace

std::string demangle(const std::string& name) {
  if (!is_symbol(name) || name.size() > kLongest || name.find('\0') != std::string::npos) {
    return name;
  }
  const std::string text = readable(name);
  return text.size() > kLongestText ? name : text;
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
