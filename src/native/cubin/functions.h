/// The functions of a cubin: kernels, and routines that stand behind a kernel in its section.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cubin/elf.h"

namespace proton::cubin {

struct Function {
  std::string_view name;  // the symbol, as the driver knows it
  uint32_t section = 0;
  uint64_t offset = 0;  // in its section
  uint64_t size = 0;    // bytes; of a kernel, with the routines behind it
};

class Functions {
 public:
  void read(const Elf& elf);

  /// By section, then by offset.
  const std::vector<Function>& all() const { return all_; }
  const Function* find(std::string_view name) const;

  /// The function whose code is at an offset of a section, the routine before the kernel it belongs
  /// to; null where there is none.
  const Function* at(uint32_t section, uint64_t offset) const;

 private:
  std::vector<Function> all_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
};

/// How a function is called in its source: the end of `$kernel$helper` and of
/// `$__internal_0_$__cuda_sm20_sqrt_rn_f32_slowpath`, other symbols as they are.
std::string_view source_name(std::string_view symbol);

}  // namespace proton::cubin
