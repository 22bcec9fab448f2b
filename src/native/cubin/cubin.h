/// A cubin, the code of one GPU architecture as drivers load it: its functions, their code, and the
/// source line and inline stack of each instruction. Files come from programs under study, so
/// nothing in them is trusted. Never changes after `parse`: any number of threads may ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cubin/elf.h"
#include "cubin/line_table.h"

namespace proton::cubin {

enum class Lines : uint8_t {
  kAbsent,   // built without line tables
  kDamaged,  // not all of the table can be read; what can be is there
  kPresent,
};

enum class Ptx : uint8_t {
  kNotGiven,
  kUsed,
  kForeign,  // it is not the text this cubin was made of, and was left aside
};

class Cubin {
 public:
  struct Result {
    std::shared_ptr<const Cubin> cubin;  // null: see `problem`
    std::string problem;                 // why this is no cubin
  };

  /// Reads everything. `ptx`, where it is to be had (Triton keeps it beside its cubins), adds
  /// columns and, for Triton up to 3.7, the callers of inlined code; it is not kept.
  static Result parse(std::vector<std::byte> image, std::string_view ptx = {});

  uint32_t architecture() const { return elf_.architecture(); }  // 90 for sm_90
  Lines lines() const { return lines_; }
  bool has_lines() const { return !table_.empty(); }  // some place is known
  Ptx ptx() const { return ptx_; }

  const std::vector<Function>& functions() const { return functions_.all(); }
  const Function* find(std::string_view name) const { return functions_.find(name); }

  /// The function at an offset into another: the routine behind a kernel, or the kernel itself.
  const Function& routine(const Function& function, uint64_t offset) const;

  /// Instructions of 16 bytes; good as long as the cubin.
  Bytes code(const Function& function) const;

  /// The place of the instruction at an offset into a function, told by halving; equal places have
  /// equal numbers. kNowhere where the tables say nothing.
  LocationId locate(const Function& function, uint64_t offset) const;

  /// The user's frame first, what was inlined into it behind it; none for kNowhere.
  std::vector<Frame> frames(LocationId id) const { return table_.frames(id); }

  Cubin(const Cubin&) = delete;
  Cubin& operator=(const Cubin&) = delete;

 private:
  explicit Cubin(std::vector<std::byte> image, size_t name_budget)
      : image_(std::move(image)), table_(name_budget) {}

  std::vector<std::byte> image_;
  Elf elf_;  // views of image_
  Functions functions_;
  LineTable table_;
  Lines lines_ = Lines::kAbsent;
  Ptx ptx_ = Ptx::kNotGiven;
};

}  // namespace proton::cubin
