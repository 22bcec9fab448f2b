/// Texts that come again and again, each once, by number.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"

namespace proton {

class TextNumbers {
 public:
  /// The number of `text`, which is copied where it is new.
  uint32_t number_of(std::string_view text) {
    if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
    const auto number = static_cast<uint32_t>(texts_.size());
    texts_.push_back(numbers_.emplace(std::string(text), number).first->first);
    return number;
  }
  /// By number.
  const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return hash_text(text, 0); }
  };

  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> numbers_;
  std::vector<std::string_view> texts_;  // keys of `numbers_`
};

}  // namespace proton
