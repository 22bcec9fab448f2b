/// The code of a sampled function, as whoever keeps loaded modules knows it. Never changes, and
/// keeps what its texts and bytes point into: any number of threads may ask.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace proton {

/// A place in a source file, and the function that it is in; empty: not known.
struct SourceFrame {
  std::string_view file;
  uint32_t line = 0;
  std::string_view function;
};

/// Of every architecture that is sampled.
inline constexpr uint32_t kInstructionBytes = 16;

class SampledCode {
 public:
  virtual ~SampledCode() = default;

  virtual uint32_t architecture() const = 0;  // 90 for sm_90

  /// The place of the instruction `pc` bytes into the function; equal places have equal numbers.
  /// 0: the line tables do not tell, or there are none.
  virtual uint32_t locate(uint32_t pc) const = 0;

  /// The user's frame first, what was inlined into it behind it.
  virtual std::vector<SourceFrame> frames(uint32_t location) const = 0;

  /// Bytes of the function, with the routines behind it.
  virtual uint32_t size() const = 0;

  /// The bytes of an instruction; none where there is none.
  virtual std::span<const std::byte> instruction(uint32_t pc) const = 0;
};

/// The code of a function in a module; null: not known. Called on any thread, with or without the
/// GIL.
using FindCode = std::shared_ptr<const SampledCode> (*)(uint64_t module, std::string_view symbol);

}  // namespace proton
