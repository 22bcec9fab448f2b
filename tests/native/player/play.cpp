/// Does the steps of a recording: callbacks and buffers, on the thread that asks or on one of the
/// player's own.
#include <time.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

#include "player.h"

namespace player {
namespace {

/// Runs what it is given, one thing at a time; stands for a thread that Python does not know.
class NativeThread {
 public:
  NativeThread() {
    std::thread([this] { run(); }).detach();
  }

  void do_and_wait(std::function<void()> work) {
    std::unique_lock lock(mutex_);
    work_ = std::move(work);
    changed_.notify_all();
    changed_.wait(lock, [&] { return work_ == nullptr; });
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return work_ != nullptr; });
      work_();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
};

void apply(const Entry& entry) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  for (const Query& query : entry.queries) {
    if (query.function == nullptr) {
      all.dropped += query.answer;
    } else {
      all.answers[{*query.function, query.handle}] = query.answer;
    }
  }
}

void call_back(Entry& entry) {
  State& all = state();
  const bool is_driver = entry.kind == recording::kDriver;
  const int domain = is_driver ? kDriverDomain : kResourceDomain;
  const CallbackFunction callback = all.callback.load();
  if (callback == nullptr || entry.cbid >= 1024 || all.enabled[domain][entry.cbid].load() == 0) {
    return count("unasked_callbacks");
  }
  count("callbacks");
  if (is_driver) {
    uint64_t scratch = 0;
    int result = 0;
    CallbackData data = entry.driver;
    data.params = entry.words;
    data.return_value = &result;
    data.correlation_data = &scratch;
    callback(all.callback_user.load(), domain, entry.cbid, &data);
  } else {
    ResourceData data = entry.resource;
    data.descriptor = entry.has_graph ? &entry.graph : nullptr;
    callback(all.callback_user.load(), domain, entry.cbid, &data);
  }
}

void move_time(char* record, size_t offset, int64_t by_ns) {
  uint64_t time = 0;
  std::memcpy(&time, record + offset, sizeof time);
  if (time == 0) return;  // not known, or work that had not ended
  time += static_cast<uint64_t>(by_ns);
  std::memcpy(record + offset, &time, sizeof time);
}

void move_times(char* record) {
  const int64_t by_ns = state().shift_ns + state().clock_offset_ns.load();
  uint32_t kind = 0;
  std::memcpy(&kind, record, sizeof kind);
  switch (kind) {
    case kKernelActivity:
    case kConcurrentKernelActivity:
      for (const size_t offset : {offsetof(KernelRecord, start), offsetof(KernelRecord, end),
                                  offsetof(KernelRecord, completed), offsetof(KernelRecord, queued),
                                  offsetof(KernelRecord, submitted)}) {
        move_time(record, offset, by_ns);
      }
      return;
    case kGraphTraceActivity:
      move_time(record, offsetof(GraphRecord, start), by_ns);
      return move_time(record, offsetof(GraphRecord, end), by_ns);
    case kMemcpyActivity:
    case kMemcpyPeerActivity:
    case kMemsetActivity:
    case kUnifiedMemoryActivity:
      static_assert(offsetof(MemcpyRecord, start) == offsetof(MemsetRecord, start) &&
                    offsetof(MemcpyRecord, start) == offsetof(MemcpyPeerRecord, start) &&
                    offsetof(MemcpyRecord, start) == offsetof(UnifiedMemoryRecord, start));
      move_time(record, offsetof(MemcpyRecord, start), by_ns);
      return move_time(record, offsetof(MemcpyRecord, end), by_ns);
    default:
      return;
  }
}

/// Asks Proton for memory, as often as the records need it, and hands it back full.
void deliver(Entry& entry) {
  State& all = state();
  apply(entry);
  const BufferRequested requested = all.requested.load();
  const BufferCompleted completed = all.completed.load();
  if (requested == nullptr || completed == nullptr) return count("unasked_buffers");
  if (all.reverse_records.load() != 0) std::reverse(entry.records.begin(), entry.records.end());
  size_t next = 0;
  do {
    uint8_t* buffer = nullptr;
    size_t size = 0, max_records = 0, used = 0;
    requested(&buffer, &size, &max_records);
    if (buffer == nullptr) return count("refused_buffers");
    for (; next < entry.records.size(); ++next) {
      const std::string& record = entry.records[next];
      if (used + record.size() > size) break;
      std::memcpy(buffer + used, record.data(), record.size());
      move_times(reinterpret_cast<char*>(buffer + used));
      used += record.size();
    }
    if (used == 0 && next < entry.records.size()) return count("refused_buffers");
    count("buffers");
    completed(entry.context, entry.stream, buffer, size, used);
  } while (next < entry.records.size());
  count("records", static_cast<int64_t>(entry.records.size()));
}

/// Whether the caller is to deliver it.
bool take(Entry& entry) {
  const std::lock_guard lock(state().mutex);
  return !std::exchange(entry.is_delivered, true);
}

