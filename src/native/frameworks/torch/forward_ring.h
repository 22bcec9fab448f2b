/// From the sequence number of an autograd node to the context of its forward operator. torch
/// counts numbers by thread, so every thread has a ring, and rings outlive their threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "model/ids.h"

namespace proton {

/// The last numbers of one thread. Grows as long as nodes that may still run do not fit.
class ForwardRing {
 public:
  static constexpr size_t kFirstSize = 64;
  static constexpr size_t kUsualSize = 1u << 16;  // up to here it grows whenever it is full
  static constexpr size_t kLargestSize = 1u << 22;

  struct Place {
    ContextId context = kNoContext;  // kNoContext: the number is not here
    bool is_guess = false;
  };

  /// `generation` of the contexts that it will hold.
  explicit ForwardRing(uint64_t generation);
  uint64_t generation() const { return generation_; }

  // On the own thread
  /// The last context that is put for a number stands. Numbers of a thread never fall by more than
  /// one.
  void put(uint64_t number, ContextId context, bool is_guess = false) {
    if (static_cast<int64_t>(number - floor_) >= room_) [[unlikely]] {
      make_room(number);
    }
    own_slots_[number & (size_ - 1)].store(pack(number, context, is_guess),
                                           std::memory_order_relaxed);
    newest_.store(number, std::memory_order_relaxed);
  }
  size_t size() const { return size_; }

  // On any thread
  Place find(uint64_t number) const {
    return unpack(slots_.load(std::memory_order_acquire), number);
  }
  /// Tells that a backward pass has come to `number`.
  void look_at(uint64_t number, bool is_found);

 private:
  struct Slots {
    explicit Slots(size_t size);
    const size_t size;
    std::unique_ptr<std::atomic<uint64_t>[]> entries;  // context, 31 bits of the number, is_guess
  };

  static uint64_t pack(uint64_t number, ContextId context, bool is_guess) {
    return uint64_t{context} << 32 | (number << 1 & UINT32_MAX) | (is_guess ? 1 : 0);
  }
  static Place unpack(const Slots* slots, uint64_t number);
  void make_room(uint64_t number);
  void grow();

  const uint64_t generation_;
  size_t size_ = 0;
  int64_t room_ = 0;    // numbers from `floor_` on that may be put; 0: before the first one
  uint64_t floor_ = 0;  // the lowest number that shall not be written over
  std::atomic<uint64_t>* own_slots_ = nullptr;
  std::atomic<const Slots*> slots_{nullptr};
  std::vector<std::unique_ptr<Slots>> all_;  // readers may be in an earlier one
  std::atomic<uint64_t> newest_{0};
  std::atomic<uint64_t> looked_at_{0};  // the newest number when a backward pass last came here
  std::atomic<bool> is_short_{false};   // a number was asked for that had been written over
};

/// The rings of all threads by torch's number of the thread, those of ended threads within limits.
class ForwardRings {
 public:
  std::shared_ptr<ForwardRing> add(uint64_t thread, uint64_t generation);
  std::shared_ptr<ForwardRing> find(uint64_t thread);
  void end(uint64_t thread);
  void clear();

 private:
  static constexpr size_t kMostEnded = 4096;
  static constexpr size_t kMostEndedSlots = 1u << 23;  // 64 MiB

  std::mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<ForwardRing>> rings_;
  std::deque<uint64_t> ended_;  // oldest first
  size_t ended_slots_ = 0;
};

}  // namespace proton
