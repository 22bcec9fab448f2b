/// Warps that recorded what another one did, which is what most do: they are matched once, and only
/// the clocks of the others are read. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/device_buffer/decode.h"
#include "backends/device_buffer/region_contexts.h"

namespace proton::device_buffer {

class WarpPatterns {
 public:
  /// Begins a buffer.
  void begin();

  void begin_warp() { passages_.clear(); }
  /// A passage of the warp at hand, by the numbers of its records.
  void add_passage(uint64_t start, uint64_t end, uint32_t context) {
    passages_.push_back({static_cast<uint32_t>(start), static_cast<uint32_t>(end), context});
  }
  /// The warp at hand has been matched: others with the same `alike` may repeat it. `is_plain`: its
  /// regions nest. `contexts` are those that it was in.
  void learn(uint32_t alike, std::span<const Event> events, bool is_plain,
             std::span<const uint32_t> contexts);

  /// Adds a warp that recorded what the last one with the same `alike` did, but for the clocks.
  /// False: it did not, and nothing was added.
  bool repeat(uint64_t slot, uint32_t alike, const WarpBytes& warp, uint32_t clock_bits,
              const RecordCost& cost, RegionContexts& contexts, Losses& losses);

 private:
  /// What a warp recorded, and which of that belongs together.
  struct Pattern {
    struct Passage {
      uint32_t start, end;  // records
      uint32_t context;
    };
    std::vector<uint32_t> tags;      // without payloads; empty: none is known
    std::vector<Passage> passages;   // as they ended
    std::vector<uint32_t> contexts;  // of them, each once
  };

  std::array<Pattern, 8> patterns_;
  std::vector<Pattern::Passage> passages_;  // of the warp at hand
  std::vector<uint64_t> clocks_;
  std::vector<double> worked_at_;
  uint64_t repeated_ = 0, learned_ = 0;
};

}  // namespace proton::device_buffer
