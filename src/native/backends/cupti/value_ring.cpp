#include "backends/cupti/value_ring.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace proton::cupti {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr int kLapShift = 32;

uint64_t load(uint64_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }

}  // namespace

ValueRing::ValueRing(uint32_t capacity_bits) : bits_(capacity_bits) {
  const size_t bytes = (size_bytes() + kPageBytes - 1) / kPageBytes * kPageBytes;
  header_ = static_cast<RingHeader*>(std::aligned_alloc(kPageBytes, bytes));
  if (header_ == nullptr) throw std::bad_alloc();
  std::memset(static_cast<void*>(header_), 0, bytes);
}

ValueRing::~ValueRing() { std::free(header_); }

void ValueRing::set_open(bool is_open) {
  std::atomic_ref(header_->is_open).store(is_open ? 1 : 0, std::memory_order_release);
}

void ValueRing::drain(std::vector<ValueRun>& runs) {
  const uint64_t mask = (uint64_t{1} << bits_) - 1;
  const auto lap = [&](uint64_t cell) { return static_cast<uint32_t>((cell >> bits_) + 1); };
  for (;;) {
    RingCell& first = cells()[consumed_ & mask];
    const uint64_t stamp = load(first.stamp);
    if (static_cast<uint32_t>(stamp >> kLapShift) != lap(consumed_)) break;
    const auto count = static_cast<uint32_t>(stamp);
    ValueRun run{load(first.value), {}};
    run.elements.reserve(count);
    for (uint64_t at = consumed_ + 1; at <= consumed_ + count; ++at) {
      RingCell& cell = cells()[at & mask];
      if (static_cast<uint32_t>(load(cell.stamp) >> kLapShift) != lap(at)) break;
      run.elements.push_back(load(cell.value));
    }
    if (run.elements.size() < count) break;  // under way
    consumed_ += count + 1;
    runs.push_back(std::move(run));
  }
  std::atomic_ref(header_->consumed).store(consumed_, std::memory_order_release);
}

uint64_t ValueRing::take_dropped() {
  const uint64_t now = load(header_->dropped);
  const uint64_t fresh = now - dropped_;
  dropped_ = now;
  return fresh;
}

}  // namespace proton::cupti
