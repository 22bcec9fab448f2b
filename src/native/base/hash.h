/// Hashing of small integer keys and short texts for open-addressed tables.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace proton {

/// Spreads the bits of `key`; the low bits are fit to index a table of any power-of-two size.
inline uint64_t mix_bits(uint64_t key) {
  key ^= key >> 32;
  key *= 0x9e3779b97f4a7c15ull;
  return key ^ (key >> 29);
}

/// A hash of `text` that is never 0, eight bytes at a time.
inline uint64_t hash_text(std::string_view text, uint64_t seed) {
  uint64_t hash = seed ^ text.size() * 0xff51afd7ed558ccdull;
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    hash = mix_bits(hash ^ word) * 0xc4ceb9fe1a85ec53ull;
  }
  uint64_t word = 0;
  if (left > 0) std::memcpy(&word, at, left);
  hash = mix_bits(hash ^ word);
  return hash == 0 ? 1 : hash;
}

}  // namespace proton
