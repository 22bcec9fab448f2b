/// Gives kernels that record their buffers, and brings what they recorded to the sessions. Launches
/// are never waited for: an event behind each tells a thread of our own when its buffer can be
/// copied (on a stream of our own), decoded, zeroed and used again. One for the process.
///
/// `allocate` and `launched` run on launching threads, under the GIL; the thread of our own never
/// takes it. Lock order: a target's mutex, then `mutex_`.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "backends/device_buffer/recorder/block_pool.h"
#include "backends/device_buffer/recorder/kernel_book.h"
#include "backends/device_buffer/recorder/recording_kernel.h"
#include "backends/device_buffer/recorder/replay_counters.h"
#include "model/event_sink.h"

namespace proton::device_buffer {

struct RecorderStats {
  uint64_t launches = 0;  // with a buffer, captured ones not included
  uint64_t captured = 0;
  uint64_t decoded = 0;  // buffers
  uint64_t dropped = 0;  // launches of which nothing is known
  uint64_t pool_bytes = 0;
  uint64_t in_flight = 0;
  uint64_t decode_ns = 0;  // spent decoding and booking
};

/// The whole buffer of a launch, for readers of what only they know.
struct KeptBuffer {
  uint32_t kernel = 0;
  uint64_t note = 0;  // that came with the launch
  uint64_t grid_ctas = 0;
  SumKey key;
  std::shared_ptr<const std::vector<std::byte>> bytes;
};

class Recorder {
 public:
  /// What is asked about a session; `is_active` and `phase` under the GIL.
  struct SinkOptions {
    bool with_frames = false;  // contexts are Python frames
    bool with_spans = false;   // it keeps a timeline
    std::function<bool()> is_active;
    std::function<int()> phase;
  };

  /// Never destroyed: the thread may outlive main.
  static Recorder& get();

  /// Opens the driver, once. Throws BackendError.
  void load(const std::string& cuda_path);
  bool is_loaded() const { return is_loaded_.load(std::memory_order_acquire); }
  const Driver& driver() const { return driver_; }
  void set_source(const ContextSource& source) { source_ = source; }
  /// Called to say that what the calling thread launches from now on is ours, or no longer; returns
  /// what was so before.
  void set_disown(bool (*disown)(bool is_ours)) { disown_ = disown; }
  /// How much memory buffers may have in each context, for contexts that are not yet known.
  void set_limit(size_t bytes) { most_bytes_ = bytes; }

  /// A number for the kernel, to be given to `launched`. Never forgotten.
  uint32_t add_kernel(RecordingKernel kernel);
  std::string kernel_name(uint32_t number);

  /// Reports to `sink` until `stop`.
  void start(EventSink& sink, SinkOptions options);
  /// Afterwards nothing refers to the sink. Waits for what it is being told at the moment.
  void stop(EventSink& sink);
  bool has(const EventSink& sink);

  /// The buffer for a launch that the calling thread is about to make: zeroed once the stream gets
  /// there. `in_host_memory`: of kernels with a mailbox. Throws BackendError: no memory.
  DeviceAddress allocate(size_t bytes, size_t alignment, CudaStream stream, bool in_host_memory);
  /// Whether the calling thread was given a buffer for a launch that it has not told of yet.
  static bool has_buffer() { return pending_.block != nullptr; }
  /// The launch was made; nothing: it had no buffer. `note` comes back with a kept buffer.
  void launched(uint32_t kernel, uint64_t note = 0);
  /// The launch was made and nobody knows of which kernel: its buffer is not read, and is counted.
  void unread();
  /// A buffer for a launch that nobody is to be told of. Throws BackendError.
  DeviceAddress allocate_scrap(size_t bytes, size_t alignment);

  /// From now on launches of the calling thread are for this session alone; null: for all.
  static void set_only(const EventSink* sink) { only_ = sink; }
  /// The name of the calling thread's device, and the driver's version. Throws BackendError.
  std::pair<std::string, int> describe_device();

  /// Waits until everything launched before, and what graphs left in their buffers, has been
  /// reported, at most so long. False: some has not.
  /// Without the GIL, after `note_phases` with it: replays of graphs are booked in these phases.
  bool flush(int64_t limit_ns);
  void note_phases();

