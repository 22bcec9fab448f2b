/// From a 64-bit key to a 32-bit number by one probe in an open-addressed table.
/// Not locked; key 0 is reserved for empty slots.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace proton {

/// Two numbers as a key, never the reserved one: not both may be the largest.
constexpr uint64_t pair_key(uint32_t first, uint32_t second) {
  return (uint64_t{first} << 32 | second) + 1;
}

class KeyIndex {
 public:
  /// Where the number of `key` stands. `is_new` tells whether the caller must now fill it in;
  /// the pointer is good until the next call. In line: every event looks up two keys.
  [[gnu::always_inline]] inline uint32_t* find_or_add(uint64_t key, bool& is_new) {
    Slot* slot = &probe(key);
    is_new = slot->key == 0;
    if (is_new) [[unlikely]] {
      slot = &add(key);
    }
    return &slot->value;
  }

  /// The row of `key` in `rows`, where a new one ends with what `make` returns.
  template <typename Row, typename Make>
  uint32_t row_of(uint64_t key, std::vector<Row>& rows, Make make) {
    bool is_new;
    uint32_t* row = find_or_add(key, is_new);
    if (is_new) {
      *row = static_cast<uint32_t>(rows.size());
      rows.push_back(make());
    }
    return *row;
  }

  /// The number of `key`, or null.
  const uint32_t* find(uint64_t key) const {
    const Slot& slot = const_cast<KeyIndex*>(this)->probe(key);
    return slot.key == 0 ? nullptr : &slot.value;
  }

  size_t size() const { return used_; }
  void clear() {
    slots_.assign(1, Slot{});
    mask_ = 0;
    used_ = 0;
  }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t value = 0;
  };

  Slot& probe(uint64_t key) {
    Slot* const slots = slots_.data();
    size_t at = mix_bits(key) & mask_;
    while (slots[at].key != key && slots[at].key != 0) at = (at + 1) & mask_;
    return slots[at];
  }

  [[gnu::noinline]] Slot& add(uint64_t key) {  // rare: what it is called from stays small
    if ((used_ + 1) * 2 > slots_.size()) grow();
    Slot& slot = probe(key);
    slot.key = key;
    ++used_;
    return slot;
  }

  void grow() {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(std::max<size_t>(64, old.size() * 2), Slot{});
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.key != 0) probe(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1);  // a power of two; never empty, never full
  size_t mask_ = 0;
  size_t used_ = 0;
};

}  // namespace proton
