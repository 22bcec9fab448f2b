/// What the ELF file of a cubin holds: sections, symbols, relocations, the architecture, and its
/// functions (kernels, and routines that stand behind a kernel in its section), all checked against
/// its size. What is returned are views of the image, which must stay.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cubin/reader.h"

namespace proton::cubin {

struct Section {
  std::string_view name;
  uint32_t type = 0;
  uint32_t link = 0;
  uint64_t address = 0;
  Bytes data;  // empty for a section that takes no room in the file
};

struct Symbol {
  std::string_view name;
  uint8_t type = 0;
  uint32_t section = 0;
  uint64_t value = 0;  // where it begins in its section
  uint64_t size = 0;
};

/// What stands at an offset that a relocation fills in: a place in a section.
struct Place {
  uint32_t section = 0;
  uint64_t offset = 0;
};

class Elf {
 public:
  /// Reads sections and symbols; returns what is wrong with the file, empty when nothing is.
  std::string parse(Bytes image);

  /// The number in `sm_90`.
  uint32_t architecture() const { return architecture_; }
  const std::vector<Section>& sections() const { return sections_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }

  /// The bytes of the first section of that name; empty when there is none.
  Bytes data(std::string_view name) const;

  /// The 8-byte fields of section `name` that relocations fill in, by offset.
  std::unordered_map<uint64_t, Place> relocations(std::string_view name) const;

 private:
  std::string read_header(Bytes image);
  std::string read_sections(Bytes image);
  void read_symbols();
  const Section* find(std::string_view name) const;

  uint32_t architecture_ = 0;
  uint64_t table_ = 0;  // where section headers begin, and how they are laid out
  uint64_t entry_size_ = 0;
  uint64_t count_ = 0;
  uint32_t names_ = 0;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
};

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
