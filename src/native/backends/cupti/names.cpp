#include "backends/cupti/names.h"

namespace proton::cupti {

const NamePool::Name& NamePool::find(const char* text) {
  if (text == nullptr) text = "<unknown kernel>";
  bool is_new;
  uint32_t* at = by_pointer_.find_or_add(reinterpret_cast<uint64_t>(text), is_new);
  if (is_new || names_[*at].text != text) {
    *at = static_cast<uint32_t>(names_.size());
    names_.push_back({static_cast<uint32_t>(names_.size() + 1), text});
  }
  return names_[*at];
}

}  // namespace proton::cupti
