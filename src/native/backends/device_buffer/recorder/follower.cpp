#include "backends/device_buffer/recorder/follower.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/text.h"

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
constexpr size_t kCrowd = 128;  // launches that the thread is woken up for before it looks again

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

void Follower::start() {
  std::lock_guard lock(mutex_);
  ++sessions_;
  is_stopping_ = false;  // a thread that is about to end goes on
  if (is_running_) return;
  // Launches that an earlier session ended under: where their context has gone, so have they.
  std::erase_if(queue_,
                [&](const LaunchPointer& launch) { return pool_.has_gone(*launch->memory); });
  if (thread_.joinable()) thread_.detach();  // it has ended, and who stopped it was not so fast
  thread_ = std::thread([this] { run(); });
  is_running_ = true;
}

void Follower::stop() {
  std::unique_lock lock(mutex_);
  if (--sessions_ > 0 || !is_running_) return;
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

void Follower::add(LaunchPointer launch) {
  // Under one lock: launches of a stream are queued in the order of their events.
  std::lock_guard lock(mutex_);
  if (const CudaResult result = pool_.record_event(*launch); result != kCudaSuccess) {
    // The memory is lost with it: a kernel may still write there.
    reporter_.problems().note(
        concat("a launch could not be followed: ", pool_.driver().describe_cuda(result)));
    ++reporter_.counts.dropped;
    return;
  }
  launch->number = ++launched_;
  queue_.push_back(std::move(launch));
  if (is_waiting_ || queue_.size() >= kCrowd) wake_.notify_one();
}

bool Follower::flush(int64_t limit_ns) {
  const bool has_graphs = !graphs_.empty();
  std::unique_lock lock(mutex_);
  if (!is_running_) return true;
  const uint64_t last = launched_;
  const uint64_t graphs = has_graphs ? ++graphs_asked_ : graphs_asked_;
  ++flushes_;
  wake_.notify_one();
  const bool is_done = settled_.wait_for(lock, std::chrono::nanoseconds(limit_ns), [&] {
    const bool has_queued = !queue_.empty() && queue_.front()->number <= last;
    return !is_running_ || (!has_queued && oldest_ > last && graphs_read_ >= graphs);
  });
  --flushes_;
  return is_done;
}

uint64_t Follower::in_flight() {
  std::lock_guard lock(mutex_);
  return queue_.size() + under_way_;
}

/// With the lock.
void Follower::note_waiting(const Launches& waiting) {
  oldest_ = waiting.empty() ? UINT64_MAX : waiting.front()->number;
  under_way_ = waiting.size();
}

void Follower::run() {
  reader_.begin();
  while (true) {
    Launches waiting;
    follow(waiting);
    wind_down(waiting);
    reader_.free_memory();
    std::lock_guard lock(mutex_);
    // In front of what was launched since, where a session has begun meanwhile.
    queue_.insert(queue_.begin(), std::make_move_iterator(waiting.begin()),
                  std::make_move_iterator(waiting.end()));
    note_waiting({});
    is_stopping_ = false;
    is_running_ = sessions_ > 0;
    settled_.notify_all();
    if (!is_running_) return;
  }
}

/// Until the last session ends; `waiting` is what is under way then.
void Follower::follow(Launches& waiting) {
  Pace pace;
  bool is_zeroing = reader_.is_zeroing();
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
      std::move(queue_.begin(), queue_.end(), std::back_inserter(waiting));
      queue_.clear();
      note_waiting(waiting);
      if (is_stopping_) return;
      graphs = graphs_asked_;
    }
    Launches finished;
    const bool has_mailbox = take_finished(waiting, finished);
    const bool has_ended = !finished.empty();
    reader_.read(std::move(finished));
    if (graphs != graphs_read_) graphs_.read();
    is_zeroing = reader_.poll_zeroing();
    pace.look(has_ended, now_ns());
    std::unique_lock lock(mutex_);
    note_waiting(waiting);
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
void Follower::wind_down(Launches& waiting) {
  for (const LaunchPointer& launch : waiting) launch->leave_unread();
  reader_.read(take_left_behind());
  const int64_t until_ns = now_ns() + kLastLooksNs;
  for (int64_t poll_ns = kShortestPollNs;; poll_ns = std::min(2 * poll_ns, kLongestPollNs)) {
    Launches finished;
    take_finished(waiting, finished);
    reader_.read(std::move(finished));
    const bool is_zeroing = reader_.poll_zeroing();
    if ((waiting.empty() && !is_zeroing) || now_ns() > until_ns) return;
    std::this_thread::sleep_for(std::chrono::nanoseconds(poll_ns));
  }
}

/// Launches, if they were made, of threads that have ended since. Their streams may have, too: all
/// work of the context is waited for.
Follower::Launches Follower::take_left_behind() {
  Launches launches;
  for (const LaunchBuffer& buffer : pool_.take_left_behind()) {
    reader_.make_current(*buffer.memory);
    auto launch = std::make_unique<Launch>(buffer);
    const CudaDriver& driver = pool_.driver();
    if (driver.synchronize_context() == kCudaSuccess &&
        driver.create_event(&launch->event, kEventDisableTiming) == kCudaSuccess) {
      launches.push_back(std::move(launch));
    } else {
      pool_.leave_behind(buffer);  // until another session ends
    }
  }
  return launches;
}

/// Moves the launches that have ended; whether one of the others may need its mailbox emptied.
bool Follower::take_finished(Launches& waiting, Launches& finished) {
  using Place = std::pair<ContextMemory*, CudaStream>;
  std::vector<std::pair<Place, std::vector<const LaunchPointer*>>> streams;
  for (const LaunchPointer& launch : waiting) {
    const Place place(launch->memory, launch->stream);
    auto stream = std::ranges::find(streams, place, [](const auto& entry) { return entry.first; });
    if (stream == streams.end()) stream = streams.insert(stream, {place, {}});
    stream->second.push_back(&launch);
  }
  for (const auto& [place, launches] : streams) {
    reader_.make_current(*place.first);
    const size_t ended = count_ended(launches);
    const int64_t end_ns = now_ns();
    for (size_t i = 0; i < ended; ++i) (*launches[i])->end_ns = end_ns;
  }
  bool has_mailbox = false;
  for (LaunchPointer& launch : waiting) {
    if (launch->has_mailbox()) {
      launch->drain();
      has_mailbox |= launch->end_ns == 0;
    }
    if (launch->end_ns == 0) continue;
    if (launch->failure == kCudaSuccess) {
      finished.push_back(std::move(launch));
    } else {
      reader_.drop_with_event(*launch, launch->failure);
      launch.reset();
    }
  }
  std::erase(waiting, nullptr);
  return has_mailbox;
}

/// How many of the launches of a stream, in order, have ended. Its events come one after the other:
/// not each has to be asked.
size_t Follower::count_ended(std::span<const LaunchPointer* const> launches) {
  size_t ended = 0, open = launches.size();  // these have ended, those from here on have not
  size_t next = launches.size() - 1;         // mostly all have, or the first has not
  while (ended < open) {
    Launch& launch = **launches[next];
    const CudaResult result = pool_.driver().query_event(launch.event);
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
void Follower::watch_mailboxes(const Launches& waiting) {
  const int64_t until_ns = now_ns() + kMailboxTurnNs;
  do {
    for (const LaunchPointer& launch : waiting) {
      if (launch->has_mailbox()) launch->drain();
    }
    std::this_thread::yield();
  } while (now_ns() < until_ns);
}

}  // namespace proton::device_buffer
