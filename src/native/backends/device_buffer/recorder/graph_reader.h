/// Launches that were captured into graphs, and what their replays have left: the last replay of
/// each, and how many there were. Read when somebody flushes. Graphs are not known to be gone, so
/// launches stay for ever.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "backends/device_buffer/recorder/buffer_reader.h"

namespace proton::device_buffer {

class GraphReader {
 public:
  GraphReader(BufferPool& pool, Reporter& reporter, BufferReader& reader)
      : pool_(pool), reporter_(reporter), reader_(reader) {}

  /// Any thread.
  void add(LaunchPointer launch);
  bool empty();

  /// Reads what replays have left. On the thread of the reader.
  void read();

 private:
  void read_context(ContextMemory& memory, std::span<Launch* const> launches);
  CudaResult read_counters(ContextMemory& memory, std::vector<uint64_t>& counts);
  void read_launch(Launch& launch, std::span<const uint64_t> counts);

  BufferPool& pool_;
  Reporter& reporter_;
  BufferReader& reader_;
  std::mutex mutex_;
  std::vector<LaunchPointer> launches_;  // with mutex_; the launches themselves are the thread's
};

}  // namespace proton::device_buffer
