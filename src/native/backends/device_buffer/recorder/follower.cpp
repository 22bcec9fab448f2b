// The recorder's own thread: follows launches until they have ended, and empties mailboxes
// meanwhile.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "backends/device_buffer/recorder/recorder.h"
#include "base/clock.h"

namespace proton::device_buffer {
namespace {

constexpr int64_t kShortestPollNs = 20'000;
constexpr int64_t kLongestPollNs = 500'000;
constexpr int64_t kTurnNs = 1'000'000;
constexpr int64_t kCloseNs = 2'000'000;
constexpr int64_t kCloseEveryNs = 200'000'000;
constexpr int64_t kAwakeNs = 20'000'000;
constexpr int64_t kMailboxTurnNs = 50'000;
constexpr int64_t kStopLimitNs = 2'000'000'000;
constexpr int64_t kLastLooksNs = 100'000'000;
constexpr size_t kMostDrainedBytes = size_t{256} << 20;  // of one launch

/// How often launches are looked at. Whoever asks the driver slows down who launches meanwhile, and
/// waking a thread up takes longer than all else that a launch costs us: crowds are looked at once
/// a turn. The first launches, and some later ones, are watched closely: when they end tells how
/// far the device's time is from the host's.
class Pace {
 public:
  void wake_up(int64_t now) {
    close_until_ns_ = now + kCloseNs;
    busy_at_ns_ = now;
  }
  void look(bool has_ended, int64_t now) {
    if (has_ended) busy_at_ns_ = now;
    if (now - close_until_ns_ > kCloseEveryNs) close_until_ns_ = now + kCloseNs;
    poll_ns_ = has_ended ? kShortestPollNs : std::min(2 * poll_ns_, kLongestPollNs);
  }
  bool may_sleep(int64_t now) const { return now - busy_at_ns_ > kAwakeNs; }
  /// What to rest between two looks; `is_urgent`: somebody waits.
  int64_t rest_ns(bool has_ended, bool is_urgent, int64_t now) const {
    if (!is_urgent && now > close_until_ns_) return kTurnNs;
    return has_ended ? 0 : poll_ns_;
  }

