/// Timing events. One is at the end of its stream's work when it was recorded; it stays undone
/// while option `hold` does, and is void with its context.
#include <set>
#include <vector>

#include "driver.h"

namespace fake {
namespace {

constexpr int kCudaNotReady = 600;

struct Event {
  Context* context;
  uint64_t time_ns = 0;
};

/// Whoever creates an event destroys it, or loses it with its context: then it is the driver's.
/// Until then a leak checker is not to find it here, and addresses are kept turned over.
class Events {
 public:
  void add(const Event* event) {
    const std::lock_guard lock(mutex_);
    turned_.insert(~reinterpret_cast<uintptr_t>(event));
  }
  void remove(const Event* event) {
    const std::lock_guard lock(mutex_);
    turned_.erase(~reinterpret_cast<uintptr_t>(event));
    std::erase(lost_, event);
  }
  void lose(const Context& context) {
    const std::lock_guard lock(mutex_);
    for (const uintptr_t each : turned_) {
      const auto* event = reinterpret_cast<const Event*>(~each);
      if (event->context == &context) lost_.push_back(event);
    }
  }

 private:
  std::mutex mutex_;
  std::set<uintptr_t> turned_;
  std::vector<const Event*> lost_;
};

// Never destroyed: threads of the program may still call at exit.
Events& events() {
  static auto* const only = new Events;
  return *only;
}

bool is_void(void* event) {
  return event == nullptr || static_cast<Event*>(event)->context->is_destroyed.load();
}

}  // namespace

void lose_events(const Context& context) { events().lose(context); }

}  // namespace fake

using namespace fake;

FAKE_EXPORT(cuEventCreate, void** event, unsigned) {
  FAKE_ENTER(cuEventCreate);
  auto* const made = new Event{&current_context()};
  events().add(made);
  *event = made;
  return 0;
}

FAKE_EXPORT(cuEventDestroy_v2, void* event) {
  FAKE_ENTER(cuEventDestroy_v2);
  if (event == nullptr) return kCudaInvalidHandle;
  events().remove(static_cast<Event*>(event));
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
