/// libcupti's names that every version has: subscription, activities, ids, time.
#include <cstring>
#include <map>

#include "driver.h"
#include "sampling.h"

namespace fake {
namespace {

/// Calls that change what is recorded may not come from the driver's own buffer callbacks.
bool is_misplaced(const char* name) {
  if (!local().is_in_buffer_callback) return false;
  violate(std::string(name) + " called inside a buffer callback");
  return true;
}

bool is_known_kind(uint32_t kind) {
  const uint32_t last = kCuptiVersion >= 130000 ? 56 : 54;
  return kind > 0 && kind <= last;
}

}  // namespace
}  // namespace fake

using namespace fake;

FAKE_EXPORT(cuptiGetVersion, uint32_t* version) {
  FAKE_ENTER(cuptiGetVersion);
  *version = kCuptiVersion;
  return 0;
}

FAKE_EXPORT(cuptiGetResultString, int result, const char** text) {
  FAKE_ENTER(cuptiGetResultString);
  static const std::map<int, const char*> names{
      {0, "CUPTI_SUCCESS"},
      {1, "CUPTI_ERROR_INVALID_PARAMETER"},
      {7, "CUPTI_ERROR_INVALID_OPERATION"},
      {8, "CUPTI_ERROR_OUT_OF_MEMORY"},
      {12, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
      {14, "CUPTI_ERROR_NOT_COMPATIBLE"},
      {15, "CUPTI_ERROR_NOT_INITIALIZED"},
      {21, "CUPTI_ERROR_INVALID_KIND"},
      {26, "CUPTI_ERROR_HARDWARE_BUSY"},
      {27, "CUPTI_ERROR_NOT_SUPPORTED"},
      {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
      {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
      {43, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED"},
      {999, "CUPTI_ERROR_UNKNOWN"},
  };
  const auto found = names.find(result);
  if (found == names.end()) return kInvalidParameter;
  *text = found->second;
  return 0;
}

FAKE_EXPORT(cuptiGetTimestamp, uint64_t* time) {
  FAKE_ENTER(cuptiGetTimestamp);
  if (time == nullptr) return kInvalidParameter;
  *time = cupti_now();
  return 0;
}

FAKE_EXPORT(cuptiActivityRegisterTimestampCallback, TimestampFunction function) {
  FAKE_ENTER(cuptiActivityRegisterTimestampCallback);
  if (function == nullptr) return kInvalidParameter;
  if (state().timestamp.exchange(function) != nullptr) {
    violate("cuptiActivityRegisterTimestampCallback called twice");
  }
  return 0;
}

FAKE_EXPORT(cuptiSubscribe, void** subscriber, Callback callback, void* user) {
  FAKE_ENTER(cuptiSubscribe);
  if (subscriber == nullptr) return kInvalidParameter;
  State& all = state();
  if (all.is_subscribed.exchange(true)) return kMultipleSubscribers;
  all.callback_user.store(user);
  all.callback.store(callback, std::memory_order_release);
  *subscriber = &all.callback;
  return 0;
}

FAKE_EXPORT(cuptiUnsubscribe, void* subscriber) {
  FAKE_ENTER(cuptiUnsubscribe);
  State& all = state();
  if (subscriber != &all.callback || all.callback.load() == nullptr) return kInvalidParameter;
  if (is_misplaced("cuptiUnsubscribe")) return kInvalidOperation;
  for (auto& domain : all.enabled) {
    for (auto& flag : domain) flag.store(0);
  }
  all.callback.store(nullptr);
  all.is_subscribed.store(false);
  all.request.store(nullptr);
  all.has_zeroed_buffers.store(0);
  const std::lock_guard lock(all.mutex);
  all.subscriber_name.clear();
  return 0;
}

FAKE_EXPORT(cuptiEnableCallback, uint32_t enable, void* subscriber, int domain, uint32_t cbid) {
  FAKE_ENTER(cuptiEnableCallback);
  State& all = state();
  const uint32_t count = domain == kDriverDomain ? driver_call_count(kCuptiVersion) : 1024;
  if (subscriber != &all.callback || domain <= 0 || domain >= kDomainCount || cbid == 0 ||
      cbid >= count) {
    return kInvalidParameter;
  }
  all.enabled[domain][cbid].store(enable != 0 ? 1 : 0);
  return 0;
}

FAKE_EXPORT(cuptiEnableDomain, uint32_t enable, void* subscriber, int domain) {
  FAKE_ENTER(cuptiEnableDomain);
  State& all = state();
  if (subscriber != &all.callback || domain <= 0 || domain >= kDomainCount) {
    return kInvalidParameter;
  }
  for (uint32_t cbid = 1; cbid < 1024; ++cbid) {
    all.enabled[domain][cbid].store(enable != 0 ? 1 : 0);
  }
  return 0;
}

FAKE_EXPORT(cuptiActivityRegisterCallbacks, BufferRequest request, BufferDone done) {
  FAKE_ENTER(cuptiActivityRegisterCallbacks);
  if (request == nullptr || done == nullptr) return kInvalidParameter;
  State& all = state();
  all.done.store(done, std::memory_order_release);
  all.request.store(request, std::memory_order_release);
  return 0;
}

FAKE_EXPORT(cuptiActivityEnable, uint32_t kind) {
  FAKE_ENTER(cuptiActivityEnable);
  if (!is_known_kind(kind)) return kInvalidKind;
  if (is_misplaced("cuptiActivityEnable")) return kInvalidOperation;
  // Both kernel kinds at once would report every kernel twice.
  if (kind == kKernel && is_kind_on(kConcurrentKernel)) return kNotCompatible;
  if (kind == kConcurrentKernel && is_kind_on(kKernel)) return kNotCompatible;
  if (kind < kKindCount) state().kinds[kind].store(1);
  return 0;
}

FAKE_EXPORT(cuptiActivityDisable, uint32_t kind) {
  FAKE_ENTER(cuptiActivityDisable);
  if (!is_known_kind(kind)) return kInvalidKind;
  if (is_misplaced("cuptiActivityDisable")) return kInvalidOperation;
  if (kind < kKindCount) state().kinds[kind].store(0);
  return 0;
}

FAKE_EXPORT(cuptiActivityFlushAll, uint32_t flag) {
  FAKE_ENTER(cuptiActivityFlushAll);
  return flush_all(flag);
}

FAKE_EXPORT(cuptiActivityFlushPeriod, uint32_t milliseconds) {
  FAKE_ENTER(cuptiActivityFlushPeriod);
  State& all = state();
  all.flush_period_ms.store(milliseconds);
  const std::lock_guard lock(all.queue_mutex);
  all.queue_changed.notify_all();
  return 0;
}

FAKE_EXPORT(cuptiActivityGetNextRecord, uint8_t* buffer, size_t valid, uint8_t** record) {
  FAKE_ENTER(cuptiActivityGetNextRecord);
  if (buffer == nullptr || record == nullptr) return kInvalidParameter;
  size_t at = 0;
  if (*record != nullptr) {
    uint32_t kind = 0;
    std::memcpy(&kind, *record, sizeof kind);
    const size_t size = record_size(kind);
    if (size == 0) return kInvalidKind;
    at = static_cast<size_t>(*record - buffer) + size;
  }
  if (at >= valid) return kMaxLimitReached;
  *record = buffer + at;
  return 0;
}

FAKE_EXPORT(cuptiActivityGetNumDroppedRecords, void*, uint32_t, size_t* dropped) {
  FAKE_ENTER(cuptiActivityGetNumDroppedRecords);
  if (dropped == nullptr) return kInvalidParameter;
  State& all = state();
  const auto now = static_cast<uint64_t>(all.counters.dropped.load());
  *dropped = now - all.taken_drops.exchange(now);
  return 0;
}

constexpr int kZeroedBuffers = 5;  // of CUpti_ActivityAttribute

FAKE_EXPORT(cuptiActivitySetAttribute, int attribute, size_t* size, void* value) {
  FAKE_ENTER(cuptiActivitySetAttribute);
  if (size == nullptr || value == nullptr) return kInvalidParameter;
  constexpr int per_thread_buffers = 9;
  if (attribute == per_thread_buffers) {
    if (state().request.load() != nullptr) {
      violate("per-thread buffers chosen after the buffer callbacks were registered");
    }
    state().options.per_thread_buffers.store(*static_cast<uint8_t*>(value));
  }
  if (attribute == kZeroedBuffers) state().has_zeroed_buffers.store(*static_cast<uint8_t*>(value));
  return 0;
}

FAKE_EXPORT(cuptiActivityGetAttribute, int attribute, size_t* size, void* value) {
  FAKE_ENTER(cuptiActivityGetAttribute);
  if (size == nullptr || value == nullptr) return kInvalidParameter;
  std::memset(value, 0, *size);
  if (attribute == kZeroedBuffers) *static_cast<uint8_t*>(value) = state().has_zeroed_buffers;
  return 0;
}

FAKE_EXPORT(cuptiActivityConfigureUnifiedMemoryCounter, void* configs, uint32_t count) {
  FAKE_ENTER(cuptiActivityConfigureUnifiedMemoryCounter);
  return configs == nullptr || count == 0 ? int{kInvalidParameter} : 0;
}

FAKE_EXPORT(cuptiActivityPushExternalCorrelationId, uint32_t kind, uint64_t id) {
  FAKE_ENTER(cuptiActivityPushExternalCorrelationId);
  local().external.emplace_back(kind, id);
  return 0;
}

FAKE_EXPORT(cuptiActivityPopExternalCorrelationId, uint32_t, uint64_t* last) {
  FAKE_ENTER(cuptiActivityPopExternalCorrelationId);
  Local& here = local();
  if (here.external.empty()) return 18;  // CUPTI_ERROR_QUEUE_EMPTY
  if (last != nullptr) *last = here.external.back().second;
  here.external.pop_back();
  return 0;
}

FAKE_EXPORT(cuptiGetContextId, void* context, uint32_t* id) {
  FAKE_ENTER(cuptiGetContextId);
  if (context == nullptr || id == nullptr) return kInvalidContext;
  *id = static_cast<Context*>(context)->id;
  return 0;
}

FAKE_EXPORT(cuptiGetDeviceId, void* context, uint32_t* device) {
  FAKE_ENTER(cuptiGetDeviceId);
  Context& one = context == nullptr ? current_context() : *static_cast<Context*>(context);
  *device = static_cast<uint32_t>(one.device);
  return 0;
}

FAKE_EXPORT(cuptiGetStreamIdEx, void*, void* stream, uint8_t, uint32_t* id) {
  FAKE_ENTER(cuptiGetStreamIdEx);
  *id = stream_of(stream).id;
  return 0;
}

FAKE_EXPORT(cuptiFinalize) {
  FAKE_ENTER(cuptiFinalize);
  {
    const std::lock_guard lock(sampling().mutex);
    for (const auto& [context, one] : sampling().contexts) {
      if (one.is_enabled) violate("cuptiFinalize called while sampling is enabled");
    }
    sampling().is_known.clear();
    sampling().was_enabled.store(false);
  }
  State& all = state();
  for (auto& flag : all.kinds) flag.store(0);
  for (auto& domain : all.enabled) {
    for (auto& flag : domain) flag.store(0);
  }
  all.callback.store(nullptr);
  all.is_subscribed.store(false);
  all.correlation.store(0);  // ids begin anew
  return 0;
}
