#include "backends/cupti/names.h"

#include "base/text.h"

namespace proton::cupti {

const NamePool::Name& NamePool::find_other(const char* text) {
  if (text == nullptr) text = "<unknown kernel>";
  bool is_new;
  uint32_t* at = by_pointer_.find_or_add(reinterpret_cast<uint64_t>(text), is_new);
  if (is_new || (names_[*at]->checked != turn_ && names_[*at]->text != text)) {
    const auto count = static_cast<uint32_t>(names_.size());
    names_.push_back(std::make_unique<Name>(count + 1, text));
    *at = count;
  }
  Name& name = *names_[*at];
  name.checked = turn_;
  last_text_ = text;
  last_ = &name;
  return name;
}

const NamePool::Name& NamePool::find_graph(uint32_t graph) {
  if (by_graph_.size() >= kGraphLimit && by_graph_.find(uint64_t{graph} + 1) == nullptr) {
    return find("<graph>");
  }
  bool is_new;
  uint32_t* at = by_graph_.find_or_add(uint64_t{graph} + 1, is_new);
  if (is_new) {
    *at = static_cast<uint32_t>(names_.size());
    names_.push_back(std::make_unique<Name>(*at + 1, concat("<graph ", graph, ">")));
  }
  return *names_[*at];
}

}  // namespace proton::cupti
