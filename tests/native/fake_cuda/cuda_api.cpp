/// libcuda's names that a profiler or a small program calls: devices, contexts, streams, names.
#include <cstring>
#include <utility>

#include "driver.h"
#include "fake_cuda.h"

namespace fake {
namespace {

bool is_device(int device) { return device >= 0 && device < state().options.device_count.load(); }

/// An attribute as an H200 has it.
int attribute_of(int attribute) {
  const auto capability = static_cast<int>(state().options.compute_capability.load());
  switch (attribute) {
    case 1:
      return 1024;  // threads per block
    case 8:
      return 49152;  // shared memory per block
    case 10:
      return 32;  // warp size
    case 12:
      return 65536;  // registers per block
    case 13:
      return 1980000;  // clock, kHz
    case 16:
      return 132;  // multiprocessors
    case 33:
      return 0x19;  // PCI bus
    case 36:
      return 3201000;  // memory clock, kHz
    case 37:
      return 6144;  // memory bus, bits
    case 38:
      return 62914560;  // L2, bytes
    case 39:
      return 2048;  // threads per multiprocessor
    case 75:
      return capability / 10;
    case 76:
      return capability % 10;
    case 81:
      return 233472;  // shared memory per multiprocessor
    case 82:
      return 65536;  // registers per multiprocessor
    case 106:
      return 32;  // blocks per multiprocessor
    default:
      return 0;
  }
}

}  // namespace
}  // namespace fake

using namespace fake;

FAKE_EXPORT(cuInit, unsigned) {
  FAKE_ENTER(cuInit);
  return state().options.device_count.load() > 0 ? 0 : int{kCudaNoDevice};
}

FAKE_EXPORT(cuDriverGetVersion, int* version) {
  FAKE_ENTER(cuDriverGetVersion);
  *version = static_cast<int>(state().options.driver_version.load());
  return 0;
}

FAKE_EXPORT(cuGetErrorName, int error, const char** text) {
  FAKE_ENTER(cuGetErrorName);
  *text = error == 0     ? "CUDA_SUCCESS"
          : error == 3   ? "CUDA_ERROR_NOT_INITIALIZED"
          : error == 100 ? "CUDA_ERROR_NO_DEVICE"
          : error == 709 ? "CUDA_ERROR_CONTEXT_IS_DESTROYED"
                         : "CUDA_ERROR_UNKNOWN";
  return 0;
}

FAKE_EXPORT(cuGetErrorString, int error, const char** text) {
  FAKE_ENTER(cuGetErrorString);
  *text = error == 0     ? "no error"
          : error == 3   ? "initialization error"
          : error == 100 ? "no CUDA-capable device is detected"
          : error == 709 ? "context is destroyed"
                         : "unknown error";
  return 0;
}

FAKE_EXPORT(cuDeviceGetCount, int* count) {
  FAKE_ENTER(cuDeviceGetCount);
  *count = static_cast<int>(state().options.device_count.load());
  return 0;
}

FAKE_EXPORT(cuDeviceGet, int* device, int ordinal) {
  FAKE_ENTER(cuDeviceGet);
  if (!is_device(ordinal)) return kCudaInvalidDevice;
  *device = ordinal;
  return 0;
}

FAKE_EXPORT(cuDeviceGetName, char* name, int size, int device) {
  FAKE_ENTER(cuDeviceGetName);
  if (!is_device(device)) return kCudaInvalidDevice;
  const char* text = state().options.is_mig.load() != 0 ? "Fake GPU MIG 1g.18gb" : "Fake GPU";
  std::strncpy(name, text, static_cast<size_t>(size) - 1);
  name[size - 1] = '\0';
  return 0;
}

FAKE_EXPORT(cuDeviceGetAttribute, int* value, int attribute, int device) {
  FAKE_ENTER(cuDeviceGetAttribute);
  if (!is_device(device)) return kCudaInvalidDevice;
  *value = attribute_of(attribute);
  return 0;
}

