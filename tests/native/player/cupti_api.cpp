/// libcupti's names, as the recording has them.
#include <cstring>

#include "player.h"

using namespace player;

namespace {

constexpr Result kInvalidParameter = 1;
constexpr Result kNotSupported = 27;

template <typename Id>
Result answer(const char* function, void* handle, Id* id) {
  uint64_t value = 0;
  if (!find_answer(function, handle, value)) return kInvalidParameter;
  *id = static_cast<Id>(value);
  return kSuccess;
}

}  // namespace

PLAYER_EXPORT Result cuptiGetVersion(uint32_t* version) {
  *version = static_cast<uint32_t>(state().recording.fact("cupti_version", 130000));
  return kSuccess;
}

PLAYER_EXPORT Result cuptiGetResultString(Result, const char** text) {
  *text = "an error of the player";
  return kSuccess;
}

PLAYER_EXPORT Result cuptiGetTimestamp(uint64_t* time) {
  *time = cupti_now();
  return kSuccess;
}

PLAYER_EXPORT Result cuptiSubscribe(Subscriber* who, CallbackFunction callback, void* user) {
  state().callback_user.store(user);
  state().callback.store(callback);
  *who = &state();
  return kSuccess;
}

PLAYER_EXPORT Result cuptiUnsubscribe(Subscriber) {
  state().callback.store(nullptr);
  for (auto& domain : state().enabled) {
    for (auto& flag : domain) flag.store(0);
  }
  return kSuccess;
}

PLAYER_EXPORT Result cuptiEnableCallback(uint32_t enable, Subscriber, int domain, uint32_t cbid) {
  if (domain <= 0 || domain >= 8 || cbid >= 1024) return kInvalidParameter;
  state().enabled[domain][cbid].store(enable != 0 ? 1 : 0);
  return kSuccess;
}

PLAYER_EXPORT Result cuptiActivityRegisterCallbacks(BufferRequested requested,
                                                    BufferCompleted completed) {
  state().requested.store(requested);
  state().completed.store(completed);
  return kSuccess;
}

PLAYER_EXPORT Result cuptiActivityRegisterTimestampCallback(TimestampFunction function) {
  if (state().clock_offset_ns.load() != 0) return kNotSupported;
  state().timestamp.store(function);
  return kSuccess;
}

PLAYER_EXPORT Result cuptiActivityEnable(uint32_t) { return kSuccess; }

PLAYER_EXPORT Result cuptiActivityDisable(uint32_t) { return kSuccess; }

PLAYER_EXPORT Result cuptiActivityConfigureUnifiedMemoryCounter(UnifiedMemoryConfig*, uint32_t) {
  return kSuccess;
}

PLAYER_EXPORT Result cuptiActivityFlushAll(uint32_t) {
  deliver_available();
  return kSuccess;
}

PLAYER_EXPORT Result cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, void** record) {
  size_t at = 0;
  if (*record != nullptr) {
    uint32_t kind = 0;
    std::memcpy(&kind, *record, sizeof kind);
    const auto size = state().recording.record_sizes.find(kind);
    if (size == state().recording.record_sizes.end()) return kInvalidParameter;
    at = static_cast<size_t>(static_cast<uint8_t*>(*record) - buffer) + size->second;
  }
  if (at >= valid) return kMaxLimitReached;
  *record = buffer + at;
  return kSuccess;
}

PLAYER_EXPORT Result cuptiActivityGetNumDroppedRecords(Context, uint32_t, size_t* dropped) {
  const std::lock_guard lock(state().mutex);
  *dropped = std::exchange(state().dropped, 0);
  return kSuccess;
}

PLAYER_EXPORT Result cuptiGetGraphNodeId(void* node, uint64_t* id) {
  return answer("cuptiGetGraphNodeId", node, id);
}

PLAYER_EXPORT Result cuptiGetGraphId(void* graph, uint32_t* id) {
  return answer("cuptiGetGraphId", graph, id);
}

PLAYER_EXPORT Result cuptiGetGraphExecId(void* exec, uint32_t* id) {
  return answer("cuptiGetGraphExecId", exec, id);
}

#define PLAYER_REFUSES(name) \
  PLAYER_EXPORT Result name() { return 27; /* CUPTI_ERROR_NOT_SUPPORTED */ }

PLAYER_REFUSES(cuptiActivityFlushPeriod)
PLAYER_REFUSES(cuptiActivityGetAttribute)
PLAYER_REFUSES(cuptiActivitySetAttribute)
PLAYER_REFUSES(cuptiFinalize)
PLAYER_REFUSES(cuptiGetCubinCrc)
PLAYER_REFUSES(cuptiGetDeviceId)
PLAYER_REFUSES(cuptiPCSamplingDisable)
PLAYER_REFUSES(cuptiPCSamplingEnable)
PLAYER_REFUSES(cuptiPCSamplingGetData)
PLAYER_REFUSES(cuptiPCSamplingGetNumStallReasons)
PLAYER_REFUSES(cuptiPCSamplingGetStallReasons)
PLAYER_REFUSES(cuptiPCSamplingSetConfigurationAttribute)
PLAYER_REFUSES(cuptiPCSamplingStart)
PLAYER_REFUSES(cuptiPCSamplingStop)
