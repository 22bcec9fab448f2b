/// What libcupti has from 12.8 on; not linked into the library that plays 12.6.
#include "driver.h"

using namespace fake;

/// Kernel times by the hardware's own events: on Blackwell, before the first context, for good.
FAKE_EXPORT(cuptiActivityEnableHWTrace, uint8_t enable) {
  FAKE_ENTER(cuptiActivityEnableHWTrace);
  State& all = state();
  if (enable == 0) return kInvalidOperation;  // it cannot be disabled
  if (all.options.compute_capability.load() < 100) return kNotSupported;
  if (all.options.is_mig.load() != 0) return kMigNotSupported;
  const std::lock_guard lock(all.mutex);
  if (!all.contexts.empty()) {
    all.counters.violations.fetch_add(1);
    all.violations += "cuptiActivityEnableHWTrace called after a context was made\n";
    return kInvalidOperation;
  }
  all.has_hw_trace.store(true);
  return 0;
}
