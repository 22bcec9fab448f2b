// The device path of a session, continued: samples of instructions.
#include "model/losses.h"
#include "session/session.h"

namespace proton {

/// Samples have no launch to belong to: they are of the phase in which they arrive.
void Session::on_samples(const SampleBatch& batch) noexcept {
  try {
    std::lock_guard lock(mutex_);
    SampleTable& table = current_->samples;
    const uint32_t device = find_device(batch.device_type, batch.device_id);
    std::vector<uint32_t> reasons;
    reasons.reserve(batch.reasons.size());
    for (const std::string& reason : batch.reasons) reasons.push_back(reasons_.intern(reason));
    std::string_view last_name;  // pcs of one function come together
    uint64_t last_module = 0;
    uint32_t function = 0;
    for (const SampledPc& pc : batch.pcs) {
      if (&pc == batch.pcs.data() || pc.module != last_module || pc.function != last_name) {
        function = table.function_of({kernel_names_.intern(pc.function), device, pc.module});
        last_name = pc.function;
        last_module = pc.module;
      }
      table.add(function, pc.pc, reasons, pc.samples, pc.latency);
    }
  } catch (...) {
    count_loss(losses::kInternal);
  }
}

}  // namespace proton
