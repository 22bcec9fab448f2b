/// The player's inside, and its control side for ctypes (player_*): load a recording, walk its
/// steps, say how buffers are delivered, ask what came of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/cupti/driver/abi.h"
#include "recorder/format.h"

#define PLAYER_EXPORT extern "C" __attribute__((visibility("default")))

namespace player {

using namespace proton::cupti;

constexpr Result kMaxLimitReached = 12;  // CUPTI's: the buffer has no more records

/// An answer of CUPTI's that holds from its entry on.
struct Query {
  const std::string* function;  // null: records were dropped, `answer` of them
  uint64_t handle;
  uint64_t answer;
};

struct Entry {
  recording::EntryKind kind = recording::kNote;
  uint32_t thread = 0;
  uint32_t cbid = 0;
  CallbackData driver{};
  uint64_t words[1] = {0};  // of the driver function's parameters
  ResourceData resource{};
  GraphData graph{};
  bool has_graph = false;
  std::vector<Query> queries;
  // Of buffers
  void* context = nullptr;
  uint32_t stream = 0;
  std::vector<std::string> records;
  bool is_delivered = false;
  const std::string* note = nullptr;
};

/// Entries from `first` to before `last`, all of one thread; a note stands alone.
struct Step {
  uint32_t thread;
  size_t first;
  size_t last;
  const std::string* note;
};

/// A file's content; never changed after `load`, but for `is_delivered`.
struct Recording {
  std::vector<Entry> entries;
  std::vector<Step> steps;
  std::map<std::string, std::string> facts;
  std::unordered_map<uint32_t, size_t> record_sizes;
  uint64_t first_time = 0;
  bool is_complete = false;

  /// Reads at most `limit` bytes. Returns what is wrong, or "".
  std::string load(const char* path, uint64_t limit);
  int64_t fact(const std::string& name, int64_t otherwise) const;

 private:
  std::vector<const std::string*> strings_;
  const std::string* text(uint64_t number) const;
  bool read_entry(recording::Fields& fields);
  void read_driver(recording::Fields& fields, Entry& entry);
  void read_resource(recording::Fields& fields, Entry& entry);
  void read_buffer(recording::Fields& fields, Entry& entry);
  void make_steps();
};

struct State {
  Recording recording;
  int64_t shift_ns = 0;  // from recorded times to now

  // What Proton asked for
  std::atomic<CallbackFunction> callback{nullptr};
  std::atomic<void*> callback_user{nullptr};
  std::atomic<BufferRequested> requested{nullptr};
  std::atomic<BufferCompleted> completed{nullptr};
  std::atomic<TimestampFunction> timestamp{nullptr};
  std::atomic<uint8_t> enabled[8][1024];

  // How to deliver
  std::atomic<int64_t> hold{0};             // buffers wait for a flush
  std::atomic<int64_t> reverse_buffers{0};  // the last one first
  std::atomic<int64_t> reverse_records{0};
  std::atomic<int64_t> clock_offset_ns{0};  // CUPTI keeps its own clock, so far off

  std::mutex mutex;  // guards what follows, and `is_delivered`
  size_t available = 0;
  std::map<std::pair<std::string, uint64_t>, uint64_t> answers;
  uint64_t dropped = 0;
  std::map<std::string, int64_t> counters;
};

State& state();
void count(const char* counter, int64_t amount = 1);
uint64_t host_now();
uint64_t cupti_now();

/// Hands over every buffer that may come by now: on the flushing thread.
void deliver_available();
/// What CUPTI answered for a handle. False: nothing is recorded.
bool find_answer(const char* function, const void* handle, uint64_t& answer);

}  // namespace player
