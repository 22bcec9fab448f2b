/// A profiler that does nothing, or no more than walk over its records: what the fake driver itself
/// costs, so that a benchmark can tell the cost of a real one.
#include <cstdlib>

#include "driver.h"
#include "fake_cuda.h"

extern "C" {
int cuptiSubscribe(void**, fake::Callback, void*);
int cuptiUnsubscribe(void*);
int cuptiEnableCallback(uint32_t, void*, int, uint32_t);
int cuptiActivityRegisterCallbacks(fake::BufferRequest, fake::BufferDone);
int cuptiActivityEnable(uint32_t);
int cuptiActivityDisable(uint32_t);
int cuptiActivityFlushAll(uint32_t);
int cuptiActivityGetNextRecord(uint8_t*, size_t, uint8_t**);
}

namespace {

bool walks = false;
constexpr size_t kBufferBytes = size_t{4} << 20;

struct Pool {
  std::mutex mutex;
  std::vector<uint8_t*> idle;
};

Pool& pool() {
  static Pool* const only = new Pool();
  return *only;
}

void request(uint8_t** buffer, size_t* size, size_t* max_records) {
  const std::lock_guard lock(pool().mutex);
  *size = kBufferBytes;
  *max_records = 0;
  if (pool().idle.empty()) {
    *buffer = static_cast<uint8_t*>(std::malloc(kBufferBytes));
  } else {
    *buffer = pool().idle.back();
    pool().idle.pop_back();
  }
}

void done(void*, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  uint8_t* record = nullptr;
  while (walks && cuptiActivityGetNextRecord(buffer, valid, &record) == 0) {
  }
  const std::lock_guard lock(pool().mutex);
  pool().idle.push_back(buffer);
}

}  // namespace

FAKE_VISIBLE int fake_null_profiler(int level) {
  static void* subscriber = nullptr;
  walks = level > 1;
  if (level == 0) {
    cuptiActivityFlushAll(1);
    cuptiActivityDisable(fake::kConcurrentKernel);
    return cuptiUnsubscribe(subscriber);
  }
  const int result = cuptiSubscribe(&subscriber, [](void*, int, uint32_t, const void*) {}, nullptr);
  if (result != 0) return result;
  cuptiEnableCallback(1, subscriber, fake::kDriverDomain, fake::kLaunchKernel);
  cuptiActivityRegisterCallbacks(request, done);
  return cuptiActivityEnable(fake::kConcurrentKernel);
}
