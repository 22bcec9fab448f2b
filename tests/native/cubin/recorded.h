/// The cubins of tests/data/cubins, and bytes put together by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "cubin/cubin.h"

namespace recorded {

inline const std::filesystem::path kFolder = PROTON_TEST_CUBINS;

inline std::string text(const std::string& name) {
  std::ifstream file(kFolder / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<std::byte> bytes(std::string_view text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

/// The names of all cubins, without the ending.
inline std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".cubin") found.push_back(entry.path().stem().string());
  }
  return found;
}

inline proton::cubin::Cubin::Result parse(const std::string& name, bool with_ptx) {
  return proton::cubin::Cubin::parse(bytes(text(name + ".cubin")),
                                     with_ptx ? text(name + ".ptx") : std::string());
}

/// Bytes one after the other, least significant first.
class Writer {
 public:
  Writer& number(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) out_.push_back(static_cast<char>(value >> 8 * i));
    return *this;
  }
  Writer& bytes(std::initializer_list<int> values) {
    for (const int value : values) out_.push_back(static_cast<char>(value));
    return *this;
  }
  Writer& text(std::string_view text) {
    out_.append(text).push_back('\0');
    return *this;
  }
  Writer& raw(std::string_view text) {
    out_.append(text);
    return *this;
  }
  const std::string& str() const { return out_; }

 private:
  std::string out_;
};

}  // namespace recorded
