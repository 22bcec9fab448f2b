/// What runs on launching threads, inside the driver's calls: notes where each launch belongs. It
/// must not throw, and the usual launch takes no lock and allocates nothing after a thread's first.
#pragma once

#include <atomic>
#include <cstdint>

#include "backends/common/launch_table.h"
#include "backends/common/sweeper.h"
#include "backends/cupti/driver/contexts.h"
#include "backends/cupti/driver/thread_cells.h"
#include "backends/cupti/sampling/sampler.h"
#include "model/event_sink.h"

namespace proton::cupti {

class LaunchRecorder {
 public:
  // What launching threads must note, as bits: these, and those of Need below 32
  static constexpr uint32_t kCountOnly = 32;  // launches are only counted
  /// CUPTI records kernels: whoever launches one now will get its record.
  static constexpr uint32_t kRecorded = 64;
  static constexpr uint32_t kCapturedNeeds =
      kNeedsShadow | kNeedsPython | kNeedsCalls | kNeedsGraphTimes | kNeedsSamples;

  LaunchRecorder(ContextList& contexts, Sampler& sampler)
      : contexts_(contexts), sampler_(sampler) {}

  void set_source(const ContextSource& source) { source_ = source; }
  const ContextSource& source() const { return source_; }

  // With the hub's control lock
  /// 0: nothing.
  void set_captures(uint32_t captures) {
    captures_.store(captures == 0 ? 0 : captures | table_.generation() << kGenerationShift,
                    std::memory_order_relaxed);
  }
  /// From here on launches are only numbered, so that none of them seems to be of a later time.
  void stop_noting() {
    captures_.fetch_and(~(kRecorded | kNeedsShadow | kNeedsPython), std::memory_order_relaxed);
  }

  // Any thread
  uint32_t captures() const { return captures_.load(std::memory_order_relaxed); }
  LaunchTable& table() { return table_; }
  Sweeper& sweeper() { return sweeper_; }

  /// Called by CUPTI.
  void on_launch(uint32_t cbid, const CallbackData& data) noexcept;

 private:
  static constexpr int kGenerationShift = 8;

  [[gnu::noinline]] void enter(uint32_t cbid, const CallbackData& data, uint32_t captures) noexcept;
  [[gnu::noinline]] void leave(const CallbackData& data, uint32_t captures,
                               bool has_failed) noexcept;

  ContextList& contexts_;
  Sampler& sampler_;
  ContextSource source_{};

  /// These bits, and above them the generation, which tells launches of this
  /// subscription from those that began before. 0: nothing.
  alignas(64) std::atomic<uint32_t> captures_{0};  // with what else a launch reads
  LaunchTable table_{launch_cells()};
  Sweeper sweeper_;
};

}  // namespace proton::cupti