 private:
  int64_t close_until_ns_ = 0;
  int64_t busy_at_ns_ = 0;
  int64_t poll_ns_ = kShortestPollNs;
};

}  // namespace

void Recorder::run() {
  disown_(true);
  int relaxed = 2;  // for good: others may be capturing whenever we look at an event
  driver_.exchange_capture_mode(&relaxed);
  current_ = nullptr;
  while (true) {
    std::vector<LaunchPointer> waiting;  // in the order they were launched
    follow(waiting);
    wind_down(waiting);
    free_memory();
    std::lock_guard lock(mutex_);
    // In front of what was launched since, where a session has begun meanwhile.
    queue_.insert(queue_.begin(), std::make_move_iterator(waiting.begin()),
                  std::make_move_iterator(waiting.end()));
    stats_.in_flight = queue_.size();
    oldest_ = UINT64_MAX;
    is_stopping_ = false;
    is_running_ = !targets_.empty();
    settled_.notify_all();
    if (!is_running_) return;
  }
}

/// Until the last session ends; `waiting` is what is under way then.
void Recorder::follow(std::vector<LaunchPointer>& waiting) {
  Pace pace;
  bool is_zeroing = !zeroing_.empty();
  while (true) {
    uint64_t graphs;
    {
      std::unique_lock lock(mutex_);
      const auto has_work = [&] {
        return is_stopping_ || !queue_.empty() || graphs_asked_ != graphs_read_;
      };
      if (waiting.empty() && !is_zeroing && !has_work()) {
        if (pace.may_sleep(now_ns())) {
          is_waiting_ = true;
          wake_.wait(lock, has_work);
          is_waiting_ = false;
          pace.wake_up(now_ns());
        } else {
          wake_.wait_for(lock, std::chrono::nanoseconds(kTurnNs));
        }
      }
      while (!queue_.empty()) {
        waiting.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
      oldest_ = waiting.empty() ? UINT64_MAX : waiting.front()->number;
      if (is_stopping_) return;
      graphs = graphs_asked_;
    }
    std::vector<LaunchPointer> finished;
    const bool has_mailbox = take_finished(waiting, finished);
    const bool has_ended = !finished.empty();
    read(std::move(finished));
    if (graphs != graphs_read_) read_graphs();
    is_zeroing = poll_zeroing();
    pace.look(has_ended, now_ns());
    std::unique_lock lock(mutex_);
    oldest_ = waiting.empty() ? UINT64_MAX : waiting.front()->number;
    graphs_read_ = graphs;
    settled_.notify_all();
    if ((waiting.empty() && !is_zeroing) || is_stopping_) continue;
    const int64_t rest_ns = pace.rest_ns(has_ended, flushes_ > 0, now_ns());
    if (has_mailbox) {
      lock.unlock();
      watch_mailboxes(waiting);
    } else if (rest_ns > 0) {
      wake_.wait_for(lock, std::chrono::nanoseconds(rest_ns));
    }
  }
}

/// Nobody reads what is under way when the last session ends. Its memory comes back when it has
/// ended: mostly now, else when the next session has begun.
void Recorder::wind_down(std::vector<LaunchPointer>& waiting) {
  for (const LaunchPointer& launch : waiting) let_go(*launch);
  read(take_left_behind());
  const int64_t until_ns = now_ns() + kLastLooksNs;
  for (int64_t poll_ns = kShortestPollNs;; poll_ns = std::min(2 * poll_ns, kLongestPollNs)) {
    std::vector<LaunchPointer> finished;
    take_finished(waiting, finished);
    read(std::move(finished));
    const bool is_zeroing = poll_zeroing();
    if ((waiting.empty() && !is_zeroing) || now_ns() > until_ns) return;
    std::this_thread::sleep_for(std::chrono::nanoseconds(poll_ns));
  }
}

/// Launches, if they were made, of threads that have ended since. Their streams may have, too: all
/// work of the context is waited for.
std::vector<Recorder::LaunchPointer> Recorder::take_left_behind() {
  std::vector<Pending> left;
  {
    std::lock_guard lock(mutex_);
    left.swap(left_behind_);
    std::erase_if(left, [&](const Pending& each) { return has_gone(*each.state); });
  }
  std::vector<LaunchPointer> launches;
  for (const Pending& each : left) {
    make_current(*each.state);
    auto launch = make_launch(each);
    const bool has_ended =
        driver_.synchronize_context() == kCudaSuccess &&
        driver_.create_event(&launch->event, kEventDisableTiming) == kCudaSuccess;
    std::lock_guard lock(mutex_);
    if (has_ended) {
      launches.push_back(std::move(launch));
      ++stats_.in_flight;
    } else {
      left_behind_.push_back(each);  // until another session ends
    }
  }
  return launches;
}

void Recorder::stop_thread() {
  std::unique_lock lock(mutex_);
  if (!is_running_ || !targets_.empty()) return;
  is_stopping_ = true;
  wake_.notify_one();
  settled_.wait_for(lock, std::chrono::nanoseconds(kStopLimitNs),
                    [&] { return !is_running_ || !is_stopping_; });
  if (is_running_ && !is_stopping_) return;  // a session has begun meanwhile
  const bool has_ended = !is_running_;
  std::thread thread = std::move(thread_);
  lock.unlock();
  if (!thread.joinable()) return;  // it was let go of when an earlier session ended
  if (has_ended) {
    thread.join();
  } else {
    thread.detach();  // the driver keeps it; it ends when that lets go
  }
}

/// Moves the launches that have ended; whether one of the others may need its mailbox emptied.
bool Recorder::take_finished(std::vector<LaunchPointer>& waiting,
                             std::vector<LaunchPointer>& finished) {
  using Place = std::pair<ContextState*, CudaStream>;
  std::vector<std::pair<Place, std::vector<const LaunchPointer*>>> streams;
  for (const LaunchPointer& launch : waiting) {
    const Place place(launch->state, launch->stream);
    auto found = std::ranges::find(streams, place, [](const auto& each) { return each.first; });
    if (found == streams.end()) found = streams.insert(found, {place, {}});
    found->second.push_back(&launch);
  }
  for (const auto& [place, launches] : streams) {
    make_current(*place.first);
    const size_t ended = count_ended(launches);
    const int64_t end_ns = now_ns();
    for (size_t i = 0; i < ended; ++i) (*launches[i])->end_ns = end_ns;
  }
  bool has_mailbox = false;
  for (LaunchPointer& launch : waiting) {
    if (launch->kernel != nullptr && launch->kernel->has_mailbox) {
      drain(*launch);
      has_mailbox |= launch->end_ns == 0;
    }
    if (launch->end_ns == 0) continue;
    if (launch->failure == kCudaSuccess) {
      finished.push_back(std::move(launch));
    } else {
      make_current(*launch->state);
      drop(*launch, launch->failure);
      driver_.destroy_event(launch->event);
      launch.reset();
      std::lock_guard lock(mutex_);
      --stats_.in_flight;
    }
  }
  std::erase(waiting, nullptr);
  return has_mailbox;
}

/// How many of the launches of a stream, in order, have ended. Its events come one after the other:
/// not each has to be asked.
size_t Recorder::count_ended(std::span<const LaunchPointer* const> launches) {
  size_t ended = 0, open = launches.size();  // these have ended, those from here on have not
  size_t next = launches.size() - 1;         // mostly all have, or the first has not
  while (ended < open) {
    Launch& launch = **launches[next];
    const CudaResult result = driver_.query_event(launch.event);
    if (result == kCudaNotReady) {
      open = next;
    } else {
      ended = next + 1;
      if (result != kCudaSuccess) {  // the context is gone, and all that was under way in it
        for (size_t i = 0; i < ended; ++i) (*launches[i])->failure = result;
      }
    }
    next = ended + (open - ended) / 2;
  }
  return ended;
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

/// Nobody is to read it: only its memory comes back. Its warps do not wait for the host, either.
void Recorder::let_go(Launch& launch) {
  const RecordingKernel* const kernel = std::exchange(launch.kernel, nullptr);
  launch.destinations.clear();
  launch.drained.clear();
  if (kernel == nullptr || !kernel->has_mailbox || launch.block->host == nullptr) return;
  const Geometry geometry = kernel->geometry(launch.grid_ctas);
  if (geometry.size_bytes() > launch.bytes) return;
  std::byte* const buffer = launch.block->host + (launch.address - launch.block->address);
  for (uint64_t slot = 0; slot < geometry.slot_count(); ++slot) {
    auto* header = reinterpret_cast<Header*>(buffer + geometry.header_offset(slot));
    std::atomic_ref(header->mailbox_drained_bytes).store(kHostIsDead, std::memory_order_release);
  }
}

void Recorder::make_current(ContextState& state) {
  if (current_ == state.context) return;
  current_ = driver_.set_context(state.context) == kCudaSuccess ? state.context : nullptr;
}

/// Gives the driver back what nobody uses. Launching threads are not kept from launching meanwhile:
/// it may wait for the device.
void Recorder::free_memory() {
  std::vector<ContextState*> states;
  {
    std::lock_guard lock(mutex_);
    for (const auto& state : states_) states.push_back(state.get());
  }
  for (ContextState* state : states) free_memory_of(*state);
}

void Recorder::free_memory_of(ContextState& state) {
  std::vector<CudaEvent> events;
  std::vector<Block> blocks;
  {
    std::lock_guard lock(mutex_);
    events.swap(state.events);
    blocks = state.pool.take_unused();
  }
  make_current(state);
  for (const CudaEvent event : events) driver_.destroy_event(event);
  BlockPool::release(driver_, blocks);
  if (!state.zeroing.empty()) return;  // on the side stream, for long: the next session has it back
  if (state.staging != nullptr) driver_.free_host(state.staging);
  if (state.side_event != nullptr) driver_.destroy_event(state.side_event);
  if (state.side_stream != nullptr) driver_.destroy_stream(state.side_stream);
  state.staging = nullptr;
  state.staging_bytes = 0;
  state.side_event = nullptr;
  state.side_stream = nullptr;
}

}  // namespace proton::device_buffer
