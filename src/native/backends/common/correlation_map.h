/// From a driver's correlation id to the context of the launch: a table that is written on the
/// launching thread and read on driver threads, with no lock in the usual case. A launch that is
/// still unread when another one needs its slot moves aside, so that records may come as late as
/// they like; a miss is counted by the reader, never guessed.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <unordered_map>

namespace proton {

class CorrelationMap {
 public:
  static constexpr uint32_t kCapacity = 1u << 20;     // launches under way that need no lock
  static constexpr uint32_t kAsideLimit = 1u << 20;   // launches that moved aside
  static constexpr uint32_t kGenerations = 1u << 18;  // generations are from 1 to below this

  struct Launch {
    uint32_t context;
    uint32_t generation;  // of the writer
  };

  /// Pages that are never used cost no memory.
  CorrelationMap() : slots_(static_cast<Slot*>(std::calloc(kCapacity, sizeof(Slot)))) {
    if (slots_ == nullptr) throw std::bad_alloc();
  }

  /// What a launch says of itself beside id and context; `is_expected`: a record of it must come.
  static uint64_t tag(uint32_t generation, bool is_expected = false) {
    return uint64_t{generation & (kGenerations - 1)} << kGenerationShift |
           uint64_t{is_expected} << kExpectedShift | kUnread;
  }

  /// Any thread. One load and one store to the same place. Launches of another generation than
  /// the one they overwrite are forgotten.
  void put(uint32_t correlation, uint32_t context, uint64_t tag) noexcept {
    Slot& slot = slots_.get()[correlation & (kCapacity - 1)];
    const uint64_t old = slot.load(std::memory_order_relaxed);
    const uint64_t fresh = uint64_t{correlation >> kIndexBits} << kHighShift | tag | context;
    if ((old & kUnread) != 0 && ((old ^ fresh) & kGenerationMask) == 0) [[unlikely]] {
      move_aside(correlation, old);
    }
    slot.store(fresh, std::memory_order_release);
  }

  /// Any thread. The entry stays: one launch may run many kernels.
  std::optional<Launch> find(uint32_t correlation) noexcept {
    if (correlation == 0) return std::nullopt;
    Slot& slot = slots_.get()[correlation & (kCapacity - 1)];
    const uint64_t entry = slot.load(std::memory_order_acquire);
    if (entry == 0 || entry >> kHighShift != correlation >> kIndexBits)
      return find_aside(correlation);
    if ((entry & kUnread) != 0) {
      // Lost against a launch that takes the slot: then that one has moved this one aside.
      uint64_t expected = entry;
      slot.compare_exchange_strong(expected, entry & ~kUnread, std::memory_order_acq_rel);
    }
    return unpack(entry);
  }

  /// A reader will soon ask for this one.
  void prefetch(uint32_t correlation) const noexcept {
    __builtin_prefetch(&slots_.get()[correlation & (kCapacity - 1)], 1);
  }

  /// Any thread. Whether a launch after one id, up to another, was not read yet.
  bool has_unread(uint32_t after, uint32_t until, uint32_t generation) noexcept {
    return find_between(after, until, kGenerationMask | kUnread, tag(generation),
                        [](uint32_t, uint64_t) { return true; });
  }

  /// Any thread. Calls `visit` with the id and the context of every launch after one id, up to
  /// another, of which a record must come and has not.
  template <typename Visit>
  void visit_expected(uint32_t after, uint32_t until, uint32_t generation, Visit&& visit) {
    const uint64_t mask = kGenerationMask | kUnread | kExpected;
    find_between(after, until, mask, tag(generation, true), [&](uint32_t id, uint64_t entry) {
      visit(id, static_cast<uint32_t>(entry));
      return false;
    });
  }

  /// Any thread. Whether a record of this launch must come and has not.
  bool is_expected(uint32_t correlation, uint32_t generation) noexcept {
    const uint64_t wanted = tag(generation, true);
    const uint64_t mask = kGenerationMask | kUnread | kExpected;
    const uint64_t entry =
        slots_.get()[correlation & (kCapacity - 1)].load(std::memory_order_acquire);
    if (entry >> kHighShift == correlation >> kIndexBits) {
      return (entry & mask) == wanted;
    }
    std::lock_guard lock(mutex_);
    const auto found = aside_.find(correlation);
    return found != aside_.end() && (found->second & mask) == wanted;
  }

