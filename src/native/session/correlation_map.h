/// From a driver's correlation id to the context of the launch: a table that is written on the
/// launching thread and read on driver threads, with no lock. An entry that was overwritten in the
/// meantime is noticed on read: a miss is counted, never guessed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "model/ids.h"

namespace proton {

class CorrelationMap {
 public:
  /// `capacity` (a power of two) is how many launches may be under way at once.
  explicit CorrelationMap(uint32_t capacity = 1u << 20)
      : mask_(capacity - 1), slots_(new std::atomic<uint64_t>[capacity]()) {}

  /// Any thread. One store.
  void put(CorrelationId correlation, uint32_t context) noexcept {
    slots_[correlation & mask_].store(uint64_t{correlation} << 32 | context,
                                      std::memory_order_release);
  }

  /// Any thread. The context of a launch, or nothing when its slot holds another one. The entry
  /// stays: one launch may run many kernels.
  std::optional<uint32_t> find(CorrelationId correlation) const noexcept {
    const uint64_t slot = slots_[correlation & mask_].load(std::memory_order_acquire);
    if (slot >> 32 != correlation || correlation == 0) return std::nullopt;
    return static_cast<uint32_t>(slot);
  }

 private:
  uint32_t mask_;
  std::unique_ptr<std::atomic<uint64_t>[]> slots_;
};

}  // namespace proton
