/// Strings as small integers: equal strings get one id, ids are dense and start at 0.
/// Not locked: the owner says under which lock it is used.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace proton {

/// The texts of a table at one moment. They stay where they are while this is held, whatever is
/// added to the table or cleared from it, so that they can be read without its lock.
class StringTexts {
 public:
  const std::string& operator[](uint32_t id) const { return *by_id_[id]; }

 private:
  friend class StringTable;
  std::shared_ptr<const std::deque<std::string>> owner_;
  std::vector<const std::string*> by_id_;
};

class StringTable {
 public:
  /// The id of `text`, copied on first sight.
  uint32_t intern(std::string_view text);

  /// The text of an id that `intern` returned; the reference stays valid until `clear`.
  const std::string& text(uint32_t id) const { return (*strings_)[id]; }
  StringTexts texts() const;

  size_t size() const { return strings_->size(); }
  void clear();

 private:
  // a deque: the index holds views of its strings; shared: so may a snapshot
  std::shared_ptr<std::deque<std::string>> strings_ = std::make_shared<std::deque<std::string>>();
  std::unordered_map<std::string_view, uint32_t> index_;
};

}  // namespace proton
