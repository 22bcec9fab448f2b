/// What tests of the recorder share: a session on the fake driver, a kernel that records, launches.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "backends/device_buffer/recorder/recorder.h"
#include "base/clock.h"
#include "check.h"
#include "fake_cuda/fake.h"
#include "kernel_buffer.h"

namespace recorder_session {

using namespace proton;
using namespace kernel_buffer;

inline constexpr uint32_t kRing = 64;
inline constexpr uint32_t kScratch = 2 * (kRing + kHeaderBytes);  // two warps a CTA
inline constexpr int64_t kLimitNs = 20'000'000'000;

/// Keeps what it is told. Told on the recorder's thread, asked after a flush.
struct Sink : EventSink {
  void on_events(std::span<const KernelEvent>) noexcept override {}
  void on_launches(std::span<const LaunchEvent>) noexcept override {}
  void on_values(std::span<const ValueEvent>) noexcept override {}
  void on_samples(const SampleBatch&) noexcept override {}
  void on_dropped(uint64_t) noexcept override {}
  void on_loss(const char*, uint64_t count) noexcept override { losses += count; }
  void on_recorded(const RecordedLaunch& launch) noexcept override {
    std::lock_guard lock(mutex);
    told.push_back(launch);
  }

  std::mutex mutex;
  std::vector<RecordedLaunch> told;
  std::atomic<uint64_t> losses{0};
};

inline thread_local ContextId here = 7;

/// A recorder with one sink, for the life of a test.
struct Session {
  explicit Session(bool with_spans = false) {
    FAKE(fake_clear)();
    recorder.load(fake::library_path());
    recorder.reporter().set_source({[]() noexcept { return here; }, []() noexcept { return here; },
                                    []() noexcept { return 0u; }, []() noexcept { return 1u; },
                                    []() noexcept { return false; }, [](uint64_t) noexcept {}});
    FAKE(fake_launch)("warm", 1, nullptr);
    SinkOptions options;
    options.with_spans = with_spans;
    options.is_active = [this] { return is_active.load(); };
    options.phase = [] { return 3; };
    recorder.start(sink, options);
  }
  ~Session() {
    FAKE(fake_set_option)("hold", 0);
    recorder.stop(sink);
  }

  bool flush(int64_t limit_ns = kLimitNs) {
    recorder.reporter().note_phases();
    return recorder.flush(limit_ns);
  }

  Recorder& recorder = Recorder::get();
  Sink sink;
  std::atomic<bool> is_active{true};
};

inline uint32_t add_kernel(Recorder& recorder, bool has_mailbox = false) {
  RecordingKernel kernel;
  kernel.name = "k";
  kernel.regions = nested(2);
  kernel.labels = {{"outer", "k.py:3"}, {"inner", ""}};
  kernel.ring_bytes = kRing;
  kernel.stream_count = 2;
  kernel.scratch_bytes = kScratch;
  kernel.has_mailbox = has_mailbox;
  return recorder.add_kernel(kernel);
}

/// What a launch of so many CTAs leaves, around now on a device whose clock is an hour ahead.
inline Buffer records(uint32_t ctas) {
  Buffer buffer({ctas, 2, kRing});
  const auto ahead = static_cast<uint64_t>(now_ns() + 3'600'000'000'000) - kStartTime;
  for (uint64_t slot = 0; slot < 2 * ctas; ++slot) {
    Warp warp;
    warp.on(static_cast<uint32_t>(slot / 2), slot % 2, slot % 4)
        .lived(ahead, 0, ahead + 1000, 1500);
    warp.start(0, 100).start(1, 200).end(1, 300).end(0, 600);
    buffer.put(slot, warp);
  }
  return buffer;
}

/// A launch from the buffer to its end, as Triton makes it.
inline void launch(Recorder& recorder, uint32_t kernel, uint32_t ctas, void* stream = nullptr) {
  static std::mutex one_function;  // that the threads of a test share
  const DeviceAddress address = recorder.allocate(size_t{ctas} * kScratch, 128, stream, false);
  {
    std::lock_guard lock(one_function);
    Buffer left = records(ctas);
    void* function = FAKE(fake_function)("k", 1000);
    FAKE(fake_function_records)(function, left.bytes().data(), left.bytes().size());
    FAKE(fake_launch_recording)(function, reinterpret_cast<void*>(address), stream);
  }
  recorder.launched(kernel);
}

}  // namespace recorder_session

using namespace recorder_session;
