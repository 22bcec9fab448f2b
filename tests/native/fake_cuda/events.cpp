/// Timing events. One is at the end of its stream's work when it was recorded; it stays undone
/// while option `hold` does, and is void with its context.
#include "driver.h"

namespace fake {
namespace {

constexpr int kCudaNotReady = 600;

struct Event {
  Context* context;
  uint64_t time_ns = 0;
};

bool is_void(void* event) {
  return event == nullptr || static_cast<Event*>(event)->context->is_destroyed.load();
}

}  // namespace
}  // namespace fake

using namespace fake;

FAKE_EXPORT(cuEventCreate, void** event, unsigned) {
  FAKE_ENTER(cuEventCreate);
  *event = new Event{&current_context()};
  return 0;
}

FAKE_EXPORT(cuEventDestroy_v2, void* event) {
  FAKE_ENTER(cuEventDestroy_v2);
  if (event == nullptr) return kCudaInvalidHandle;
  delete static_cast<Event*>(event);
  return 0;
}

FAKE_EXPORT(cuEventRecord, void* event, void* stream) {
  FAKE_ENTER(cuEventRecord);
  if (is_void(event)) return kCudaContextIsDestroyed;
  const uint64_t busy_until = stream_of(stream).busy_until.load();
  const uint64_t now = gpu_now();
  static_cast<Event*>(event)->time_ns = now > busy_until ? now : busy_until;
  return 0;
}

FAKE_EXPORT(cuEventQuery, void* event) {
  FAKE_ENTER(cuEventQuery);
  if (is_void(event)) return kCudaContextIsDestroyed;
  return state().options.hold.load() != 0 ? kCudaNotReady : 0;
}

FAKE_EXPORT(cuEventElapsedTime, float* time_ms, void* first, void* last) {
  FAKE_ENTER(cuEventElapsedTime);
  if (is_void(first) || is_void(last)) return kCudaContextIsDestroyed;
  const auto start = static_cast<double>(static_cast<Event*>(first)->time_ns);
  const auto end = static_cast<double>(static_cast<Event*>(last)->time_ns);
  *time_ms = static_cast<float>((end - start) / 1e6);
  return 0;
}
