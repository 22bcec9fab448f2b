/// A kernel's buffer, all the way: bytes in; what each region cost, spans on a time axis, what the
/// warps did and what was lost out. Plain structs; one thread; needs no GIL and no driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/device_buffer/clock_map.h"
#include "backends/device_buffer/decode.h"
#include "backends/device_buffer/regions.h"
#include "model/recorded_launch.h"

namespace proton::device_buffer {

/// How clocks become times.
enum class ClockFit : uint8_t {
  kExact,  // SM by SM: ClockMap::fit
  kQuick,  // roughly where global time has steps fine enough, else exactly
  kRough,  // ClockMap::fit_roughly
};

struct DecodeOptions {
  uint32_t clock_bits = kShortClockBits;  // that a record holds
  RecordCost cost{};
  double nominal_cycles_per_ns = 0;  // for kernels too short to tell; 0: unknown
  bool keeps_spans = false;
  ClockFit fit = ClockFit::kExact;
  std::optional<uint64_t> expected_warps{};  // where not every slot is to be written
  struct HostInterval {
    int64_t start_ns, end_ns;
  };
  std::optional<HostInterval> kernel{};  // on the host's clock
  HostOffset* host_offset = nullptr;     // of the device: used, and taught where `kernel` is known
};

/// A recorded warp. Without good clocks it has no times; they are the host's where the buffer's
/// are.
struct WarpSummary : RecordedWarp {
  uint64_t slot = 0;
  uint64_t record_count = 0, overwritten = 0;
  uint64_t cycles = 0;  // from opening its buffer to closing it
};

/// A region in its context, over all warps.
struct RegionSummary {
  uint32_t region = 0;
  uint32_t parent = kNoContext;  // an earlier summary
  uint32_t depth = 0;
  uint64_t count = 0;
  uint64_t warp_count = 0;   // warps that came there
  size_t first_passage = 0;  // of theirs, in DecodedBuffer::warp_passages
  uint64_t raw_cycles = 0;   // with the cost of records
  double cycles = 0;         // without
  double time_ns = 0;        // 0 where the frequency is not known
  double min_cycles = 0;     // of a passage
  double max_cycles = 0;
  ValueSum values;
};

struct DecodedBuffer {
  std::vector<WarpSummary> warps;
  std::vector<RegionSummary> regions;  // parents first
  std::vector<RecordedSpan> spans;     // by CTA and slot, as they ended
  std::vector<double> warp_passages;   // cycles of one, the mean of each warp, by region
  std::vector<SmClock> sms;
  double cycles_per_ns = 0;
  int64_t time_step_ns = 0;
  bool is_host_time = false;
  uint64_t record_count = 0;
  Losses losses;

  /// As new, but for the memory.
  void clear();
};

/// What one slot's ring had when the host took it out, in order; see WarpBytes.
using Drained = std::span<const std::span<const std::byte>>;

/// Decodes one buffer after the other in the same memory.
class Decoder {
 public:
  /// What `buffer` says; good until the next call. Throws Error(kUsage) where it cannot have this
  /// geometry or options make no sense; whatever the bytes say is no error. `drained` is empty or
  /// has a span for every slot.
  DecodedBuffer& decode(std::span<const std::byte> buffer, const Geometry& geometry,
                        std::span<const Region> regions, const DecodeOptions& options,
                        Drained drained = {});

 private:
  void read_slots(std::span<const std::byte> buffer, const Geometry& geometry,
                  const DecodeOptions& options);
  void place_spans(const ClockMap& clocks);
  uint64_t slot_of(size_t header) const { return numbers_.empty() ? header : numbers_[header]; }
  uint32_t index_of(uint64_t slot) const;
  RegionSummary summarize(const RegionContext& context);

  DecodedBuffer decoded_;
  std::span<const Header> headers_;  // of the slots that have one, in order
  std::vector<Header> copied_;       // the same, where they cannot be read where they stand
  std::vector<uint64_t> numbers_;    // of their slots; empty: each slot has one
  std::vector<Event> events_;        // of the warp at hand
  RegionMatcher matcher_;
};

/// The same once.
DecodedBuffer decode_buffer(std::span<const std::byte> buffer, const Geometry& geometry,
                            std::span<const Region> regions, const DecodeOptions& options,
                            Drained drained = {});

}  // namespace proton::device_buffer
