#include "backends/device_buffer/recorder/launch.h"

#include <atomic>
#include <utility>

namespace proton::device_buffer {
namespace {

constexpr size_t kMostDrainedBytes = size_t{256} << 20;  // of one launch

Header* header_at(std::byte* buffer, const Geometry& geometry, uint64_t slot) {
  return reinterpret_cast<Header*>(buffer + geometry.header_offset(slot));
}

}  // namespace

void Launch::drain() {
  std::byte* const buffer = host();
  if (buffer == nullptr || drained_bytes > kMostDrainedBytes) return;
  const Geometry whole = kernel->geometry(grid_ctas);
  drained.resize(whole.slot_count());
  for (uint64_t slot = 0; slot < whole.slot_count(); ++slot) {
    Header* const header = header_at(buffer, whole, slot);
    std::atomic_ref written(header->mailbox_written_bytes);
    std::atomic_ref emptied(header->mailbox_drained_bytes);
    const uint32_t count = written.load(std::memory_order_acquire);
    const uint32_t before = emptied.load(std::memory_order_acquire);
    if (count == before || before == kHostIsDead) continue;
    auto& taken = drained[slot];
    const size_t size = taken.size();
    const std::byte* const ring = buffer + whole.ring_offset(slot);
    taken.insert(taken.end(), ring, ring + whole.ring_bytes);
    // A warp that has given up meanwhile writes on: what was taken may be of two rounds.
    if (emptied.load(std::memory_order_acquire) == kHostIsDead) {
      taken.resize(size);
      continue;
    }
    emptied.store(count, std::memory_order_release);
    drained_bytes += whole.ring_bytes;
  }
}

void Launch::leave_unread() {
  const RecordingKernel* const read_by = std::exchange(kernel, nullptr);
  destinations.clear();
  drained.clear();
  std::byte* const buffer = host();
  if (read_by == nullptr || !read_by->has_mailbox || buffer == nullptr) return;
  const Geometry whole = read_by->geometry(grid_ctas);
  if (whole.size_bytes() > bytes) return;
  for (uint64_t slot = 0; slot < whole.slot_count(); ++slot) {
    std::atomic_ref(header_at(buffer, whole, slot)->mailbox_drained_bytes)
        .store(kHostIsDead, std::memory_order_release);
  }
}

}  // namespace proton::device_buffer
