/// From a 64-bit key to a 32-bit number by one probe in an open-addressed table.
/// Not locked; key 0 is reserved for empty slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace proton {

class KeyIndex {
 public:
  /// Where the number of `key` stands. `is_new` tells whether the caller must now fill it in;
  /// the pointer is good until the next call.
  uint32_t* find_or_add(uint64_t key, bool& is_new) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = probe(key);
    is_new = slot.key == 0;
    if (is_new) {
      slot.key = key;
      ++used_;
    }
    return &slot.value;
  }

  /// The number of `key`, or null.
  const uint32_t* find(uint64_t key) const {
    if (slots_.empty()) return nullptr;
    const size_t mask = slots_.size() - 1;
    size_t at = mix_bits(key) & mask;
    while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & mask;
    return slots_[at].key == 0 ? nullptr : &slots_[at].value;
  }

  size_t size() const { return used_; }
  void clear() {
    slots_.clear();
    used_ = 0;
  }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t value = 0;
  };

  Slot& probe(uint64_t key) {
    const size_t mask = slots_.size() - 1;
    size_t at = mix_bits(key) & mask;
    while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & mask;
    return slots_[at];
  }

  void grow() {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(old.empty() ? 64 : old.size() * 2, Slot{});
    for (const Slot& slot : old) {
      if (slot.key != 0) probe(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace proton
