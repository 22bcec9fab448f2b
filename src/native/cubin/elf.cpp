#include "cubin/elf.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace proton::cubin {

namespace {

constexpr uint16_t kMachineCuda = 190;
constexpr uint8_t kLastOldAbi = 7;  // CUDA 12 writes 7 up to sm_90 and 8 above, CUDA 13 writes 8
constexpr uint64_t kHeaderSize = 64;
constexpr uint32_t kTypeSymbols = 2;
constexpr uint32_t kTypeRela = 4;
constexpr uint32_t kTypeNoBits = 8;
constexpr uint32_t kTypeRel = 9;
constexpr uint32_t kTypeSymbolSections = 18;
constexpr uint32_t kSectionInTable = 0xffff;  // too large for 16 bits: it is in another section
constexpr uint64_t kSymbolSize = 24;

}  // namespace

std::string Elf::parse(Bytes image) {
  if (std::string problem = read_header(image); !problem.empty()) return problem;
  if (std::string problem = read_sections(image); !problem.empty()) return problem;
  read_symbols();
  return {};
}

std::string Elf::read_header(Bytes image) {
  Reader header(part_of(image, 0, kHeaderSize));
  if (header.u32() != 0x464c457f) return "it does not begin as an ELF file does";
  const uint8_t width = header.u8(), order = header.u8();
  if (width != 2 || order != 1) return "it is no 64-bit little-endian ELF file";
  header.skip(2);
  const uint8_t abi = header.u8();
  header.skip(9);
  const uint16_t machine = header.u16();
  if (machine != kMachineCuda) return concat("it holds code of machine ", machine, ", not CUDA");
  header.skip(20);
  table_ = header.u64();
  const uint32_t flags = header.u32();
  architecture_ = abi <= kLastOldAbi ? flags & 0xff : flags >> 8 & 0xff;
  header.skip(6);
  entry_size_ = header.u16();
  count_ = header.u16();
  names_ = header.u16();
  if (entry_size_ != 64) return concat("its section headers have ", entry_size_, " bytes, not 64");
  return {};
}

std::string Elf::read_sections(Bytes image) {
  if (count_ == 0 || names_ == kSectionInTable) {  // more than 16 bits can say: in section 0
    Reader first(part_of(image, table_, entry_size_));
    first.skip(32);
    const uint64_t size = first.u64();
    const uint32_t link = first.u32();
    if (!first.ok()) return "its section headers are not in the file";
    if (count_ == 0) count_ = size;
    if (names_ == kSectionInTable) names_ = link;
  }
  if (table_ > image.size() || count_ > (image.size() - table_) / entry_size_) {
    return concat("its ", count_, " section headers are not in the file");
  }
  sections_.resize(count_);
  std::vector<uint32_t> names(count_);
  Reader reader(image, table_);
  for (uint64_t i = 0; i < count_; ++i) {
    Section& section = sections_[i];
    names[i] = reader.u32();
    section.type = reader.u32();
    reader.skip(8);
    section.address = reader.u64();
    const uint64_t offset = reader.u64(), size = reader.u64();
    section.link = reader.u32();
    reader.skip(20);
    if (section.type == 0 || section.type == kTypeNoBits) continue;
    section.data = part_of(image, offset, size);
    if (section.data.size() != size) return concat("section ", i, " ends past the end of the file");
  }
  if (names_ >= count_) return "it has no section names";
  for (uint64_t i = 0; i < count_; ++i) {
    sections_[i].name = text_at(sections_[names_].data, names[i]);
  }
  return {};
}

void Elf::read_symbols() {
  const Section* table = find(".symtab");
  if (table == nullptr || table->type != kTypeSymbols || table->link >= sections_.size()) return;
  const Bytes names = sections_[table->link].data;
  Bytes wide;  // the sections of symbols whose own field is too narrow
  for (const Section& section : sections_) {
    if (section.type == kTypeSymbolSections && section.link == table - sections_.data()) {
      wide = section.data;
    }
  }
  const uint64_t count = table->data.size() / kSymbolSize;
  symbols_.reserve(count);
  Reader reader(table->data);
  for (uint64_t i = 0; i < count; ++i) {
    Symbol symbol;
    symbol.name = text_at(names, reader.u32());
    symbol.type = reader.u8() & 0xf;
    reader.skip(1);
    symbol.section = reader.u16();
    if (symbol.section == kSectionInTable) symbol.section = Reader(wide, i * 4).u32();
    symbol.value = reader.u64();
    symbol.size = reader.u64();
    if (symbol.section < sections_.size()) symbol.value -= sections_[symbol.section].address;
    symbols_.push_back(symbol);
  }
}

const Section* Elf::find(std::string_view name) const {
  for (const Section& section : sections_) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

Bytes Elf::data(std::string_view name) const {
  const Section* section = find(name);
  return section == nullptr ? Bytes() : section->data;
}

std::unordered_map<uint64_t, Place> Elf::relocations(std::string_view name) const {
  std::unordered_map<uint64_t, Place> places;
  const Bytes target = data(name);
  for (const auto& [prefix, type, size] :
       {std::tuple{".rel", kTypeRel, 16u}, std::tuple{".rela", kTypeRela, 24u}}) {
    const Section* table = find(concat(prefix, name));
    if (table == nullptr || table->type != type) continue;
    Reader reader(table->data);
    for (uint64_t left = table->data.size() / size; left > 0; --left) {
      const uint64_t offset = reader.u64(), symbol = reader.u64() >> 32;
      // What is added to the symbol stands in the relocation or, in the short form, in the field.
      const uint64_t more = type == kTypeRela ? reader.u64() : Reader(target, offset).u64();
      if (symbol >= symbols_.size()) continue;
      places[offset] = {symbols_[symbol].section, symbols_[symbol].value + more};
    }
  }
  return places;
}

void Functions::read(const Elf& elf) {
  constexpr uint8_t kTypeFunction = 2;
  for (const Symbol& symbol : elf.symbols()) {
    if (symbol.type != kTypeFunction || symbol.section >= elf.sections().size()) continue;
    const Section& section = elf.sections()[symbol.section];
    if (!section.name.starts_with(".text") || symbol.value >= section.data.size()) continue;
    const uint64_t size = std::min<uint64_t>(symbol.size, section.data.size() - symbol.value);
    all_.push_back({symbol.name, symbol.section, symbol.value, size});
  }
  std::ranges::stable_sort(all_, {}, [](const Function& function) {
    return std::tuple(function.section, function.offset);
  });
  for (const Function& function : all_) {
    by_name_.try_emplace(function.name, static_cast<uint32_t>(&function - all_.data()));
  }
}

const Function* Functions::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &all_[found->second];
}

const Function* Functions::at(uint32_t section, uint64_t offset) const {
  const auto after = std::ranges::upper_bound(
      all_, std::tuple(section, offset), {},
      [](const Function& function) { return std::tuple(function.section, function.offset); });
  if (after == all_.begin()) return nullptr;
  const Function& before = *std::prev(after);
  return before.section == section ? &before : nullptr;
}

std::string_view source_name(std::string_view symbol) {
  if (!symbol.starts_with('$')) return symbol;
  const size_t second = symbol.find('$', 1);
  return second == std::string_view::npos ? symbol : symbol.substr(second + 1);
}

}  // namespace proton::cubin