  std::vector<KernelSum> sums(const EventSink& sink, int phase);
  void forget_phase(const EventSink& sink, int phase);
  /// Buffers of kernels that keep theirs, in the order they were read; each once.
  std::vector<KeptBuffer> take_kept(const EventSink& sink);
  RecorderStats stats();
  /// What went wrong, as lines for the user; each once.
  std::vector<std::string> take_problems();

  /// In a forked child: everything is the parent's.
  void abandon() noexcept;

 private:
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
  using TargetPointer = std::shared_ptr<Target>;

  /// What the recorder has in a CUDA context. Never freed: the context may come again.
  struct ContextState {
    ContextState(const Driver& driver, CudaContext context, int device, size_t most_bytes)
        : context(context), device(device), pool(driver, most_bytes), replays(driver) {
      driver.context_id(context, &id);
    }

    const CudaContext context;
    unsigned long long id = 0;  // the driver's, which no other context ever has
    const int device;
    BlockPool pool;                   // with mutex_
    ReplayCounters replays;           // with mutex_
    std::vector<CudaEvent> events;    // free ones, with mutex_
    std::vector<CudaStream> streams;  // by the number of their lane, with mutex_
    HostOffset host_offset;
    // of the thread
    CudaStream side_stream = nullptr;
    CudaEvent side_event = nullptr;
    std::byte* staging = nullptr;
    size_t staging_bytes = 0;
    std::atomic<double> cycles_per_ns{0};  // of the last kernel that was long enough to tell
    std::vector<std::pair<Block*, CudaEvent>> zeroing;  // on the side stream
  };

  /// Where a launch belongs in a session.
  struct Destination {
    TargetPointer target;
    ContextId context;
    int phase;
  };

  /// A launch whose buffer is to be read, or is to come back; a captured one stays for all replays.
  struct Launch {
    uint64_t number = 0;
    ContextState* state = nullptr;
    Block* block = nullptr;
    DeviceAddress address = 0;
    size_t bytes = 0;
    uint32_t kernel_number = 0;
    const RecordingKernel* kernel = nullptr;  // null: nobody said which, or wants it to be read
    uint64_t grid_ctas = 0;
    uint64_t note = 0;
    CudaStream stream = nullptr;
    uint64_t lane = 0;
    CudaEvent event = nullptr;
    int64_t start_ns = 0;
    int64_t end_ns = 0;  // when it was seen to have ended
    CudaResult failure = kCudaSuccess;
    bool is_captured = false;
    uint32_t replay_counter = ReplayCounters::kNone;
    uint64_t replays_seen = 0;  // in its counter, when it was last looked at
    bool is_scrap = false;      // captured, and there was no memory for its records
    std::vector<Destination> destinations;
    std::vector<std::vector<std::byte>> drained;  // by slot, of kernels with a mailbox
    size_t drained_bytes = 0;
    // while it is being read
    Geometry geometry{};        // of the copy
    size_t copied_bytes = 0;    // of the buffer
    uint32_t most_written = 0;  // bytes of its ring that a warp has used, or the whole ring
    std::byte* bytes_read = nullptr;
  };
  using LaunchPointer = std::unique_ptr<Launch>;

  /// A buffer that was handed out, until its launch has been made.
  struct Pending {
    ContextState* state = nullptr;
    Block* block = nullptr;
    DeviceAddress address = 0;
    size_t bytes = 0;
    CudaStream stream = nullptr;
    uint64_t lane = 0;
    int64_t start_ns = 0;
    uint64_t era = 0;
    bool is_captured = false;
    uint32_t replay_counter = ReplayCounters::kNone;
    bool is_scrap = false;
  };
  static thread_local Pending pending_;
  /// Of a thread that was given a buffer: says so when the thread ends without telling of a launch.
  struct ThreadEnd {
    ~ThreadEnd();
  };
  static thread_local const EventSink* only_;

