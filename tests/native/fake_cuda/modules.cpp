/// Modules, and the kernels that do real work here, Proton's: one reads a metric's value and writes
/// it to a ring in host memory, one counts replays. "Device memory" is the host's.
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "driver.h"
#include "sampling.h"

namespace fake {
namespace {

constexpr const char* kReader = "proton_read_metric_value";
constexpr const char* kReplayCounter = "proton_count_replay";
constexpr int kNotFound = 500;

/// The kernel's parameter, as its PTX reads it.
struct ReaderParams {
  const char* source;
  int64_t stride_bytes;
  uint64_t id;
  uint64_t* ring;
  uint32_t count, kind, capacity_bits, is_captured;
};
static_assert(sizeof(ReaderParams) == kParamBytes);

template <typename T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

uint64_t real(double value) { return std::bit_cast<uint64_t>(value); }

double half_to_double(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double mantissa = (bits & 1023) / 1024.0;
  const double size = exponent == 31  ? (mantissa == 0 ? __builtin_inf() : __builtin_nan(""))
                      : exponent == 0 ? mantissa * 0x1p-14
                                      : (1 + mantissa) * __builtin_ldexp(1, exponent - 15);
  return (bits & 0x8000) != 0 ? -size : size;
}

uint64_t element(uint32_t kind, const char* at) {
  const auto wide = [](int64_t value) { return static_cast<uint64_t>(value); };
  switch (kind) {
    case 0:
      return load<uint8_t>(at);
    case 1:
      return wide(load<int8_t>(at));
    case 2:
      return wide(load<int16_t>(at));
    case 3:
      return load<uint16_t>(at);
    case 4:
      return wide(load<int32_t>(at));
    case 5:
      return load<uint32_t>(at);
    case 8:
      return real(half_to_double(load<uint16_t>(at)));
    case 9:
      return real(std::bit_cast<float>(uint32_t{load<uint16_t>(at)} << 16));
    case 10:
      return real(load<float>(at));
    default:
      return load<uint64_t>(at);
  }
}

/// The words of the ring are shared with the host, which reads while we write.
std::atomic_ref<uint64_t> word(uint64_t* ring, size_t at) { return std::atomic_ref(ring[at]); }

void write_cell(const ReaderParams& given, uint64_t cell, uint64_t low, uint64_t value) {
  const uint64_t mask = (uint64_t{1} << given.capacity_bits) - 1;
  const size_t at = 8 + 2 * (cell & mask);  // words; the header has 8
  word(given.ring, at + 1).store(value, std::memory_order_relaxed);
  word(given.ring, at).store(((cell >> given.capacity_bits) + 1) << 32 | low);
}

void read_value(const ReaderParams& given, Module& module) {
  if (given.is_captured != 0 && word(given.ring, 1).load() == 0) return;
  uint64_t first = module.head.load();
  do {
    const auto used = static_cast<int64_t>(first + given.count + 1 - word(given.ring, 0).load());
    if (used > int64_t{1} << given.capacity_bits) {
      word(given.ring, 2).fetch_add(1);
      return;
    }
  } while (!module.head.compare_exchange_weak(first, first + given.count + 1));
  write_cell(given, first, given.count, given.id);
  for (uint32_t i = 0; i < given.count; ++i) {
    const char* at = given.source + static_cast<int64_t>(i) * given.stride_bytes;
    write_cell(given, first + 1 + i, 0, element(given.kind, at));
  }
}

}  // namespace

void keep_params(Work& work, void** kernel_params) {
  if (work.function == nullptr || work.function->module == nullptr) return;
  std::memcpy(work.params.data(), kernel_params[0], work.function->param_bytes);
}

void execute(const Work& work, Context& context) {
  touch_memory(work);
  if (work.type != kKernelNode || work.function == nullptr) return;
  sample_launch(*work.function, context);
  if (work.function->module == nullptr) return;
  if (work.function->name == kReader) {
    return read_value(std::bit_cast<ReaderParams>(work.params), *work.function->module);
  }
  uint64_t* counter;
  std::memcpy(&counter, work.params.data(), sizeof(counter));
  std::atomic_ref(*counter).fetch_add(1);
}

}  // namespace fake

using namespace fake;

FAKE_EXPORT(cuModuleLoadData, void** module, const void* image) {
  FAKE_ENTER(cuModuleLoadData);
  constexpr int kInvalidPtx = 218;
  auto loaded = std::make_unique<Module>();
  loaded->text = static_cast<const char*>(image);
  if (loaded->text.find(".visible .entry") == std::string::npos) return kInvalidPtx;
  State& all = state();
  const std::lock_guard lock(all.mutex);
  *module = all.modules.emplace_back(std::move(loaded)).get();
  return 0;
}

FAKE_EXPORT(cuModuleGetFunction, void** function, void* module, const char* name) {
  FAKE_ENTER(cuModuleGetFunction);
  auto& one = *static_cast<Module*>(module);
  if (one.text.find(std::string(".visible .entry ") + name + "(") == std::string::npos)
    return kNotFound;
  const bool is_reader = std::string(name) == kReader;
  if (!is_reader && std::string(name) != kReplayCounter) return kNotFound;
  one.kernel.name = is_reader ? kReader : kReplayCounter;
  one.kernel.param_bytes = is_reader ? kParamBytes : sizeof(uint64_t);
  one.kernel.duration_ns = 2;
  one.kernel.module = &one;
  *function = &one.kernel;
  return 0;
}

FAKE_EXPORT(cuModuleGetGlobal_v2, void** address, size_t* bytes, void* module, const char* name) {
  FAKE_ENTER(cuModuleGetGlobal_v2);
  auto& one = *static_cast<Module*>(module);
  const std::string declared = std::string(".u64 ") + name + "[";
  const size_t at = one.text.find(declared);
  if (at == std::string::npos) return kNotFound;
  if (one.variables.empty())
    one.variables.resize(std::stoul(one.text.substr(at + declared.size())));
  *address = one.variables.data();
  *bytes = one.variables.size() * sizeof(uint64_t);
  return 0;
}

FAKE_EXPORT(cuMemHostRegister_v2, void* memory, size_t bytes, unsigned) {
  FAKE_ENTER(cuMemHostRegister_v2);
  return memory == nullptr || bytes == 0 ? 1 : 0;
}

FAKE_EXPORT(cuMemHostUnregister, void*) {
  FAKE_ENTER(cuMemHostUnregister);
  return 0;
}

FAKE_EXPORT(cuMemHostGetDevicePointer_v2, void** device, void* memory, unsigned) {
  FAKE_ENTER(cuMemHostGetDevicePointer_v2);
  *device = memory;
  return 0;
}

FAKE_EXPORT(cuCtxPushCurrent_v2, void* context) {
  FAKE_ENTER(cuCtxPushCurrent_v2);
  local().pushed.push_back(local().context);
  local().context = static_cast<Context*>(context);
  return 0;
}

FAKE_EXPORT(cuCtxPopCurrent_v2, void** context) {
  FAKE_ENTER(cuCtxPopCurrent_v2);
  *context = local().context;
  if (local().pushed.empty()) return kCudaInvalidContext;
  local().context = local().pushed.back();
  local().pushed.pop_back();
  return 0;
}

FAKE_EXPORT(cuCtxGetId, void* context, unsigned long long* id) {
  FAKE_ENTER(cuCtxGetId);
  const Context* asked = context == nullptr ? local().context : static_cast<Context*>(context);
  if (asked == nullptr) return kCudaInvalidContext;
  if (asked->is_destroyed.load()) return kCudaContextIsDestroyed;
  *id = asked->id;
  return 0;
}
