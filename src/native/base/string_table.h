/// Strings as small integers: equal strings get one id, ids are dense and start at 0.
/// Not locked: the owner says under which lock it is used.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace proton {

class StringTable {
 public:
  /// The id of `text`, copied on first sight.
  uint32_t intern(std::string_view text);

  /// The text of an id that `intern` returned; the reference stays valid until `clear`.
  const std::string& text(uint32_t id) const { return strings_[id]; }

  size_t size() const { return strings_.size(); }
  void clear();

 private:
  std::deque<std::string> strings_;  // a deque: the index holds views of its strings
  std::unordered_map<std::string_view, uint32_t> index_;
};

}  // namespace proton
