// The recorder's own thread: follows launches until they have ended, and empties mailboxes
// meanwhile.
#include <algorithm>
#include <chrono>

#include "backends/device_buffer/recorder.h"
#include "base/clock.h"

namespace proton::device_buffer {
namespace {

constexpr int64_t kShortestPollNs = 20'000;
constexpr int64_t kLongestPollNs = 500'000;
constexpr int64_t kMailboxTurnNs = 50'000;
constexpr int64_t kStopLimitNs = 2'000'000'000;
constexpr size_t kMostDrainedBytes = size_t{256} << 20;  // of one launch
constexpr uint32_t kHostIsDead = ~0u;

void sleep_ns(int64_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); }

}  // namespace

void Recorder::run() {
  disown_(true);
  int relaxed = 2;  // for good: others may be capturing whenever we look at an event
  driver_.exchange_capture_mode(&relaxed);
  current_ = nullptr;
  std::vector<LaunchPointer> waiting;  // in the order they were launched
  int64_t poll_ns = kShortestPollNs;
  bool is_zeroing = false;
  while (true) {
    uint64_t graphs;
    {
      std::unique_lock lock(mutex_);
      const auto has_work = [&] {
        return is_stopping_ || !queue_.empty() || graphs_asked_ != graphs_read_;
      };
      if (waiting.empty() && !is_zeroing) {
        is_waiting_ = true;
        wake_.wait(lock, has_work);
        is_waiting_ = false;
      }
      if (!queue_.empty()) poll_ns = kShortestPollNs;
      while (!queue_.empty()) {
        waiting.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
      oldest_ = waiting.empty() ? UINT64_MAX : waiting.front()->number;
      if (is_stopping_) break;
      graphs = graphs_asked_;
    }
    std::vector<LaunchPointer> finished;
    const bool has_mailbox = take_finished(waiting, finished);
    const bool is_idle = finished.empty();
    read(std::move(finished));
    if (graphs != graphs_read_) read_graphs();
    {
      std::lock_guard lock(mutex_);
      oldest_ = waiting.empty() ? UINT64_MAX : waiting.front()->number;
      graphs_read_ = graphs;
    }
    settled_.notify_all();
    is_zeroing = poll_zeroing();
    if (waiting.empty() && !is_zeroing) continue;
    if (has_mailbox) {
      watch_mailboxes(waiting);
    } else if (is_idle) {
      sleep_ns(poll_ns);
    }
    poll_ns = is_idle ? std::min(2 * poll_ns, kLongestPollNs) : kShortestPollNs;
  }
  waiting.clear();
  free_memory();
  std::lock_guard lock(mutex_);
  is_running_ = false;
  settled_.notify_all();
}

void Recorder::stop_thread() {
  std::unique_lock lock(mutex_);
  if (!is_running_) return;
  is_stopping_ = true;
  wake_.notify_one();
  const bool has_ended =
      settled_.wait_for(lock, std::chrono::nanoseconds(kStopLimitNs), [&] { return !is_running_; });
  std::thread thread = std::move(thread_);
  lock.unlock();
  if (has_ended) {
    thread.join();
  } else {
    thread.detach();  // the driver keeps it; it ends when that lets go
  }
}

/// Moves the launches that have ended; whether one of the others may need its mailbox emptied.
bool Recorder::take_finished(std::vector<LaunchPointer>& waiting,
                             std::vector<LaunchPointer>& finished) {
  bool has_mailbox = false;
  std::vector<std::pair<ContextState*, CudaStream>> busy;  // streams whose next has not ended
  for (LaunchPointer& launch : waiting) {
    const std::pair place(launch->state, launch->stream);
    if (std::ranges::find(busy, place) == busy.end()) {
      make_current(*launch->state);
      const CudaResult result = driver_.query_event(launch->event);
      if (result != kCudaNotReady) {
        launch->end_ns = now_ns();
        if (launch->kernel != nullptr && launch->kernel->has_mailbox) drain(*launch);
        if (result == kCudaSuccess) {
          finished.push_back(std::move(launch));
        } else {
          drop(*launch, result);
          driver_.destroy_event(launch->event);
          launch.reset();
        }
        continue;
      }
      busy.push_back(place);
    }
    if (launch->kernel == nullptr || !launch->kernel->has_mailbox) continue;
    has_mailbox = true;
    drain(*launch);
  }
  std::erase(waiting, nullptr);
  return has_mailbox;
}

/// Empties mailboxes for a while without asking the driver, which would slow launches down.
void Recorder::watch_mailboxes(const std::vector<LaunchPointer>& waiting) {
  const int64_t until_ns = now_ns() + kMailboxTurnNs;
  do {
    for (const LaunchPointer& launch : waiting) {
      if (launch->kernel != nullptr && launch->kernel->has_mailbox) drain(*launch);
    }
    std::this_thread::yield();
  } while (now_ns() < until_ns);
}

/// Takes full rings of a kernel that is running, and lets its warps go on.
void Recorder::drain(Launch& launch) {
  if (launch.block->host == nullptr || launch.drained_bytes > kMostDrainedBytes) return;
  const Geometry geometry = launch.kernel->geometry(launch.grid_ctas);
  std::byte* const buffer = launch.block->host + (launch.address - launch.block->address);
  launch.drained.resize(geometry.slot_count());
  for (uint64_t slot = 0; slot < geometry.slot_count(); ++slot) {
    auto* header = reinterpret_cast<Header*>(buffer + geometry.header_offset(slot));
    std::atomic_ref written(header->mailbox_written_bytes);
    std::atomic_ref drained(header->mailbox_drained_bytes);
    const uint32_t count = written.load(std::memory_order_acquire);
    const uint32_t before = drained.load(std::memory_order_acquire);
    if (count == before || before == kHostIsDead) continue;
    auto& taken = launch.drained[slot];
    const size_t size = taken.size();
    const std::byte* const ring = buffer + geometry.ring_offset(slot);
    taken.insert(taken.end(), ring, ring + geometry.ring_bytes);
    // A warp that has given up meanwhile writes on: what was taken may be of two rounds.
    if (drained.load(std::memory_order_acquire) == kHostIsDead) {
      taken.resize(size);
      continue;
    }
    drained.store(count, std::memory_order_release);
    launch.drained_bytes += geometry.ring_bytes;
  }
}

void Recorder::make_current(ContextState& state) {
  if (current_ == state.context) return;
  current_ = driver_.set_context(state.context) == kCudaSuccess ? state.context : nullptr;
}

void Recorder::free_memory() {
  std::lock_guard lock(mutex_);
  zeroing_.clear();
  ++era_;
  queue_.clear();
  stats_.in_flight = 0;
  for (const auto& state : states_) {
    make_current(*state);
    for (const auto& [block, event] : state->zeroing) {
      state->events.push_back(event);
      state->pool.give_back(block);
    }
    state->zeroing.clear();
    for (const CudaEvent event : state->events) driver_.destroy_event(event);
    state->events.clear();
    state->pool.clear();
    if (state->staging != nullptr) driver_.free_host(state->staging);
    if (state->side_event != nullptr) driver_.destroy_event(state->side_event);
    if (state->side_stream != nullptr) driver_.destroy_stream(state->side_stream);
    state->staging = nullptr;
    state->staging_bytes = 0;
    state->side_event = nullptr;
    state->side_stream = nullptr;
  }
}

}  // namespace proton::device_buffer
