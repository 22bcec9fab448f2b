// Whether this GPU, driver and library can sample, asked before the program runs.
#include "backends/cupti/sampler.h"
#include "base/error.h"
#include "base/text.h"

namespace proton::cupti {
namespace {

constexpr Result kMigNotSupported = 43;  // CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED

void expect_whole_gpu(const Library& library) {
  int device = 0;
  char name[256] = "";
  if (library.init(0) != 0 || library.device(&device, 0) != 0) return;
  if (library.device_name(name, sizeof(name) - 1, device) != 0) return;
  if (std::string_view(name).find(" MIG ") == std::string_view::npos) return;
  throw BackendError("cupti", concat("CUPTI cannot sample a part of a GPU (", name, ")"),
                     remedy_for(kMigNotSupported), kMigNotSupported);
}

}  // namespace

/// On the worker.
void Sampler::probe() {
  const auto contexts = hooks_.contexts();
  if (!contexts.empty()) {
    // Others may be launching: only what does not switch. Refusals of that come at the start.
    ReasonTable().read(library_, contexts.front());
    return;
  }
  int device = 0;
  Context context = nullptr;
  if (library_.init(0) != 0 || library_.device(&device, 0) != 0) {
    throw BackendError("cupti", "there is no CUDA device", "see whether `nvidia-smi` shows a GPU");
  }
  if (const CudaResult result = library_.retain_primary_context(&context, device); result != 0) {
    throw BackendError(
        "cupti",
        concat("no CUDA context could be made on device 0: ", library_.describe_cuda(result)),
        "see whether `nvidia-smi` shows a GPU with free memory");
  }
  struct Release {
    const Library& library;
    int device;
    ~Release() {
      if (library.release_primary_context != nullptr) library.release_primary_context(device);
    }
  };
  const Release release{library_, device};
  SamplingContext given{sizeof(SamplingContext), nullptr, context};
  library_.check(library_.enable_sampling(&given), "cuptiPCSamplingEnable");
  try {
    ReasonTable().read(library_, context);
  } catch (...) {
    library_.disable_sampling(&given);
    throw;
  }
  library_.check(library_.disable_sampling(&given), "cuptiPCSamplingDisable");
}

std::string Sampler::check() {
  if (is_open()) return "";
  try {
    if (const char* missing = library_.missing_for_sampling()) {
      throw BackendError("cupti", concat(library_.path, " has no function ", missing),
                         "install CUPTI of CUDA 12.8 or newer (pip install nvidia-cuda-cupti)");
    }
    expect_whole_gpu(library_);
    const bool is_in_time = ask(
        [this](const Job&) {
          const Turn turn(*this, limits_.turn_ns);
          if (turn) probe();
        },
        limits_.switch_ns);
    if (is_in_time) return "";
    return concat("CUPTI did not answer within ", limits_.switch_ns / 1'000'000'000,
                  " s; see `nvidia-smi` for what the GPU does");
  } catch (const BackendError& error) {
    return concat(error.what(), "; ", error.remedy());
  }
}

}  // namespace proton::cupti
