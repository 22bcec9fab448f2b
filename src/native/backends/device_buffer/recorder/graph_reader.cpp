// What replays of captured launches have left, read when somebody flushes: the last one of each,
// and how many there were.
#include <algorithm>
#include <cstring>

#include "backends/device_buffer/recorder/recorder.h"

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

void Recorder::read_graphs() {
  std::vector<Launch*> launches;
  {
    std::lock_guard lock(mutex_);
    for (const LaunchPointer& launch : captured_) launches.push_back(launch.get());
  }
  std::erase_if(launches, [](const Launch* launch) { return !is_wanted(*launch); });
  std::ranges::stable_sort(launches, std::less<>(), &Launch::state);
  for (auto first = launches.begin(); first != launches.end();) {
    ContextState* const state = (*first)->state;
    const auto last = std::find_if(first, launches.end(),
                                   [&](const Launch* each) { return each->state != state; });
    read_graphs_of(*state, {first, last});
    first = last;
  }
}

/// Whether a session that it belongs to has not ended.
bool Recorder::is_wanted(const Launch& launch) {
  return std::ranges::any_of(launch.destinations, [](const Destination& each) {
    const std::lock_guard telling(each.target->mutex);
    return each.target->sink != nullptr;
  });
}

void Recorder::read_graphs_of(ContextState& state, std::span<Launch* const> launches) {
  make_current(state);
  std::vector<uint64_t> counts;
  CudaResult result = driver_.synchronize_context();
  if (result == kCudaSuccess) result = read_counters(state, counts);
  for (Launch* launch : launches) {
    if (result == kCudaSuccess) {
      read_replayed(*launch, counts);
    } else {
      drop(*launch, result);
    }
  }
}

CudaResult Recorder::read_counters(ContextState& state, std::vector<uint64_t>& counts) {
  {
    std::lock_guard lock(mutex_);
    counts.resize(state.replays.size());
  }
  if (counts.empty()) return kCudaSuccess;
  const size_t bytes = counts.size() * sizeof(uint64_t);
  CudaResult result = reserve_staging(state, bytes);
  if (result != kCudaSuccess) return result;
  {
    std::lock_guard lock(mutex_);
    result =
        state.replays.copy(state.staging, static_cast<uint32_t>(counts.size()), state.side_stream);
  }
  if (result == kCudaSuccess) result = wait_for_copies(state);
  std::memcpy(counts.data(), state.staging, bytes);
  return result;
}

/// Books what the last replay has left. Replays that begin meanwhile count the next time, even
/// where it is theirs that is read.
void Recorder::read_replayed(Launch& launch, std::span<const uint64_t> counts) {
  const bool is_counted = launch.replay_counter != ReplayCounters::kNone;
  uint64_t replays = 1;
  if (is_counted) {
    replays = counts[launch.replay_counter] - launch.replays_seen;
    if (replays == 0) return;
    launch.replays_seen = counts[launch.replay_counter];
  }
  if (launch.is_scrap) {
    book_replays(launch, replays);
    std::lock_guard lock(mutex_);
    ++stats_.dropped;
    for (const Destination& each : launch.destinations)
      each.target->book.drop(key_of(launch, each));
    return;
  }
  plan_copy(launch, true);
  if (launch.kernel == nullptr) return;  // dropped, and told of
  if (const CudaResult result = fetch(launch); result != kCudaSuccess) {
    book_replays(launch, replays);
    drop(launch, result);
    return;
  }
  if (!is_counted && !has_header(launch.bytes_read, launch.geometry)) return;
  book_replays(launch, replays);
  decode_and_report(launch, decoders_[0], false);
  if (is_counted) return;
  // Zeroed, so that it counts once.
  if (launch.block->host != nullptr) {
    std::memset(launch.bytes_read, 0, launch.bytes);
  } else {
    driver_.set_bytes(launch.address, 0, launch.bytes, launch.state->side_stream);
    wait_for_copies(*launch.state);
  }
}

/// Has its bytes in host memory.
CudaResult Recorder::fetch(Launch& launch) {
  ContextState& state = *launch.state;
  CudaResult result = reserve_staging(state, launch.copied_bytes);
  if (launch.block->host != nullptr) {
    launch.bytes_read = launch.block->host + (launch.address - launch.block->address);
    return result;
  }
  launch.bytes_read = state.staging;
  if (result == kCudaSuccess) result = copy(launch);
  return result == kCudaSuccess ? wait_for_copies(state) : result;
}

void Recorder::book_replays(const Launch& launch, uint64_t replays) {
  for (const Destination& each : launch.destinations) {
    each.target->book.add_replays(key_of(launch, each), replays);
  }
}

}  // namespace proton::device_buffer
