/// Sessions that sample, on the fake driver: sinks that keep every count, limits for tests.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gpu.h"
#include "model/sample.h"

namespace gpu {

using proton::cupti::Sampler;
using proton::cupti::SamplingOptions;

/// Samples, and those of them that are latency samples.
struct Seen {
  uint64_t samples = 0;
  uint64_t latency = 0;

  bool operator==(const Seen&) const = default;
};
/// "function+pc reason" -> what was seen there.
using SeenMap = std::map<std::string, Seen>;

inline std::ostream& operator<<(std::ostream& out, const SeenMap& all) {
  for (const auto& [place, seen] : all) {
    out << "\n    " << place << ": " << seen.samples << ", " << seen.latency << " latency";
  }
  return out;
}

class SampleSink final : public proton::EventSink {
 public:
  void on_events(std::span<const proton::KernelEvent> events) noexcept override {
    const std::lock_guard lock(mutex_);
    event_count_ += events.size();
  }
  void on_launches(std::span<const proton::LaunchEvent>) noexcept override {}
  void on_values(std::span<const proton::ValueEvent>) noexcept override {}
  void on_dropped(uint64_t count) noexcept override { on_loss("dropped_event", count); }
  void on_loss(const char* kind, uint64_t count) noexcept override {
    const std::lock_guard lock(mutex_);
    losses_[kind] += count;
  }
  void on_samples(const proton::SampleBatch& batch) noexcept override {
    const std::lock_guard lock(mutex_);
    for (const proton::SampledPc& pc : batch.pcs) {
      for (size_t reason = 0; reason < batch.reasons.size(); ++reason) {
        if (pc.samples[reason] == 0 && pc.latency[reason] == 0) continue;
        const std::string place =
            std::string(pc.function) + "+" + std::to_string(pc.pc) + " " + batch.reasons[reason];
        seen_[place].samples += pc.samples[reason];
        seen_[place].latency += pc.latency[reason];
        modules_[pc.module] += pc.samples[reason];
        devices_[batch.device_id] += pc.samples[reason];
        total_ += pc.samples[reason];
      }
    }
  }

  SeenMap seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  std::map<uint64_t, uint64_t> modules() {
    const std::lock_guard lock(mutex_);
    return modules_;
  }
  std::map<uint32_t, uint64_t> devices() {
    const std::lock_guard lock(mutex_);
    return devices_;
  }
  uint64_t total() {
    const std::lock_guard lock(mutex_);
    return total_;
  }
  uint64_t event_count() {
    const std::lock_guard lock(mutex_);
    return event_count_;
  }
  std::map<std::string, uint64_t> losses() {
    const std::lock_guard lock(mutex_);
    return losses_;
  }

 private:
  std::mutex mutex_;
  SeenMap seen_;
  std::map<uint64_t, uint64_t> modules_;
  std::map<uint32_t, uint64_t> devices_;
  uint64_t total_ = 0;
  uint64_t event_count_ = 0;
  std::map<std::string, uint64_t> losses_;
};

/// A session without Python that samples, from its start to its end.
class SampledSession {
 public:
  explicit SampledSession(std::optional<SamplingOptions> sampling = SamplingOptions{}) {
    SinkOptions options;
    options.sampling = sampling;
    hub().start(sink, options, 0);
    try {
      warnings = hub().set_active(sink, true);
    } catch (...) {
      hub().stop(sink);
      throw;
    }
  }
  ~SampledSession() { close(); }
  SampledSession(const SampledSession&) = delete;
  SampledSession& operator=(const SampledSession&) = delete;

  void close() {
    if (!is_open_) return;
    is_open_ = false;
    hub().set_active(sink, false);
    hub().stop(sink);
  }
  bool flush() { return hub().flush(60 * kSecond, true); }

  SampleSink sink;
  std::vector<std::string> warnings;

 private:
  bool is_open_ = true;
};

/// Every test begins with it: no grace for launches that nobody could have begun.
inline void begin_sampling(Sampler::Limits limits = {.grace_ns = 1'000'000}) {
  begin();
  hub().sampler().set_limits(limits);
}

/// What the error of a start says, or "" where it starts.
inline std::string error_of_sampling() {
  try {
    SampledSession session;
    return "";
  } catch (const proton::BackendError& error) {
    return std::string(error.what()) + "; " + error.remedy();
  }
}

}  // namespace gpu
