/// The file of recordings: what CUPTI told Proton and what the program did meanwhile, in the order
/// in which it happened. Written by recorder.cpp, read by ../player.
///
/// The magic bytes, then entries. An entry is a byte of EntryKind and fields, all unsigned varints
/// (7 bits a byte, low ones first) unless said. Strings are entries of their own, numbered from 0,
/// and come before their use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace recording {

inline constexpr std::string_view kMagic = "PROTONR1";

enum EntryKind : uint8_t {
  kString = 1,    // size, bytes
  kFact = 2,      // name, value: both strings. What the machine is
  kCall = 3,      // thread, function (string), argument, result: what Proton asked of CUPTI
  kDriver = 4,    // thread, cbid, site, function (string), correlation, context, context id,
                  // symbol (string + 1, or 0), count of words of parameters, those words
  kResource = 5,  // thread, cbid, context, handle, whether a graph's, then the 7 words of GraphData
  kQuery = 6,     // thread, function (string), handle, answer: before the thread's last entry
  kBuffer = 7,    // thread, whether in a flush, context, stream, records: size and bytes of each
  kDropped = 8,   // thread, count of records, told while the thread's last entry was handled
  kNote = 9,      // thread, text (string): what the program does now
  kEnd = 10,      // count of the entries before; without it the recording was cut off
  kOther = 11,    // thread, domain, cbid: a callback that is not played
};

inline void put_varint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

/// Reads fields; past the end everything is 0 and `is_cut` is set.
class Fields {
 public:
  Fields(const char* begin, const char* end) : at_(begin), end_(end) {}

  bool is_at_end() const { return at_ == end_; }
  bool is_cut() const { return is_cut_; }
  const char* position() const { return at_; }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) break;
      const auto byte = static_cast<uint8_t>(*at_++);
      value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    is_cut_ = true;
    return 0;
  }

  std::string_view bytes(uint64_t size) {
    if (size > static_cast<uint64_t>(end_ - at_)) {
      is_cut_ = true;
      at_ = end_;
      return {};
    }
    const std::string_view found(at_, size);
    at_ += size;
    return found;
  }

 private:
  const char* at_;
  const char* end_;
  bool is_cut_ = false;
};

}  // namespace recording
