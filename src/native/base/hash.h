/// Hashing of small integer keys for open-addressed tables.
#pragma once

#include <cstdint>

namespace proton {

/// Spreads the bits of `key`; the low bits are fit to index a table of any power-of-two size.
inline uint64_t mix_bits(uint64_t key) {
  key ^= key >> 32;
  key *= 0x9e3779b97f4a7c15ull;
  return key ^ (key >> 29);
}

}  // namespace proton
