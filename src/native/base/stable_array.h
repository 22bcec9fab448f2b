/// An array that only grows and never moves: one writer at a time appends, any thread reads what
/// it was told the index of. Readers need no lock; whoever passes an index to another thread must
/// do so with release and acquire.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>

namespace proton {

template <typename T>
class StableArray {
 public:
  StableArray() = default;
  ~StableArray() { clear(); }
  StableArray(const StableArray&) = delete;
  StableArray& operator=(const StableArray&) = delete;

  bool has_room() const { return size_ < kChunk * kChunks; }

  /// The index of the new element; throws std::bad_alloc when there is no room left.
  size_t push_back(T value) {
    const size_t chunk = size_ / kChunk;
    if (chunk >= kChunks) throw std::bad_alloc();
    T* elements = chunks_[chunk].load(std::memory_order_relaxed);
    if (elements == nullptr) {
      elements = new T[kChunk]();
      chunks_[chunk].store(elements, std::memory_order_release);
    }
    elements[size_ % kChunk] = std::move(value);
    return size_++;
  }

  /// Null: there never was such an element, or the array was cleared.
  const T* find(size_t at) const {
    if (at >= kChunk * kChunks) return nullptr;
    const T* elements = chunks_[at / kChunk].load(std::memory_order_acquire);
    return elements == nullptr ? nullptr : elements + at % kChunk;
  }

  size_t size() const { return size_; }  // for the writer

  /// Nobody may be reading.
  void clear() {
    for (auto& chunk : chunks_) {
      T* elements = chunk.exchange(nullptr, std::memory_order_relaxed);
      if (elements == nullptr) break;
      delete[] elements;
    }
    size_ = 0;
  }

 private:
  static constexpr size_t kChunk = 1024;
  static constexpr size_t kChunks = 4096;

  std::array<std::atomic<T*>, kChunks> chunks_{};
  size_t size_ = 0;
};

}  // namespace proton
