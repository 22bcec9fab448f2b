#include "cubin/functions.h"

#include <algorithm>
#include <tuple>

namespace proton::cubin {

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
