/// The functions of a module that uses NVTX (module.cpp), found at run time as a program would.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "nvtx/abi.h"

namespace api {

using proton::nvtx::EventAttributes;

/// The function of that name in the module.
template <typename Call>
Call find(const char* name) {
  static void* module = [] {
    setenv(proton::nvtx::kPathVariable, NVTX_LIBRARY, 1);
    return dlopen(NVTX_MODULE, RTLD_NOW);
  }();
  void* symbol = module == nullptr ? nullptr : dlsym(module, name);
  if (symbol == nullptr) std::abort();
  Call call;
  std::memcpy(&call, &symbol, sizeof(call));
  return call;
}

inline int push(const char* text) { return find<int (*)(const char*)>("nvtxRangePushA")(text); }
inline int pop() { return find<int (*)()>("nvtxRangePop")(); }
inline int push_ex(const void* domain, const EventAttributes& event) {
  using Call = int (*)(const void*, const EventAttributes*);
  return find<Call>("nvtxDomainRangePushEx")(domain, &event);
}
inline int domain_pop(const void* domain) {
  return find<int (*)(const void*)>("nvtxDomainRangePop")(domain);
}
inline uint64_t start(const char* text) {
  return find<uint64_t (*)(const char*)>("nvtxRangeStartA")(text);
}
inline void end(uint64_t range) { find<void (*)(uint64_t)>("nvtxRangeEnd")(range); }
inline void mark(const char* text) { find<void (*)(const char*)>("nvtxMarkA")(text); }
inline const void* domain(const char* name) {
  return find<const void* (*)(const char*)>("nvtxDomainCreateA")(name);
}
inline const void* registered(const void* domain, const char* text) {
  using Call = const void* (*)(const void*, const char*);
  return find<Call>("nvtxDomainRegisterStringA")(domain, text);
}

/// Attributes with an ASCII message.
inline EventAttributes attributes(const char* text) {
  EventAttributes event{};
  event.version = 3;
  event.size = sizeof(event);
  event.message_type = proton::nvtx::kMessageAscii;
  event.message.ascii = text;
  return event;
}

}  // namespace api
