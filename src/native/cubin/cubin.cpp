#include "cubin/cubin.h"

namespace proton::cubin {

Cubin::Result Cubin::parse(std::vector<std::byte> image, std::string_view ptx) {
  // Names are in the file already; paths of files repeat their folders.
  const size_t name_budget = (1 << 20) + 4 * (image.size() + ptx.size());
  std::shared_ptr<Cubin> cubin(new Cubin(std::move(image), name_budget));
  if (std::string problem = cubin->elf_.parse(cubin->image_); !problem.empty()) {
    return {nullptr, "no cubin: " + problem};
  }
  cubin->functions_.read(cubin->elf_);
  if (!ptx.empty()) {
    const bool is_ours = is_same_ptx(ptx, cubin->elf_.data(".nv_debug_ptx_txt"));
    cubin->ptx_ = is_ours ? Ptx::kUsed : Ptx::kForeign;
    if (!is_ours) ptx = {};
  }
  const bool is_whole = cubin->table_.read(cubin->elf_, cubin->functions_, ptx);
  if (!is_whole) {
    cubin->lines_ = Lines::kDamaged;
  } else if (!cubin->table_.empty()) {
    cubin->lines_ = Lines::kPresent;
  }
  return {std::move(cubin), {}};
}

const Function& Cubin::routine(const Function& function, uint64_t offset) const {
  const Function* found = functions_.at(function.section, function.offset + offset);
  return found == nullptr ? function : *found;
}

Bytes Cubin::code(const Function& function) const {
  return part_of(elf_.sections()[function.section].data, function.offset, function.size);
}

LocationId Cubin::locate(const Function& function, uint64_t offset) const {
  return table_.locate(function.section, function.offset + offset);
}

}  // namespace proton::cubin