FAKE_EXPORT(cuDeviceTotalMem_v2, size_t* bytes, int device) {
  FAKE_ENTER(cuDeviceTotalMem_v2);
  if (!is_device(device)) return kCudaInvalidDevice;
  *bytes = size_t{139} << 30;
  return 0;
}

FAKE_EXPORT(cuDeviceGetUuid_v2, unsigned char* uuid, int device) {
  FAKE_ENTER(cuDeviceGetUuid_v2);
  if (!is_device(device)) return kCudaInvalidDevice;
  std::memset(uuid, 0, 16);
  uuid[15] = static_cast<unsigned char>(device);
  return 0;
}

FAKE_EXPORT(cuDevicePrimaryCtxRetain, void** context, int device) {
  FAKE_ENTER(cuDevicePrimaryCtxRetain);
  if (!is_device(device)) return kCudaInvalidDevice;
  *context = &primary_context(device);
  return 0;
}

FAKE_EXPORT(cuDevicePrimaryCtxGetState, int device, unsigned* flags, int* is_active) {
  FAKE_ENTER(cuDevicePrimaryCtxGetState);
  if (!is_device(device)) return kCudaInvalidDevice;
  State& all = state();
  const std::lock_guard lock(all.mutex);
  const auto found = all.primaries.find(device);
  *flags = 0;
  *is_active = found != all.primaries.end() && !found->second->is_destroyed.load() ? 1 : 0;
  return 0;
}

FAKE_EXPORT(cuCtxGetCurrent, void** context) {
  FAKE_ENTER(cuCtxGetCurrent);
  *context = local().context;
  return 0;
}

FAKE_EXPORT(cuCtxSetCurrent, void* context) {
  FAKE_ENTER(cuCtxSetCurrent);
  local().context = static_cast<Context*>(context);
  return 0;
}

FAKE_EXPORT(cuCtxGetDevice, int* device) {
  FAKE_ENTER(cuCtxGetDevice);
  if (local().context == nullptr) return kCudaInvalidContext;
  *device = local().context->device;
  return 0;
}

FAKE_EXPORT(cuCtxSynchronize) {
  FAKE_ENTER(cuCtxSynchronize);
  if (local().context == nullptr) return kCudaInvalidContext;
  if (local().context->is_destroyed.load()) return kCudaContextIsDestroyed;
  complete_all();
  return 0;
}

FAKE_EXPORT(cuStreamSynchronize, void*) {
  FAKE_ENTER(cuStreamSynchronize);
  complete_all();
  return 0;
}

FAKE_EXPORT(cuStreamCreate, void** stream, unsigned) {
  FAKE_ENTER(cuStreamCreate);
  *stream = fake_stream_create();
  return 0;
}

FAKE_EXPORT(cuStreamIsCapturing, void* stream, int* status) {
  FAKE_ENTER(cuStreamIsCapturing);
  *status = stream_of(stream).capture.load() != nullptr ? 1 : 0;
  return 0;
}

FAKE_EXPORT(cuFuncGetName, const char** name, void* function) {
  FAKE_ENTER(cuFuncGetName);
  if (function == nullptr) return kCudaInvalidHandle;
  *name = static_cast<Function*>(function)->name;
  return 0;
}

FAKE_EXPORT(cuFuncGetAttribute, int* value, int attribute, void* function) {
  FAKE_ENTER(cuFuncGetAttribute);
  if (function == nullptr) return kCudaInvalidHandle;
  const auto& one = *static_cast<Function*>(function);
  *value = attribute == 1   ? one.static_shared_bytes
           : attribute == 3 ? one.local_bytes
           : attribute == 4 ? one.registers
                            : 0;
  return 0;
}

FAKE_EXPORT(cuDevicePrimaryCtxRelease_v2, int device) {
  FAKE_ENTER(cuDevicePrimaryCtxRelease_v2);
  return is_device(device) ? 0 : int{kCudaInvalidDevice};
}

FAKE_EXPORT(cuThreadExchangeStreamCaptureMode, int* mode) {
  FAKE_ENTER(cuThreadExchangeStreamCaptureMode);
  static thread_local int current = 0;
  std::swap(*mode, current);
  return 0;
}
