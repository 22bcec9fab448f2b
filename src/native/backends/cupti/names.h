/// Names of kernels and copies, by the driver's pointer: the text is copied at first sight, and
/// compared at every later one, because a pointer may come back with another text after a module
/// was unloaded. Not locked: used under the hub's decode lock.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "base/key_index.h"

namespace proton::cupti {

class NamePool {
 public:
  struct Name {
    uint32_t id;  // from 1
    std::string text;
  };

  /// The name at `text`; null stands for a kernel without one. The reference stays good.
  const Name& find(const char* text);

  size_t size() const { return names_.size(); }

 private:
  KeyIndex by_pointer_;
  std::deque<Name> names_;
};

}  // namespace proton::cupti
