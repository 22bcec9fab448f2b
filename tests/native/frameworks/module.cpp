/// The observer for Python, by ctypes: with the host of host.h, so that contexts are read as text.
/// Functions that fail return a text that says why; null: they did not fail.
#include <memory>
#include <optional>

#include "base/error.h"
#include "frameworks/torch/calibration.h"
#include "frameworks/torch/observer.h"
#include "host.h"

using namespace proton;

namespace {

std::optional<TorchLibrary> library;
std::unique_ptr<Calibration> calibration;
RecordFields fields;
std::vector<OperatorSum> sums;
thread_local std::string text;

template <typename Call>
const char* error_of(Call call) {
  try {
    call();
    return nullptr;
  } catch (const Error& error) {
    text = error.what();
    return text.c_str();
  }
}

RecordCallback::Object on_start(const RecordFunction*) { return {}; }
void on_end(const RecordFunction*, void*) {}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const char* open_torch(const char* path) {
  return error_of([&] {
    library = TorchLibrary::open(path);
    calibration = std::make_unique<Calibration>(*library);
  });
}
EXPORT void watch_numbers() { calibration->watch_numbers(); }
EXPORT void watch_node(uint64_t thread, uint64_t number) {
  calibration->watch_node(thread, number);
}
EXPORT void stop_watching() { calibration->stop(); }
EXPORT uint64_t thread_id() { return calibration->thread_id(); }
EXPORT const char* attach(uint64_t* number, uint64_t* forward_thread) {
  return error_of([&] {
    fields = calibration->fields();
    *number = fields.number;
    *forward_thread = fields.forward_thread;
    torch_observer.attach(*library, fields, test_host::table);
  });
}
EXPORT void set_tier(int tier) { torch_observer.set_tier(static_cast<ObserverTier>(tier)); }
EXPORT void clear() { torch_observer.clear(); }
EXPORT void reset_after_fork() { torch_observer.reset_after_fork(); }
EXPORT uint32_t context() { return torch_observer.context(); }
EXPORT void note_launch(uint32_t context) { torch_observer.note_launch(context); }
EXPORT void enter(int kind, const char* name) {
  test_host::enter(static_cast<FrameKind>(kind), name);
}
EXPORT void leave() { test_host::leave(); }
EXPORT uint32_t here() { return test_host::here(); }
EXPORT const char* path(uint32_t context) { return (text = test_host::path(context)).c_str(); }
EXPORT int kind(uint32_t context) { return static_cast<int>(test_host::kind(context)); }
EXPORT size_t take_sums() { return (sums = torch_observer.take_sums()).size(); }
EXPORT void read_sum(size_t at, uint32_t* context, uint64_t* calls, int64_t* time_ns) {
  *context = sums[at].context;
  *calls = sums[at].calls;
  *time_ns = sums[at].time_ns;
}
EXPORT void counts(uint64_t* all) {
  const ObserverCounts counts = torch_observer.counts();
  all[0] = counts.backward_nodes;
  all[1] = counts.backward_launches;
  all[2] = counts.backward_by_neighbour;
  all[3] = counts.unknown_forward;
}

/// An observer that does nothing, for comparison: of operators (0) or nodes (1).
EXPORT uint64_t add_empty(int scope) {
  RecordCallback callback{on_start, on_end};
  callback.flags[scope] = true;
  const uint64_t handle = library->add_callback(callback);
  library->disable_callback(handle);
  return handle;
}
EXPORT void switch_empty(uint64_t handle, int is_on) {
  (is_on ? library->reenable_callback : library->disable_callback)(handle);
}
