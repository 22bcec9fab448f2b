/// The thread that follows launches until they have ended, empties mailboxes meanwhile, and has
/// finished launches read. It runs while a session records, and never takes the GIL. Lock order:
/// the follower's, then the pool's.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "backends/device_buffer/recorder/buffer_reader.h"
#include "backends/device_buffer/recorder/graph_reader.h"

namespace proton::device_buffer {

class Follower {
 public:
  Follower(BufferPool& pool, Reporter& reporter, BufferReader& reader, GraphReader& graphs)
      : pool_(pool), reporter_(reporter), reader_(reader), graphs_(graphs) {}

  /// A session begins.
  void start();
  /// A session has ended. The last one waits a little for the thread to end.
  void stop();

  /// Puts an event behind a launch that the calling thread has made, and follows it.
  void add(LaunchPointer launch);
  /// Waits until every launch before has been read, and what graphs left in their buffers, at most
  /// so long. False: some has not.
  bool flush(int64_t limit_ns);
  /// Launches that have not been read.
  uint64_t in_flight();

 private:
  using Launches = std::vector<LaunchPointer>;  // in the order they were launched

  void run();
  void follow(Launches& waiting);
  void wind_down(Launches& waiting);
  Launches take_left_behind();
  bool take_finished(Launches& waiting, Launches& finished);
  size_t count_ended(std::span<const LaunchPointer* const> launches);
  static void watch_mailboxes(const Launches& waiting);
  void note_waiting(const Launches& waiting);

  BufferPool& pool_;
  Reporter& reporter_;
  BufferReader& reader_;
  GraphReader& graphs_;
  std::mutex mutex_;                 // guards what follows
  std::condition_variable wake_;     // the thread
  std::condition_variable settled_;  // those who flush or stop
  std::deque<LaunchPointer> queue_;
  uint64_t launched_ = 0;         // numbers given
  uint64_t oldest_ = UINT64_MAX;  // number that the thread is still busy with
  uint64_t under_way_ = 0;        // launches that the thread has
  uint64_t graphs_asked_ = 0;     // to read graphs' buffers; counts up
  uint64_t graphs_read_ = 0;
  int sessions_ = 0;
  int flushes_ = 0;  // that wait for the thread
  bool is_running_ = false;
  bool is_stopping_ = false;
  bool is_waiting_ = false;  // the thread, until somebody wakes it up
  std::thread thread_;
};

}  // namespace proton::device_buffer
