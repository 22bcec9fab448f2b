/// Tells sessions what kernels recorded, and adds it up for them. Any thread. Whoever is told
/// something is told under a mutex of its own, so that `remove` returns when nobody talks to the
/// session any more; the reporter's own lock is not held meanwhile, but to count unread launches.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/device_buffer/recorder/kernel_book.h"
#include "backends/device_buffer/recorder/launch.h"
#include "backends/device_buffer/recorder/problems.h"
#include "model/event_sink.h"

namespace proton::device_buffer {

/// The whole buffer of a launch, for readers of what only they know.
struct KeptBuffer {
  uint32_t kernel = 0;
  uint64_t note = 0;  // that came with the launch
  uint64_t grid_ctas = 0;
  SumKey key;
  std::shared_ptr<const std::vector<std::byte>> bytes;
};

/// What is asked about a session; `is_active` and `phase` under the GIL.
struct SinkOptions {
  bool with_frames = false;  // contexts are Python frames
  bool with_spans = false;   // it keeps a timeline
  std::function<bool()> is_active;
  std::function<int()> phase;
};

/// A session that is reported to.
struct Target {
  std::mutex mutex;
  EventSink* sink = nullptr;  // with mutex; null: it has ended
  SinkOptions options;
  KernelBook book;
  std::vector<KeptBuffer> kept;  // with mutex
  size_t kept_bytes = 0;
  std::atomic<int> flush_phase{0};  // where replays of graphs are booked
};

/// What of a decoded buffer a session is told, but where it belongs. Without `with_warps` the first
/// warp stands for all.
RecordedLaunch to_recorded_launch(const DecodedBuffer& decoded, std::span<const RegionLabel> labels,
                                  bool with_warps);

class Reporter {
 public:
  explicit Reporter(Problems& problems) : problems_(problems) {}

  Problems& problems() const { return problems_; }
  void set_source(const ContextSource& source) { source_ = source; }
  const ContextSource& source() const { return source_; }

  void add(EventSink& sink, SinkOptions options);
  /// Afterwards nothing refers to the sink. Waits for what it is being told at the moment. False:
  /// it was not there.
  bool remove(EventSink& sink);
  bool has(const EventSink& sink);

  /// An era ends with the last session: buffers of an earlier one are not read. Nothing: there is
  /// no session.
  std::optional<uint64_t> era();
  /// The sessions that a launch of the calling thread belongs to, or `only` this one; nothing: the
  /// era has ended. Under the GIL.
  std::optional<std::vector<Destination>> destinations(uint64_t era, const EventSink* only);
  /// A buffer was handed out and nobody knows whether it was used: sessions count it as lost.
  /// False: its era has ended.
  bool count_unread(uint64_t era);
  /// From now on replays of graphs are booked in the phases of this moment. Under the GIL.
  void note_phases();

  std::vector<KernelSum> sums(const EventSink& sink, int phase);
  void forget_phase(const EventSink& sink, int phase);
  /// Buffers of kernels that keep theirs, in the order they were read; each once.
  std::vector<KeptBuffer> take_kept(const EventSink& sink);

  /// Whether a session that the launch belongs to has not ended.
  static bool is_wanted(const Launch& launch);
  static bool wants_spans(const Launch& launch);
  void report(const Launch& launch, const DecodedBuffer& decoded);
  /// Keeps the whole buffer for each session; beyond a limit that nobody waits at, it is lost.
  void keep(const Launch& launch);
  /// The buffer could not be read: sessions are told, and the user why.
  void drop(const Launch& launch, const std::string& reason);
  /// The same of which only the sums tell; `at_launch`: in the phase of the launch.
  static void book_drop(const Launch& launch, bool at_launch = false);
  static void book_replays(const Launch& launch, uint64_t replays);

  /// What statistics tell.
  struct Counts {
    std::atomic<uint64_t> launches{0};  // with a buffer, captured ones not included
    std::atomic<uint64_t> captured{0};
    std::atomic<uint64_t> decoded{0};    // buffers
    std::atomic<uint64_t> dropped{0};    // launches of which nothing is known
    std::atomic<uint64_t> decode_ns{0};  // spent decoding and booking
  };
  Counts counts;

 private:
  std::shared_ptr<Target> find(const EventSink& sink);

  Problems& problems_;
  ContextSource source_{};
  std::mutex mutex_;  // guards what follows
  std::vector<std::shared_ptr<Target>> targets_;
  uint64_t era_ = 1;
};

}  // namespace proton::device_buffer
