#include "frameworks/torch/forward_ring.h"

#include <utility>

namespace proton {

ForwardRing::Slots::Slots(size_t slot_count)
    : size(slot_count), entries(new std::atomic<uint64_t>[slot_count]) {
  for (size_t i = 0; i < size; ++i) entries[i].store(UINT64_MAX, std::memory_order_relaxed);
}

ForwardRing::ForwardRing(uint64_t generation) : generation_(generation) { grow(); }

ForwardRing::Place ForwardRing::unpack(const Slots* slots, uint64_t number) {
  const uint64_t entry = slots->entries[number & (slots->size - 1)].load(std::memory_order_relaxed);
  if ((entry ^ pack(number, 0, false)) & (UINT32_MAX & ~1u)) return {};
  return {static_cast<ContextId>(entry >> 32), (entry & 1) != 0};
}

void ForwardRing::look_at(uint64_t number, bool is_found) {
  const uint64_t newest = newest_.load(std::memory_order_relaxed);
  const size_t size = slots_.load(std::memory_order_acquire)->size;
  if (!is_found && newest >= number && newest - number >= size) {
    is_short_.store(true, std::memory_order_relaxed);
  }
  looked_at_.store(newest, std::memory_order_relaxed);
}

void ForwardRing::make_room(uint64_t number) {
  if (room_ == 0) {
    floor_ = number;
    looked_at_.store(number, std::memory_order_relaxed);
    room_ = static_cast<int64_t>(size_);
    return;
  }
  // Nodes that were there when a backward pass last came have run, or so it is taken: what is
  // newer may still be waiting for its own.
  const uint64_t looked_at = looked_at_.load(std::memory_order_relaxed);
  const bool fits = static_cast<int64_t>(number - looked_at) < room_;
  if (size_ >= kUsualSize && fits && !is_short_.exchange(false, std::memory_order_relaxed)) {
    floor_ = looked_at;
  } else if (size_ < kLargestSize) {
    grow();
  } else {
    floor_ = number;
  }
}

void ForwardRing::grow() {
  const size_t size = size_ == 0 ? kFirstSize : size_ * 2;
  auto slots = std::make_unique<Slots>(size);
  for (size_t i = 0; i < size_; ++i) {
    const uint64_t entry = own_slots_[i].load(std::memory_order_relaxed);
    if (entry == UINT64_MAX) continue;
    slots->entries[(entry & UINT32_MAX) >> 1 & (size - 1)].store(entry, std::memory_order_relaxed);
  }
  size_ = size;
  if (room_ != 0) room_ = static_cast<int64_t>(size);
  own_slots_ = slots->entries.get();
  slots_.store(slots.get(), std::memory_order_release);
  all_.push_back(std::move(slots));
}

std::shared_ptr<ForwardRing> ForwardRings::add(uint64_t thread, uint64_t generation) {
  std::lock_guard lock(mutex_);
  return rings_[thread] = std::make_shared<ForwardRing>(generation);
}

std::shared_ptr<ForwardRing> ForwardRings::find(uint64_t thread) {
  std::lock_guard lock(mutex_);
  const auto found = rings_.find(thread);
  return found == rings_.end() ? nullptr : found->second;
}

void ForwardRings::end(uint64_t thread) {
  std::lock_guard lock(mutex_);
  const auto found = rings_.find(thread);
  if (found == rings_.end()) return;
  ended_.push_back(thread);
  ended_slots_ += found->second->size();
  while (ended_.size() > kMostEnded || (ended_slots_ > kMostEndedSlots && ended_.size() > 1)) {
    const auto oldest = rings_.find(ended_.front());
    ended_.pop_front();
    ended_slots_ -= oldest->second->size();
    rings_.erase(oldest);
  }
}

void ForwardRings::clear() {
  std::lock_guard lock(mutex_);
  rings_.clear();
  ended_.clear();
  ended_slots_ = 0;
}

}  // namespace proton
