// Whether instructions can be sampled: what this process may ask without touching the driver, and
// what only a context can tell, which a process of its own makes.
#include "backends/cupti/sampler.h"
#include "base/error.h"
#include "base/text.h"

namespace proton::cupti {
namespace {

constexpr Result kMigNotSupported = 43;  // CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED

void expect_whole_gpu(const Library& library, int device) {
  char name[256] = "";
  if (library.device_name(name, sizeof(name) - 1, device) != 0) return;
  if (std::string_view(name).find(" MIG ") == std::string_view::npos) return;
  throw BackendError("cupti", concat("CUPTI cannot sample a part of a GPU (", name, ")"),
                     remedy_for(kMigNotSupported), kMigNotSupported);
}

std::string line_of(const BackendError& error) {
  return concat(error.what(), "; ", error.remedy());
}

}  // namespace

void Sampler::expect_functions() const {
  const char* missing = library_.missing_for_sampling();
  if (missing == nullptr) return;
  throw BackendError("cupti", concat(library_.path, " has no function ", missing),
                     "install CUPTI of CUDA 12.8 or newer (pip install nvidia-cuda-cupti)");
}

std::string Sampler::check() const {
  try {
    expect_functions();
    return "";
  } catch (const BackendError& error) {
    return line_of(error);
  }
}

/// On the worker, with the turn.
void Sampler::try_device() {
  int device = 0;
  Context context = nullptr;
  if (library_.init(0) != 0 || library_.device(&device, 0) != 0) {
    throw BackendError("cupti", "there is no CUDA device", "see whether `nvidia-smi` shows a GPU");
  }
  expect_whole_gpu(library_, device);
  if (const CudaResult result = library_.retain_primary_context(&context, device); result != 0) {
    throw BackendError(
        "cupti",
        concat("no CUDA context could be made on device 0: ", library_.describe_cuda(result)),
        "see whether `nvidia-smi` shows a GPU with free memory");
  }
  struct Release {
    Sampler& sampler;
    int device;
    ~Release() {
      sampler.make_current(nullptr);
      const auto release = sampler.library_.release_primary_context;
      if (release != nullptr) release(device);
    }
  };
  const Release release{*this, device};
  make_current(context);
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

std::string Sampler::probe() {
  try {
    expect_functions();
    const bool is_in_time = ask(
        [this](const Job&) {
          const Turn turn(*this, limits_.turn_ns);
          if (turn && !is_open()) try_device();
        },
        limits_.switch_ns);
    if (is_in_time) return "";
    return concat("CUPTI did not answer within ", limits_.switch_ns / 1'000'000'000,
                  " s; see `nvidia-smi` for what the GPU does");
  } catch (const BackendError& error) {
    return line_of(error);
  }
}

}  // namespace proton::cupti
