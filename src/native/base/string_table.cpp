#include "base/string_table.h"

namespace proton {

uint32_t StringTable::intern(std::string_view text) {
  if (auto found = index_.find(text); found != index_.end()) return found->second;
  const auto id = static_cast<uint32_t>(strings_.size());
  strings_.emplace_back(text);
  index_.emplace(strings_.back(), id);
  return id;
}

void StringTable::clear() {
  index_.clear();
  strings_.clear();
}

}  // namespace proton
