#include "backends/cuda/devices.h"

#include <algorithm>

#include "base/text.h"

namespace proton {
namespace {

void check(const CudaDriver& driver, CudaResult result, const char* function) {
  driver.check_cuda(
      result, function,
      "see whether `nvidia-smi` shows a GPU and CUDA_VISIBLE_DEVICES does not hide it");
}

struct Named {
  const char* name;
  DeviceAttribute attribute;
};
constexpr Named kAttributes[] = {
    {"num_sms", kMultiprocessorCount},
    {"clock_rate", kClockRate},
    {"memory_clock_rate", kMemoryClockRate},
    {"bus_width", kMemoryBusWidth},
    {"l2_bytes", kL2CacheBytes},
    {"max_threads_per_sm", kMaxThreadsPerMultiprocessor},
    {"max_blocks_per_sm", kMaxBlocksPerMultiprocessor},
    {"registers_per_sm", kRegistersPerMultiprocessor},
    {"shared_bytes_per_sm", kSharedBytesPerMultiprocessor},
    {"reserved_shared_bytes_per_block", kReservedSharedBytesPerBlock},
};

/// As `nvidia-smi -L` shows it, without its prefix; of a MIG instance its own.
std::string uuid_of(const CudaDriver& driver, int device) {
  unsigned char bytes[16];
  if (driver.device_uuid(bytes, device) != 0) return "";
  std::string text;
  for (size_t i = 0; i < sizeof(bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

Value::Map describe(const CudaDriver& driver, int device) {
  Value::Map map;
  char name[256] = "";
  check(driver, driver.device_name(name, sizeof(name) - 1, device), "cuDeviceGetName");
  map.emplace_back("name", Value{std::string(name)});
  int major = 0, minor = 0;
  check(driver, driver.device_attribute(&major, kComputeCapabilityMajor, device),
        "cuDeviceGetAttribute");
  check(driver, driver.device_attribute(&minor, kComputeCapabilityMinor, device),
        "cuDeviceGetAttribute");
  map.emplace_back("arch", Value{concat(major * 10 + minor)});
  for (const auto [key, attribute] : kAttributes) {
    int value = 0;
    // Newer drivers may leave an old attribute out (clocks, on some devices).
    if (driver.device_attribute(&value, attribute, device) != 0) continue;
    map.emplace_back(key, Value{int64_t{value}});
  }
  if (std::string uuid = uuid_of(driver, device); !uuid.empty()) {
    map.emplace_back("uuid", Value{std::move(uuid)});
  }
  return map;
}

}  // namespace

std::vector<Value::Map> list_devices(const CudaDriver& driver) {
  check(driver, driver.init(0), "cuInit");
  int count = 0;
  check(driver, driver.device_count(&count), "cuDeviceGetCount");
  std::vector<Value::Map> devices;
  for (int index = 0; index < count; ++index) {
    int device = 0;
    check(driver, driver.device(&device, index), "cuDeviceGet");
    devices.push_back(describe(driver, device));
  }
  return devices;
}

int newest_capability(const CudaDriver& driver) {
  int count = 0, newest = 0;
  if (driver.device_count(&count) != 0) return 0;
  for (int index = 0; index < count; ++index) {
    int device = 0, major = 0, minor = 0;
    if (driver.device(&device, index) != 0) continue;
    if (driver.device_attribute(&major, kComputeCapabilityMajor, device) != 0) continue;
    if (driver.device_attribute(&minor, kComputeCapabilityMinor, device) != 0) continue;
    newest = std::max(newest, major * 10 + minor);
  }
  return newest;
}

int driver_version(const CudaDriver& driver) {
  int version = 0;
  check(driver, driver.driver_version(&version), "cuDriverGetVersion");
  return version;
}

}  // namespace proton
