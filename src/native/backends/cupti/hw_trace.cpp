// Kernel times by the hardware's own events (Blackwell and later), where the user asks for them:
// switched on before the first context, for the rest of the process.
#include <utility>

#include "backends/cupti/devices.h"
#include "backends/cupti/hub.h"
#include "base/text.h"

namespace proton::cupti {
namespace {

constexpr int kFirstCapability = 100;  // 10.0: Blackwell
constexpr uint32_t kFlushPeriodMs = 100;

std::string capability_text(int capability) {
  return concat(capability / 10, ".", capability % 10);
}

/// Whether a device has a context that anybody can have launched to; also those of other threads.
bool has_primary_context(const Library& library) {
  int count = 0;
  if (library.device_count(&count) != 0) return false;
  for (int index = 0; index < count; ++index) {
    int device = 0, is_active = 0;
    unsigned flags = 0;
    if (library.device(&device, index) != 0) continue;
    if (library.primary_context_state(device, &flags, &is_active) == 0 && is_active != 0) {
      return true;
    }
  }
  return false;
}

bool has_current_context(const Library& library) {
  Context context = nullptr;
  return library.current_context(&context) == 0 && context != nullptr;
}

}  // namespace

std::string Hub::enable_hw_trace() {
  std::lock_guard lock(control_);
  if (has_hw_trace_ || !is_subscribed_ || is_forked_) return "";
  std::string why = try_hw_trace();
  has_hw_trace_ = why.empty();
  if (has_hw_trace_ || std::exchange(has_said_no_hw_trace_, true)) return "";
  return concat("TRITON_ENABLE_HW_TRACE has no effect: ", why, "; kernels are timed without it");
}

/// Why not, or "" where it is on. CUPTI 12.8 wants the driver initialised before, and every version
/// then answers at once whether the machine can.
std::string Hub::try_hw_trace() {
  if (library_.enable_hw_trace == nullptr) {
    return concat(library_.path,
                  " has no function cuptiActivityEnableHWTrace, which CUPTI has from CUDA 12.8 on");
  }
  if (const CudaResult result = library_.init(0); result != 0) {
    return concat("cuInit failed with ", library_.describe_cuda(result));
  }
  const int newest = newest_capability(library_);
  if (newest < kFirstCapability) {
    return concat("it needs a GPU of compute capability ", capability_text(kFirstCapability),
                  " or later (Blackwell), and the newest one here has ", capability_text(newest));
  }
  bool has_context = has_primary_context(library_) || has_current_context(library_);
  {
    std::lock_guard lock(contexts_mutex_);
    has_context |= !contexts_.empty();
  }
  if (has_context) {
    return "the program has a CUDA context already; start the session before its first use of the "
           "GPU";
  }
  const Result result = library_.enable_hw_trace(1);
  if (result == kSuccess) {
    // The hardware's buffer is small, and CUPTI empties it only when told to.
    if (library_.flush_period != nullptr) library_.flush_period(kFlushPeriodMs);
    return "";
  }
  return concat("cuptiActivityEnableHWTrace failed with ", library_.describe(result),
                "; it does not exist under MPS, MIG, SLI, WSL, virtualisation or confidential "
                "computing");
}

}  // namespace proton::cupti