  /// Any thread. A record of this launch may fail to come.
  void mark_optional(uint32_t correlation) noexcept {
    if (correlation == 0) return;
    Slot& slot = slots_.get()[correlation & (kCapacity - 1)];
    uint64_t entry = slot.load(std::memory_order_acquire);
    while (entry >> kHighShift == correlation >> kIndexBits && (entry & kExpected) != 0) {
      if (slot.compare_exchange_weak(entry, entry & ~kExpected, std::memory_order_acq_rel)) return;
    }
    if (aside_count() == 0) return;
    std::lock_guard lock(mutex_);
    if (auto found = aside_.find(correlation); found != aside_.end()) found->second &= ~kExpected;
  }

  /// Any thread. Calls `visit` with every id of the generation that was not read yet; takes
  /// milliseconds, and launches that come meanwhile may be passed over.
  template <typename Visit>
  void visit_unread(uint32_t generation, Visit&& visit) {
    const auto is_wanted = [&](uint64_t entry) {
      return (entry & (kGenerationMask | kUnread)) == tag(generation);
    };
    for (uint32_t index = 0; index < kCapacity; ++index) {
      const uint64_t entry = slots_.get()[index].load(std::memory_order_acquire);
      if (is_wanted(entry)) visit(static_cast<uint32_t>(entry >> kHighShift) << kIndexBits | index);
    }
    if (aside_count() == 0) return;
    std::lock_guard lock(mutex_);
    for (const auto& [id, entry] : aside_) {
      if (is_wanted(entry)) visit(id);
    }
  }

  /// Those of earlier generations are of no use any more.
  void forget_aside() noexcept {
    std::lock_guard lock(mutex_);
    aside_.clear();
    order_.clear();
    aside_count_.store(0, std::memory_order_relaxed);
  }

  /// How many launches stand aside.
  uint32_t aside_count() const noexcept { return aside_count_.load(std::memory_order_relaxed); }

 private:
  // From the top: the id's bits above the index, the generation, whether a record must come,
  // whether it is unread, the context.
  static constexpr int kIndexBits = 20;
  static constexpr int kHighShift = 52;
  static constexpr int kGenerationShift = 34;
  static constexpr int kExpectedShift = 33;
  static constexpr uint64_t kExpected = uint64_t{1} << kExpectedShift;
  static constexpr uint64_t kUnread = uint64_t{1} << 32;
  static constexpr uint64_t kGenerationMask = uint64_t{kGenerations - 1} << kGenerationShift;
  using Slot = std::atomic<uint64_t>;
  struct Free {
    void operator()(Slot* slots) const { std::free(slots); }
  };

  static Launch unpack(uint64_t entry) {
    return {static_cast<uint32_t>(entry),
            static_cast<uint32_t>((entry & kGenerationMask) >> kGenerationShift)};
  }

  /// Whether `visit` returns true for one of the launches between that say `wanted` under `mask`.
  template <typename Visit>
  bool find_between(uint32_t after, uint32_t until, uint64_t mask, uint64_t wanted, Visit&& visit) {
    const uint32_t count = until - after;
    for (uint32_t i = 0; i < count && i < kCapacity; ++i) {
      const uint32_t id = until - i;
      const uint64_t entry = slots_.get()[id & (kCapacity - 1)].load(std::memory_order_acquire);
      if (entry >> kHighShift != id >> kIndexBits || (entry & mask) != wanted) continue;
      if (visit(id, entry)) return true;
    }
    if (aside_count() == 0) return false;
    std::lock_guard lock(mutex_);
    for (const auto& [id, entry] : aside_) {
      if (id - after - 1 < count && (entry & mask) == wanted && visit(id, entry)) return true;
    }
    return false;
  }

  [[gnu::noinline]] void move_aside(uint32_t correlation, uint64_t entry) noexcept {
    const auto high = static_cast<uint32_t>(entry >> kHighShift);
    const uint32_t id = high << kIndexBits | (correlation & (kCapacity - 1));
    try {
      std::lock_guard lock(mutex_);
      aside_[id] = entry;
      order_.push_back(id);
      if (order_.size() > kAsideLimit) {
        aside_.erase(order_.front());
        order_.pop_front();
      }
      aside_count_.store(static_cast<uint32_t>(aside_.size()), std::memory_order_relaxed);
    } catch (const std::bad_alloc&) {  // the reader will count a miss
    }
  }

  [[gnu::noinline]] std::optional<Launch> find_aside(uint32_t correlation) noexcept {
    if (aside_count() == 0) return std::nullopt;
    std::lock_guard lock(mutex_);
    auto found = aside_.find(correlation);
    if (found == aside_.end()) return std::nullopt;
    found->second &= ~kUnread;
    return unpack(found->second);
  }

  std::unique_ptr<Slot, Free> slots_;
  std::mutex mutex_;
  std::unordered_map<uint32_t, uint64_t> aside_;
  std::deque<uint32_t> order_;
  std::atomic<uint32_t> aside_count_{0};
};

}  // namespace proton
