/// Gives kernels that record their buffers, and brings what they recorded to the sessions. Launches
/// are never waited for: an event behind each tells a thread of our own when its buffer can be
/// copied (on a stream of our own), decoded, zeroed and used again. One for the process.
///
/// A front for the parts: BufferPool gives buffers, Follower sees launches end, BufferReader and
/// GraphReader read them, Reporter tells the sessions. `allocate` and `launched` run on launching
/// threads, under the GIL.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/device_buffer/recorder/buffer_pool.h"
#include "backends/device_buffer/recorder/buffer_reader.h"
#include "backends/device_buffer/recorder/follower.h"
#include "backends/device_buffer/recorder/graph_reader.h"
#include "backends/device_buffer/recorder/problems.h"
#include "backends/device_buffer/recorder/reporter.h"

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

class Recorder {
 public:
  /// Never destroyed: the thread may outlive main.
  static Recorder& get();

  /// Opens the driver, once. Throws BackendError.
  void load(const std::string& cuda_path);
  bool is_loaded() const { return is_loaded_.load(std::memory_order_acquire); }
  const CudaDriver& driver() const { return driver_; }
  BufferPool& pool() { return pool_; }
  Reporter& reporter() { return reporter_; }

  /// A number for the kernel, to be given to `launched`. Never forgotten.
  uint32_t add_kernel(RecordingKernel kernel);
  std::string kernel_name(uint32_t number);

  /// Reports to `sink` until `stop`.
  void start(EventSink& sink, SinkOptions options);
  /// Afterwards nothing refers to the sink. Waits for what it is being told at the moment.
  void stop(EventSink& sink);

  /// The buffer for a launch that the calling thread is about to make: zeroed once the stream gets
  /// there. `in_host_memory`: of kernels with a mailbox. Throws BackendError: no memory.
  DeviceAddress allocate(size_t bytes, size_t alignment, CudaStream stream, bool in_host_memory);
  /// Whether the calling thread was given a buffer for a launch that it has not told of yet.
  static bool has_buffer() { return pending_.block != nullptr; }
  /// The launch was made; nothing: it had no buffer. `note` comes back with a kept buffer.
  void launched(uint32_t kernel, uint64_t note = 0);
  /// The launch was made and nobody knows of which kernel: its buffer is not read, and is counted.
  void unread();

  /// From now on launches of the calling thread are for this session alone; null: for all.
  static void set_only(const EventSink* sink) { only_ = sink; }
  /// The name of the calling thread's device, and the driver's version. Throws BackendError.
  std::pair<std::string, int> describe_device();

  /// Waits until everything launched before, and what graphs left in their buffers, has been
  /// reported, at most so long. False: some has not.
  /// Without the GIL, after the reporter's `note_phases` with it: replays of graphs are booked in
  /// these phases.
  bool flush(int64_t limit_ns) { return follower_.flush(limit_ns); }
  RecorderStats stats();
  /// What went wrong, as lines for the user; each once.
  std::vector<std::string> take_problems() { return problems_.take(); }

  /// In a forked child: everything is the parent's.
  void abandon() noexcept;

 private:
  /// Of a thread that was given a buffer: says so when the thread ends without telling of a launch.
  struct ThreadEnd {
    ~ThreadEnd();
  };

  const RecordingKernel* find_kernel(uint32_t number);
  bool give_up();

  static thread_local LaunchBuffer pending_;  // handed out, until its launch has been made
  static thread_local const EventSink* only_;

  CudaDriver driver_{.backend = "instrumentation"};
  std::atomic<bool> is_loaded_{false};
  std::mutex mutex_;  // guards the kernels, and loading
  std::vector<std::unique_ptr<const RecordingKernel>> kernels_;
  Problems problems_;
  BufferPool pool_{driver_, problems_};
  Reporter reporter_{problems_};
  BufferReader reader_{pool_, reporter_};
  GraphReader graphs_{pool_, reporter_, reader_};
  Follower follower_{pool_, reporter_, reader_, graphs_};
};

}  // namespace proton::device_buffer
