/// Where a backend puts what it saw.
#pragma once

#include <cstdint>

#include "model/event.h"
#include "model/ids.h"

namespace proton {

/// on_launch runs on the launching thread, with or without the GIL; the rest on driver threads:
/// those must not take the GIL or call into the driver. No call throws.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_launch(CorrelationId correlation) noexcept = 0;
  virtual void on_kernel(const KernelEvent& event) noexcept = 0;
  virtual void on_dropped(uint64_t count) noexcept = 0;  // never lose events silently
};

}  // namespace proton