  // Launching threads
  ContextState& current_state();
  CudaContext current_context();
  std::vector<Destination> destinations();
  LaunchPointer make_launch(const Pending& pending);
  CudaResult prepare(Pending& pending);
  void queue(LaunchPointer launch);
  void give_up();
  static void let_go(Launch& launch);
  bool has_gone(const ContextState& state) const;
  CudaResult record_event(Launch& launch);
  static uint64_t lane_of(ContextState& state, CudaStream stream);
  void note_problem(const std::string& text);

  // The thread, in recorder_{thread,reading,graphs,report}.cpp
  void run();
  void follow(std::vector<LaunchPointer>& waiting);
  void wind_down(std::vector<LaunchPointer>& waiting);
  std::vector<LaunchPointer> take_left_behind();
  void stop_thread();
  bool take_finished(std::vector<LaunchPointer>& waiting, std::vector<LaunchPointer>& finished);
  size_t count_ended(std::span<const LaunchPointer* const> launches);
  void watch_mailboxes(const std::vector<LaunchPointer>& waiting);
  void drain(Launch& launch);
  void read(std::vector<LaunchPointer> launches);
  void read_batch(std::span<LaunchPointer> launches, std::vector<LaunchPointer>& again);
  void plan_copy(Launch& launch, bool is_whole);
  CudaResult copy(const Launch& launch);
  CudaResult wait_for_copies(ContextState& state);
  CudaResult reserve_staging(ContextState& state, size_t bytes);
  bool has_room(Launch& launch);
  void decode_all(std::span<LaunchPointer> launches, std::vector<LaunchPointer>& again);
  void decode_and_report(Launch& launch, Decoder& decoder, bool is_late);
  void report(const Launch& launch, const DecodedBuffer& decoded);
  void keep(const Launch& launch);
  void drop(const Launch& launch, CudaResult result);
  void zero(ContextState& state, std::span<const LaunchPointer> launches);
  void reuse_zeroed(ContextState& state);
  bool poll_zeroing();
  void read_graphs();
  void read_graphs_of(ContextState& state, std::span<Launch* const> launches);
  CudaResult read_counters(ContextState& state, std::vector<uint64_t>& counts);
  void read_replayed(Launch& launch, std::span<const uint64_t> counts);
  CudaResult fetch(Launch& launch);
  static bool is_wanted(const Launch& launch);
  static void book_replays(const Launch& launch, uint64_t replays);
  static SumKey key_of(const Launch& launch, const Destination& destination);
  void free_memory();
  void free_memory_of(ContextState& state);
  void make_current(ContextState& state);

  Driver driver_;
  std::atomic<bool> is_loaded_{false};
  ContextSource source_{};
  bool (*disown_)(bool) = [](bool) { return false; };
  size_t most_bytes_ = BlockPool::kMostBytes;
  std::mutex mutex_;                 // guards what follows
  std::condition_variable wake_;     // the thread
  std::condition_variable settled_;  // those who flush
  std::vector<std::unique_ptr<const RecordingKernel>> kernels_;
  std::vector<TargetPointer> targets_;
  std::vector<std::unique_ptr<ContextState>> states_;
  std::deque<LaunchPointer> queue_;
  std::vector<LaunchPointer> captured_;
  std::vector<Pending> left_behind_;  // by threads that have ended
  uint64_t launched_ = 0;             // numbers given
  uint64_t oldest_ = UINT64_MAX;      // number that the thread is still busy with
  uint64_t graphs_asked_ = 0;         // to read graphs' buffers; counts up
  uint64_t graphs_read_ = 0;
  uint64_t era_ = 1;  // ends with the last session; buffers of an earlier one are not read
  bool is_running_ = false;
  bool is_stopping_ = false;
  bool is_waiting_ = false;  // the thread, until somebody wakes it up
  int flushes_ = 0;          // that wait for it
  RecorderStats stats_;
  std::vector<std::string> problems_;
  std::vector<std::string> told_;  // problems, since the last session began
  std::thread thread_;

  static constexpr CudaResult kTimeout = -1;  // of our own
  // of the thread
  CudaContext current_ = nullptr;
  std::vector<ContextState*> zeroing_;  // those with memory that is being zeroed
  std::vector<uint32_t> expected_;      // by kernel: bytes of a ring that are used, so far
  std::array<Decoder, 4> decoders_;     // its own, then its helpers'
};

}  // namespace proton::device_buffer
