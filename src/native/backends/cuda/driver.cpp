#include "backends/cuda/driver.h"

#include "backends/common/loaded_library.h"
#include "base/error.h"
#include "base/text.h"

namespace proton {

void CudaDriver::open_driver(const std::string& path) {
  const LoadedLibrary library(
      path, "the CUDA driver library", backend,
      "install NVIDIA's driver (CUDA 12 or newer), or give backend='interpreter'");
#define PROTON_FIND(name, symbol, ...) library.find(name, #symbol);
  PROTON_CUDA_FUNCTIONS(PROTON_FIND)
#undef PROTON_FIND
}

std::string CudaDriver::describe_cuda(CudaResult result) const {
  const char* text = nullptr;
  if (error_string(result, &text) != kCudaSuccess) text = nullptr;
  return concat(text == nullptr ? "unknown error" : text, " (error ", result, ")");
}

void CudaDriver::check_cuda(CudaResult result, const char* function, const char* remedy) const {
  if (result == kCudaSuccess) return;
  throw BackendError(backend, concat(function, " failed with ", describe_cuda(result)), remedy,
                     result);
}

}  // namespace proton
