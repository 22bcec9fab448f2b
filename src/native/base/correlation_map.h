/// From a driver's correlation id to the context of the launch: a table that is written on the
/// launching thread and read on driver threads, with no lock. An entry that was overwritten in the
/// meantime is noticed on read: a miss is counted, never guessed.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>

namespace proton {

class CorrelationMap {
 public:
  /// `capacity` (a power of two) is how many launches may be under way at once. Pages that are
  /// never used cost no memory.
  explicit CorrelationMap(uint32_t capacity = 1u << 20)
      : mask_(capacity - 1), slots_(static_cast<Slot*>(std::calloc(capacity, sizeof(Slot)))) {
    if (slots_ == nullptr) throw std::bad_alloc();
  }

  /// Any thread. One store.
  void put(uint32_t correlation, uint32_t context) noexcept {
    slots_.get()[correlation & mask_].store(uint64_t{correlation} << 32 | context,
                                            std::memory_order_release);
  }

  /// Any thread. The context of a launch, or nothing when its slot holds another one. The entry
  /// stays: one launch may run many kernels.
  std::optional<uint32_t> find(uint32_t correlation) const noexcept {
    const uint64_t slot = slots_.get()[correlation & mask_].load(std::memory_order_acquire);
    if (slot >> 32 != correlation || correlation == 0) return std::nullopt;
    return static_cast<uint32_t>(slot);
  }

  /// Forgets every launch: ids start anew.
  void clear() noexcept {
    for (uint32_t i = 0; i <= mask_; ++i) {
      if (slots_.get()[i].load(std::memory_order_relaxed) != 0) {
        slots_.get()[i].store(0, std::memory_order_relaxed);
      }
    }
  }

 private:
  using Slot = std::atomic<uint64_t>;
  struct Free {
    void operator()(Slot* slots) const { std::free(slots); }
  };

  uint32_t mask_;
  std::unique_ptr<Slot, Free> slots_;
};

}  // namespace proton
