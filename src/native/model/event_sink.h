/// Where a backend puts what it saw, and whom it asks where a launch belongs.
#pragma once

#include <cstdint>
#include <span>

#include "model/device_value.h"
#include "model/event.h"
#include "model/ids.h"
#include "model/recorded_launch.h"
#include "model/sample.h"

namespace proton {

/// Called on driver threads: never takes the GIL or calls into the driver. No call throws.
class EventSink {
 public:
  virtual ~EventSink() = default;
  /// One lock for all of them.
  virtual void on_events(std::span<const KernelEvent> events) noexcept = 0;
  virtual void on_launches(std::span<const LaunchEvent> launches) noexcept = 0;
  virtual void on_values(std::span<const ValueEvent> values) noexcept = 0;
  virtual void on_samples(const SampleBatch& batch) noexcept = 0;
  virtual void on_recorded(const RecordedLaunch&) noexcept {}  // of kernels that record
  virtual void on_dropped(uint64_t count) noexcept = 0;        // never lose events silently
  virtual void on_loss(const char* kind, uint64_t count) noexcept = 0;
};

/// Asked on the launching thread, with or without the GIL, where its work belongs. Plain functions
/// of process-wide state: a session may end while another thread asks. None throws or locks, but
/// for `python`, which may take the GIL when it sees a frame for the first time.
struct ContextSource {
  ContextId (*shadow)() noexcept;
  ContextId (*python)() noexcept;
  uint32_t (*thread_number)() noexcept;
  uint32_t (*epoch)() noexcept;     // contexts of an earlier epoch are void
  bool (*is_with_lead)() noexcept;  // whether its work belongs to what the lead thread has open
  void (*forget_node)(uint64_t node) noexcept;  // a captured node that metrics rode on is gone
};

}  // namespace proton
