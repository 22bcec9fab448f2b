#include "base/string_table.h"

namespace proton {

uint32_t StringTable::intern(std::string_view text) {
  if (auto found = index_.find(text); found != index_.end()) return found->second;
  const auto id = static_cast<uint32_t>(strings_->size());
  strings_->emplace_back(text);
  index_.emplace(strings_->back(), id);
  return id;
}

StringTexts StringTable::texts() const {
  StringTexts texts;
  texts.owner_ = strings_;
  texts.by_id_.reserve(strings_->size());
  for (const std::string& text : *strings_) texts.by_id_.push_back(&text);
  return texts;
}

void StringTable::clear() {
  index_.clear();
  strings_ = std::make_shared<std::deque<std::string>>();
}

}  // namespace proton