void run(const Step& step) {
  State& all = state();
  for (size_t i = step.first; i < step.last; ++i) {
    Entry& entry = all.recording.entries[i];
    {
      const std::lock_guard lock(all.mutex);
      all.available = std::max(all.available, i + 1);
    }
    if (entry.kind == recording::kBuffer) {
      if (all.hold.load() == 0 && take(entry)) deliver(entry);
    } else {
      apply(entry);
      if (entry.note == nullptr) call_back(entry);
    }
  }
}

}  // namespace

State& state() {
  static State& all = *new State;
  return all;
}

void count(const char* counter, int64_t amount) {
  const std::lock_guard lock(state().mutex);
  state().counters[counter] += amount;
}

uint64_t host_now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t cupti_now() {
  const TimestampFunction function = state().timestamp.load();
  return function != nullptr ? function()
                             : host_now() + static_cast<uint64_t>(state().clock_offset_ns.load());
}

void deliver_available() {
  State& all = state();
  std::vector<Entry*> ready;
  {
    const std::lock_guard lock(all.mutex);
    for (size_t i = 0; i < all.available; ++i) {
      Entry& entry = all.recording.entries[i];
      if (entry.kind != recording::kBuffer || std::exchange(entry.is_delivered, true)) continue;
      ready.push_back(&entry);
    }
  }
  if (all.reverse_buffers.load() != 0) std::reverse(ready.begin(), ready.end());
  for (Entry* entry : ready) deliver(*entry);
  count("flushed_buffers", static_cast<int64_t>(ready.size()));
}

bool find_answer(const char* function, const void* handle, uint64_t& answer) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  const auto found = all.answers.find({function, reinterpret_cast<uint64_t>(handle)});
  if (found == all.answers.end()) return false;
  answer = found->second;
  return true;
}

}  // namespace player

using namespace player;

/// Reads a recording, once a process, up to `limit` bytes of it. What is wrong with it, or "".
PLAYER_EXPORT const char* player_load(const char* path, uint64_t limit) {
  static std::string problem;
  State& all = state();
  problem = all.recording.load(path, limit);
  all.shift_ns = static_cast<int64_t>(host_now() - all.recording.first_time);
  return problem.c_str();
}

PLAYER_EXPORT int player_is_complete() { return state().recording.is_complete ? 1 : 0; }

PLAYER_EXPORT uint64_t player_step_count() { return state().recording.steps.size(); }

/// The thread of a step, and its note; NULL: callbacks or buffers to run.
PLAYER_EXPORT uint32_t player_step(uint64_t index, const char** note) {
  const Step& step = state().recording.steps[index];
  *note = step.note == nullptr ? nullptr : step.note->c_str();
  return step.thread;
}

/// Does a step on the calling thread.
PLAYER_EXPORT void player_run(uint64_t index) { run(state().recording.steps[index]); }

/// Does a step on the player's thread that stands for the recorded one, and waits for it.
PLAYER_EXPORT void player_run_natively(uint64_t index) {
  static auto& threads = *new std::map<uint32_t, std::unique_ptr<NativeThread>>;
  const Step& step = state().recording.steps[index];
  auto& thread = threads[step.thread];
  if (thread == nullptr) thread = std::make_unique<NativeThread>();
  thread->do_and_wait([&step] { run(step); });
}

/// A deed begins that may flush: all buffers that came before its end ("done") may come now.
PLAYER_EXPORT void player_begin(uint64_t index) {
  State& all = state();
  const std::vector<Step>& steps = all.recording.steps;
  uint64_t end = index + 1;
  while (end < steps.size() && !(steps[end].thread == steps[index].thread &&
                                 steps[end].note != nullptr && *steps[end].note == "done")) {
    ++end;
  }
  const std::lock_guard lock(all.mutex);
  const size_t last = end < steps.size() ? steps[end].last : all.recording.entries.size();
  all.available = std::max(all.available, last);
}

/// hold, reverse_buffers, reverse_records, clock_offset_ns. -1: there is no such option.
PLAYER_EXPORT int player_set_option(const char* name, int64_t value) {
  State& all = state();
  const std::map<std::string, std::atomic<int64_t>*> options{
      {"hold", &all.hold},
      {"reverse_buffers", &all.reverse_buffers},
      {"reverse_records", &all.reverse_records},
      {"clock_offset_ns", &all.clock_offset_ns},
  };
  const auto found = options.find(name);
  if (found == options.end()) return -1;
  found->second->store(value);
  return 0;
}

/// callbacks, unasked_callbacks, buffers, flushed_buffers, records, unasked_buffers,
/// refused_buffers, waiting_buffers.
PLAYER_EXPORT int64_t player_counter(const char* name) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  if (std::strcmp(name, "waiting_buffers") != 0) return all.counters[name];
  return std::count_if(
      all.recording.entries.begin(), all.recording.entries.end(),
      [](const Entry& one) { return one.kind == recording::kBuffer && !one.is_delivered; });
}
