/// Domains, registered strings and names of categories. Programs make them once, often long before
/// anybody listens, so the injected library keeps them. Nothing is ever freed: handles must stay
/// good, and equal names share one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nvtx/handler.h"

namespace proton::nvtx {

/// UTF-8 of a wide string in a buffer of its own; longer texts are cut.
class WideText {
 public:
  explicit WideText(const wchar_t* text);
  const char* text() const { return size_ == 0 && is_null_ ? nullptr : bytes_; }
  uint32_t size() const { return size_; }

 private:
  static constexpr uint32_t kLimit = 1020;
  char bytes_[kLimit + 4];
  uint32_t size_ = 0;
  bool is_null_;
};

/// Null: out of memory.
const Domain* find_or_add_domain(const char* name, size_t size);
const Registered* find_or_add_string(const Domain* domain, const char* text, size_t size);

void name_category(const Domain* domain, uint32_t category, const char* name, size_t size);
const char* find_category(const Domain* domain, uint32_t category);

}  // namespace proton::nvtx
