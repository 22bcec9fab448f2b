/// Names of kernels and copies, by the driver's pointer: the text is copied at first sight, and
/// compared again once a buffer, because a pointer may come back with another text after a module
/// was unloaded. Not locked: used under the hub's decode lock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/key_index.h"

namespace proton::cupti {

class NamePool {
 public:
  struct Name {
    uint32_t id;  // from 1
    std::string text;
    uint32_t checked = 0;  // the turn in which the text was compared last
  };

  /// The name at `text`; null stands for a kernel without one. The reference stays good.
  const Name& find(const char* text) {
    if (text == last_text_ && text != nullptr) return *last_;
    return find_other(text);
  }

  /// Call it for every buffer: from here on texts are compared anew.
  void start_turn() {
    ++turn_;
    last_text_ = nullptr;
  }

  /// `<graph 3>`; `<graph>` where there have been too many.
  const Name& find_graph(uint32_t graph);

  size_t size() const { return names_.size(); }

 private:
  static constexpr size_t kGraphLimit = 4096;

  const Name& find_other(const char* text);

  KeyIndex by_pointer_;
  KeyIndex by_graph_;
  std::vector<std::unique_ptr<Name>> names_;
  uint32_t turn_ = 1;
  const char* last_text_ = nullptr;  // found in this turn
  const Name* last_ = nullptr;
};

}  // namespace proton::cupti
