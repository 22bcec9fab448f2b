/// libcuda's names that Proton calls: the recorded devices, and no work to wait for.
#include <cstring>

#include "player.h"

using namespace player;

PLAYER_EXPORT int cuInit(unsigned) { return 0; }

PLAYER_EXPORT int cuDriverGetVersion(int* version) {
  *version = static_cast<int>(state().recording.fact("driver_version", 13000));
  return 0;
}

PLAYER_EXPORT int cuGetErrorString(int, const char** text) {
  *text = "an error of the player";
  return 0;
}

PLAYER_EXPORT int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(state().recording.fact("device_count", 1));
  return 0;
}

PLAYER_EXPORT int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}

PLAYER_EXPORT int cuDeviceGetName(char* name, int size, int device) {
  const auto& facts = state().recording.facts;
  const auto found = facts.find("device." + std::to_string(device) + ".name");
  std::strncpy(name, found == facts.end() ? "unknown" : found->second.c_str(),
               static_cast<size_t>(size) - 1);
  name[size - 1] = '\0';
  return 0;
}

PLAYER_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = static_cast<int>(state().recording.fact(
      "device." + std::to_string(device) + "." + std::to_string(attribute), 0));
  return 0;
}

PLAYER_EXPORT int cuDevicePrimaryCtxGetState(int, unsigned* flags, int* is_active) {
  *flags = 0;
  *is_active = 0;
  return 0;
}

PLAYER_EXPORT int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &state();
  return 0;
}

PLAYER_EXPORT int cuDevicePrimaryCtxRelease_v2(int) { return 0; }

PLAYER_EXPORT int cuCtxSetCurrent(void*) { return 0; }

PLAYER_EXPORT int cuCtxSynchronize() { return 0; }

PLAYER_EXPORT int cuThreadExchangeStreamCaptureMode(int*) { return 0; }

// What Proton may call to read values from the device: there is none.

PLAYER_EXPORT int cuCtxGetCurrent(void** context) {
  *context = nullptr;
  return 0;
}

#define PLAYER_REFUSES(name) \
  PLAYER_EXPORT int name() { return 801; /* CUDA_ERROR_NOT_SUPPORTED */ }

PLAYER_REFUSES(cuCtxGetDevice)
PLAYER_REFUSES(cuCtxGetId)
PLAYER_REFUSES(cuCtxPushCurrent_v2)
PLAYER_REFUSES(cuCtxPopCurrent_v2)
PLAYER_REFUSES(cuModuleLoadData)
PLAYER_REFUSES(cuModuleGetFunction)
PLAYER_REFUSES(cuMemHostRegister_v2)
PLAYER_REFUSES(cuMemHostUnregister)
PLAYER_REFUSES(cuMemHostGetDevicePointer_v2)
PLAYER_REFUSES(cuStreamIsCapturing)
PLAYER_REFUSES(cuLaunchKernel)
PLAYER_REFUSES(cuDeviceGetUuid_v2)
PLAYER_REFUSES(cuEventCreate)
PLAYER_REFUSES(cuEventDestroy_v2)
PLAYER_REFUSES(cuEventQuery)
PLAYER_REFUSES(cuEventRecord)
PLAYER_REFUSES(cuMemAlloc_v2)
PLAYER_REFUSES(cuMemFreeHost)
PLAYER_REFUSES(cuMemFree_v2)
PLAYER_REFUSES(cuMemHostAlloc)
PLAYER_REFUSES(cuMemcpy2DAsync_v2)
PLAYER_REFUSES(cuMemcpyDtoHAsync_v2)
PLAYER_REFUSES(cuMemsetD8Async)
PLAYER_REFUSES(cuModuleGetGlobal_v2)
PLAYER_REFUSES(cuStreamCreate)
PLAYER_REFUSES(cuStreamDestroy_v2)
