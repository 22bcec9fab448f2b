#include "backends/cupti/driver/subscription.h"

#include <utility>

#include "backends/cuda/devices.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"

namespace proton::cupti {
namespace {

constexpr int kFirstTraceCapability = 100;  // 10.0: Blackwell
constexpr uint32_t kFlushPeriodMs = 100;

constexpr const char* kForked = "this process was forked from one that had loaded CUPTI";
constexpr const char* kSpawn = "start processes that use the GPU with the 'spawn' method";

uint64_t read_host_clock() { return static_cast<uint64_t>(now_ns()); }

/// CUPTI itself tells only when it is too late, and in one word.
void expect_match(const Library& library) {
  constexpr int kOldestDriver = 12000;
  constexpr uint32_t kFirstOf13 = 130000;  // earlier ones have small numbers
  const int driver = driver_version(library);
  const auto served = concat("CUDA ", driver / 1000, ".", driver % 1000 / 10);
  if (driver < kOldestDriver) {
    throw BackendError("cupti", concat("the NVIDIA driver is too old: it serves ", served),
                       "install driver 525 or later, which serves CUDA 12");
  }
  if (library.version >= kFirstOf13 && driver < 13000) {
    throw BackendError("cupti",
                       concat(library.path, " is of CUDA ", library.version / 10000,
                              ", but the NVIDIA driver serves ", served),
                       "use a libcupti of CUDA 12 (pip install nvidia-cuda-cupti-cu12, or "
                       "TRITON_CUPTI_LIB_PATH=folder), or install driver 580 or later");
  }
}

std::string capability_text(int capability) {
  return concat(capability / 10, ".", capability % 10);
}

}  // namespace

uint32_t Subscription::load(const std::string& cupti_path, const std::string& cuda_path) {
  if (!is_loaded()) {
    Library opened = Library::open(cupti_path, cuda_path);
    expect_match(opened);
    library_ = std::move(opened);
    is_loaded_.store(true, std::memory_order_release);
  }
  return library_.version;
}

void Subscription::expect_usable() const {
  if (!is_loaded()) {
    throw BackendError("cupti", "CUPTI is not loaded", "load it before a session is started");
  }
  if (is_forked_) throw BackendError("cupti", kForked, kSpawn);
}

ClockPair Subscription::open() {
  ClockPair now;
  const Result result = library_.subscribe(&subscriber_, functions_.callback, functions_.user);
  if (result == kMultipleSubscribers) {
    throw BackendError("cupti", concat(describe_holder(), " (error ", result, ")"),
                       remedy_for(result), result);
  }
  library_.check(result, "cuptiSubscribe");
  is_open_ = is_attached_ = true;
  try {
    library_.check(
        library_.register_callbacks(functions_.buffer_requested, functions_.buffer_completed),
        "cuptiActivityRegisterCallbacks");
    // Once a process: registering again corrupts the first records of later sessions.
    if (!has_timestamp_) has_timestamp_ = library_.register_timestamp(read_host_clock) == kSuccess;
    now = read_clocks();
    for (const uint32_t cbid : {kContextCreated, kContextDestroyStarting}) {
      library_.check(library_.enable_callback(1, subscriber_, kResourceDomain, cbid),
                     "cuptiEnableCallback");
    }
  } catch (...) {
    close();
    throw;
  }
  give_zeroed_buffers();
  return now;
}

void Subscription::close() {
  take_back_zeroed_buffers();
  library_.unsubscribe(subscriber_);
  is_open_ = false;
  subscriber_ = nullptr;
}

void Subscription::register_buffers(std::vector<std::string>& warnings) {
  const Result result =
      library_.register_callbacks(functions_.buffer_requested, functions_.buffer_completed);
  if (result == kSuccess) return;
  warnings.push_back(concat("cuptiActivityRegisterCallbacks failed with ",
                            library_.describe(result),
                            ": where another tool has given CUPTI its buffers, events go there"));
}

/// Tells CUPTI that our buffers are zeroed.
void Subscription::give_zeroed_buffers() {
  size_t size = sizeof(uint8_t);
  buffers_.prepare();
  if (library_.get_attribute(kZeroedBuffers, &size, &zeroed_before_) != kSuccess) return;
  uint8_t yes = 1;
  has_zeroed_ = library_.set_attribute(kZeroedBuffers, &size, &yes) == kSuccess;
}

/// Puts back what it was told before us.
void Subscription::take_back_zeroed_buffers() {
  if (!std::exchange(has_zeroed_, false)) return;
  size_t size = sizeof(uint8_t);
  library_.set_attribute(kZeroedBuffers, &size, &zeroed_before_);
}

ClockPair Subscription::read_clocks() const {
  ClockPair best;
  int64_t best_gap = INT64_MAX;
  for (int i = 0; i < 5; ++i) {
    uint64_t cupti_ns = 0;
    const int64_t before = now_ns();
    library_.check(library_.get_timestamp(&cupti_ns), "cuptiGetTimestamp");
    const int64_t after = now_ns();
    if (after - before >= best_gap) continue;
    best_gap = after - before;
    best = {static_cast<int64_t>(cupti_ns), before + best_gap / 2};
  }
  return best;
}

/// With its name, where the library can tell.
std::string Subscription::describe_holder() {
  constexpr const char* kAnother = "another tool holds CUPTI";
  if (library_.subscribe_v2 == nullptr) return kAnother;
  char name[kOldSubscriberNameSize] = "";
  SubscriberParams params{sizeof(SubscriberParams), "proton", name, sizeof(name)};
  Subscriber other = nullptr;
  if (library_.subscribe_v2(&other, functions_.callback, functions_.user, &params) == kSuccess) {
    library_.unsubscribe(other);
    return kAnother;
  }
  name[sizeof(name) - 1] = '\0';
  return concat(kAnother, name[0] == '\0' ? "" : ": ", name);
}

std::string Subscription::check() {
  if (!is_loaded()) return "CUPTI is not loaded; load it first";
  if (is_forked_) return concat(kForked, "; ", kSpawn);
  if (is_open_) return "";
  Subscriber probe = nullptr;
  const auto ignore = [](void*, int, uint32_t, const void*) {};
  const Result result = library_.subscribe(&probe, ignore, nullptr);
  if (result == kSuccess) library_.unsubscribe(probe);
  if (result != kMultipleSubscribers) return "";
  return concat(describe_holder(), " (error ", result, "); ", remedy_for(result));
}

bool Subscription::let_go() {
  // CUPTI would go for all: another tool that has come since would lose what it records.
  Subscriber probe = nullptr;
  if (library_.subscribe(&probe, functions_.callback, functions_.user) != kSuccess) return false;
  library_.unsubscribe(probe);
  if (library_.finalize() != kSuccess) return false;
  is_attached_ = was_sampled_ = false;
  return true;
}

std::string Subscription::enable_hw_trace(ContextList& contexts) {
  if (has_hw_trace_ || !is_open_ || is_forked_) return "";
  const std::string why = try_hw_trace(contexts);
  has_hw_trace_ = why.empty();
  if (has_hw_trace_ || std::exchange(has_said_no_hw_trace_, true)) return "";
  return concat("TRITON_ENABLE_HW_TRACE has no effect: ", why, "; kernels are timed without it");
}

/// Why not, or "" where it is on. CUPTI 12.8 wants the driver initialised before, and every version
/// then answers at once whether the machine can.
std::string Subscription::try_hw_trace(ContextList& contexts) {
  if (library_.enable_hw_trace == nullptr) {
    return concat(library_.path,
                  " has no function cuptiActivityEnableHWTrace, which CUPTI has from CUDA 12.8 on");
  }
  if (const CudaResult result = library_.init(0); result != 0) {
    return concat("cuInit failed with ", library_.describe_cuda(result));
  }
  const int newest = newest_capability(library_);
  if (newest < kFirstTraceCapability) {
    return concat("it needs a GPU of compute capability ", capability_text(kFirstTraceCapability),
                  " or later (Blackwell), and the newest one here has ", capability_text(newest));
  }
  if (contexts.has_any()) {
    return "the program has a CUDA context already; start the session before its first use of the "
           "GPU";
  }
  const Result result = library_.enable_hw_trace(1);
  if (result == kSuccess) {
    // The hardware's buffer is small, and CUPTI empties it only when told to.
    library_.flush_period(kFlushPeriodMs);
    return "";
  }
  return concat("cuptiActivityEnableHWTrace failed with ", library_.describe(result),
                "; it does not exist under MPS, MIG, SLI, WSL, virtualisation or confidential "
                "computing");
}

void Subscription::abandon() {
  is_forked_ = is_loaded();
  is_open_ = false;
}

}  // namespace proton::cupti
