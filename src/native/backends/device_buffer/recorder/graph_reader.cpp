#include "backends/device_buffer/recorder/graph_reader.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace proton::device_buffer {
namespace {

/// Whether some warp has closed its buffer.
bool has_header(const std::byte* buffer, const Geometry& geometry) {
  for (uint64_t slot = 0; slot < geometry.slot_count(); ++slot) {
    uint32_t magic;
    std::memcpy(&magic, buffer + geometry.header_offset(slot), sizeof(magic));
    if (magic == kMagic) return true;
  }
  return false;
}

}  // namespace

void GraphReader::add(LaunchPointer launch) {
  std::lock_guard lock(mutex_);
  launches_.push_back(std::move(launch));
}

bool GraphReader::empty() {
  std::lock_guard lock(mutex_);
  return launches_.empty();
}

void GraphReader::read() {
  std::vector<Launch*> launches;
  {
    std::lock_guard lock(mutex_);
    for (const LaunchPointer& launch : launches_) launches.push_back(launch.get());
  }
  std::erase_if(launches, [](const Launch* launch) { return !Reporter::is_wanted(*launch); });
  std::ranges::stable_sort(launches, std::less<>(), &Launch::memory);
  for (auto first = launches.begin(); first != launches.end();) {
    ContextMemory* const memory = (*first)->memory;
    const auto last = std::find_if(first, launches.end(),
                                   [&](const Launch* launch) { return launch->memory != memory; });
    read_context(*memory, {first, last});
    first = last;
  }
}

void GraphReader::read_context(ContextMemory& memory, std::span<Launch* const> launches) {
  reader_.make_current(memory);
  std::vector<uint64_t> counts;
  CudaResult result = pool_.driver().synchronize_context();
  if (result == kCudaSuccess) result = read_counters(memory, counts);
  for (Launch* launch : launches) {
    if (result == kCudaSuccess) {
      read_launch(*launch, counts);
    } else {
      reader_.drop(*launch, result);
    }
  }
}

CudaResult GraphReader::read_counters(ContextMemory& memory, std::vector<uint64_t>& counts) {
  counts.resize(pool_.replay_counters(memory));
  if (counts.empty()) return kCudaSuccess;
  const size_t bytes = counts.size() * sizeof(uint64_t);
  CudaResult result = reader_.reserve_staging(memory, bytes);
  if (result != kCudaSuccess) return result;
  result = pool_.copy_replays(memory, counts.size());
  if (result == kCudaSuccess) result = reader_.wait_for_copies(memory);
  std::memcpy(counts.data(), memory.staging, bytes);
  return result;
}

/// Books what the last replay has left. Replays that begin meanwhile count the next time, even
/// where it is theirs that is read.
void GraphReader::read_launch(Launch& launch, std::span<const uint64_t> counts) {
  const bool is_counted = launch.replay_counter != ReplayCounters::kNone;
  uint64_t replays = 1;
  if (is_counted) {
    replays = counts[launch.replay_counter] - launch.replays_seen;
    if (replays == 0) return;
    launch.replays_seen = counts[launch.replay_counter];
  }
  if (launch.is_scrap) {
    Reporter::book_replays(launch, replays);
    Reporter::book_drop(launch);
    ++reporter_.counts.dropped;
    return;
  }
  reader_.plan_copy(launch, true);
  if (launch.kernel == nullptr) return;  // dropped, and told of
  if (const CudaResult result = reader_.fetch(launch); result != kCudaSuccess) {
    Reporter::book_replays(launch, replays);
    reader_.drop(launch, result);
    return;
  }
  if (!is_counted && !has_header(launch.bytes_read, launch.geometry)) return;
  Reporter::book_replays(launch, replays);
  reader_.decode(launch);
  if (is_counted) return;
  // Zeroed, so that it counts once.
  if (launch.host() != nullptr) {
    std::memset(launch.bytes_read, 0, launch.bytes);
  } else {
    pool_.driver().set_bytes(launch.address, 0, launch.bytes, launch.memory->side_stream);
    reader_.wait_for_copies(*launch.memory);
  }
}

}  // namespace proton::device_buffer
