#include "backends/cupti/value_readers.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/error.h"
#include "base/text.h"

namespace proton::cupti {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr int kLapShift = 32;

uint64_t load(uint64_t& word) { return std::atomic_ref(word).load(std::memory_order_acquire); }

}  // namespace

ValueRing::ValueRing(uint32_t capacity_bits) : bits_(capacity_bits) {
  const size_t bytes = (size_bytes() + kPageBytes - 1) / kPageBytes * kPageBytes;
  header_ = static_cast<RingHeader*>(std::aligned_alloc(kPageBytes, bytes));
  if (header_ == nullptr) throw std::bad_alloc();
  std::memset(static_cast<void*>(header_), 0, bytes);
}

ValueRing::~ValueRing() { std::free(header_); }

void ValueRing::set_open(bool is_open) {
  std::atomic_ref(header_->is_open).store(is_open ? 1 : 0, std::memory_order_release);
}

void ValueRing::drain(std::vector<ValueRun>& runs) {
  const uint64_t mask = (uint64_t{1} << bits_) - 1;
  const auto lap = [&](uint64_t cell) { return static_cast<uint32_t>((cell >> bits_) + 1); };
  for (;;) {
    RingCell& first = cells()[consumed_ & mask];
    const uint64_t stamp = load(first.stamp);
    if (static_cast<uint32_t>(stamp >> kLapShift) != lap(consumed_)) break;
    const auto count = static_cast<uint32_t>(stamp);
    ValueRun run{load(first.value), {}};
    run.elements.reserve(count);
    for (uint64_t at = consumed_ + 1; at <= consumed_ + count; ++at) {
      RingCell& cell = cells()[at & mask];
      if (static_cast<uint32_t>(load(cell.stamp) >> kLapShift) != lap(at)) break;
      run.elements.push_back(load(cell.value));
    }
    if (run.elements.size() < count) break;  // under way
    consumed_ += count + 1;
    runs.push_back(std::move(run));
  }
  std::atomic_ref(header_->consumed).store(consumed_, std::memory_order_release);
}

uint64_t ValueRing::take_dropped() {
  const uint64_t now = load(header_->dropped);
  const uint64_t fresh = now - dropped_;
  dropped_ = now;
  return fresh;
}

namespace {

constexpr unsigned kPortableMapped = 3;  // CU_MEMHOSTREGISTER_PORTABLE | _DEVICEMAP

uint64_t id_of(const Library& library, Context context) {
  unsigned long long id = 0;
  return library.context_id(context, &id) == 0 ? id : 0;
}

}  // namespace

void check_cuda(const Library& library, CudaResult result, const char* function) {
  if (result == 0) return;
  throw BackendError("cupti",
                     concat("a metric's tensor cannot be read: ", function,
                            " failed: ", library.describe_cuda(result)),
                     "give value.cpu() or value.item() instead", result);
}

ContextGuard::ContextGuard(const Library& library, int device) : library_(library) {
  int current = -1;
  check_cuda(library, library.current_context(&context_), "cuCtxGetCurrent");
  if (context_ != nullptr && library.current_device(&current) == 0 && current == device) return;
  // The program's, which holds it: a tensor of its lives there.
  check_cuda(library, library.retain_primary_context(&context_, device),
             "cuDevicePrimaryCtxRetain");
  library.release_primary_context(device);
  check_cuda(library, library.push_context(context_), "cuCtxPushCurrent");
  is_pushed_ = true;
}

ContextGuard::~ContextGuard() {
  Context popped = nullptr;
  if (is_pushed_) library_.pop_context(&popped);
}

ValueReader& ValueReaders::find(const Library& library, Context context, int device) {
  const uint64_t id = id_of(library, context);
  for (const auto& reader : readers_) {
    if (reader->context == context && reader->context_id == id) return *reader;
  }
  const RelaxedCapture relaxed(library);
  auto reader = std::make_unique<ValueReader>();
  reader->context = context;
  reader->context_id = id;
  reader->device = device;
  void* module = nullptr;
  check_cuda(library, library.load_module(&module, kReaderPtx), "cuModuleLoadData");
  check_cuda(library, library.find_function(&reader->function, module, kReaderName),
             "cuModuleGetFunction");
  reader->ring = std::make_unique<ValueRing>(capacity_bits_);
  reader->ring->set_open(is_open_);
  ValueRing& ring = *reader->ring;
  check_cuda(library,
             library.register_host_memory(ring.memory(), ring.size_bytes(), kPortableMapped),
             "cuMemHostRegister");
  const CudaResult mapped = library.device_address(&reader->ring_address, ring.memory(), 0);
  if (mapped != 0) library.unregister_host_memory(ring.memory());
  check_cuda(library, mapped, "cuMemHostGetDevicePointer");
  // The handle of a destroyed context, used again: nothing writes to its ring any more.
  std::erase_if(readers_, [&](const auto& old) {
    if (old->context != context) return false;
    old->ring->drain(last_runs_);
    library.unregister_host_memory(old->ring->memory());
    return true;
  });
  return *readers_.emplace_back(std::move(reader));
}

void ValueReaders::set_open(bool is_open) {
  is_open_ = is_open;
  for (const auto& reader : readers_) reader->ring->set_open(is_open);
}

void ValueReaders::drain(std::vector<ValueRun>& runs) {
  runs.insert(runs.end(), last_runs_.begin(), last_runs_.end());
  last_runs_.clear();
  for (const auto& reader : readers_) reader->ring->drain(runs);
}

uint64_t ValueReaders::take_dropped() {
  uint64_t count = 0;
  for (const auto& reader : readers_) count += reader->ring->take_dropped();
  return count;
}

}  // namespace proton::cupti
