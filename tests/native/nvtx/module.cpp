/// A module that uses NVTX, without NVIDIA's headers: it speaks NVTX's side of the injection
/// protocol (look up the library at the first call, hand over the slots, call through them) and
/// exports the functions under their own names. Every copy of the file is a module of its own.
#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include "nvtx/abi.h"

using namespace proton::nvtx;

namespace {

constexpr uint32_t kSlots = 16;
Function core[kSlots];
Function core2[kSlots];
Function* core_slots[kSlots];
Function* core2_slots[kSlots];
std::once_flag once;

int get_functions(uint32_t module, FunctionTable* table, uint32_t* size) {
  if (module != kModuleCore && module != kModuleCore2) return 0;
  *table = module == kModuleCore ? core_slots : core2_slots;
  *size = kSlots;
  return 1;
}

const void* get_table(uint32_t table) {
  static const CallbackTable callbacks{sizeof(CallbackTable), get_functions};
  return table == kTableCallbacks ? &callbacks : nullptr;
}

void initialize() {
  for (uint32_t i = 1; i < kSlots; ++i) {
    core_slots[i] = &core[i];
    core2_slots[i] = &core2[i];
  }
  const char* path = std::getenv(kPathVariable);
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_LAZY);
  void* symbol = library == nullptr ? nullptr : dlsym(library, kInitFunction);
  if (symbol == nullptr) return;
  const int is_good = reinterpret_cast<int (*)(GetExportTable)>(symbol)(get_table);
  if (is_good != 0) return;
  for (uint32_t i = 0; i < kSlots; ++i) core[i] = core2[i] = nullptr;
}

template <typename Result, typename... Arguments>
Result call(Function (&slots)[kSlots], uint32_t slot, Result otherwise, Arguments... arguments) {
  std::call_once(once, initialize);
  if (slots[slot] == nullptr) return otherwise;
  return reinterpret_cast<Result (*)(Arguments...)>(slots[slot])(arguments...);
}

template <typename... Arguments>
void call_void(Function (&slots)[kSlots], uint32_t slot, Arguments... arguments) {
  std::call_once(once, initialize);
  if (slots[slot] != nullptr) {
    reinterpret_cast<void (*)(Arguments...)>(slots[slot])(arguments...);
  }
}

}  // namespace

extern "C" {

using Attributes = const EventAttributes*;
using Wide = const wchar_t*;

int nvtxRangePushA(const char* text) { return call(core, kRangePushA, kNoTracking, text); }
int nvtxRangePushW(Wide text) { return call(core, kRangePushW, kNoTracking, text); }
int nvtxRangePushEx(Attributes event) { return call(core, kRangePushEx, kNoTracking, event); }
int nvtxRangePop() { return call(core, kRangePop, kNoTracking); }
uint64_t nvtxRangeStartA(const char* text) { return call(core, kRangeStartA, uint64_t{0}, text); }
uint64_t nvtxRangeStartW(Wide text) { return call(core, kRangeStartW, uint64_t{0}, text); }
uint64_t nvtxRangeStartEx(Attributes event) {
  return call(core, kRangeStartEx, uint64_t{0}, event);
}
void nvtxRangeEnd(uint64_t range) { call_void(core, kRangeEnd, range); }
void nvtxMarkA(const char* text) { call_void(core, kMarkA, text); }
void nvtxMarkW(Wide text) { call_void(core, kMarkW, text); }
void nvtxMarkEx(Attributes event) { call_void(core, kMarkEx, event); }
void nvtxNameCategoryA(uint32_t category, const char* name) {
  call_void(core, kNameCategoryA, category, name);
}
void nvtxNameCategoryW(uint32_t category, Wide name) {
  call_void(core, kNameCategoryW, category, name);
}

const void* nvtxDomainCreateA(const char* name) {
  return call(core2, kDomainCreateA, static_cast<const void*>(nullptr), name);
}
const void* nvtxDomainCreateW(Wide name) {
  return call(core2, kDomainCreateW, static_cast<const void*>(nullptr), name);
}
void nvtxDomainDestroy(const void* domain) { call_void(core2, kDomainDestroy, domain); }
const void* nvtxDomainRegisterStringA(const void* domain, const char* text) {
  return call(core2, kDomainRegisterStringA, static_cast<const void*>(nullptr), domain, text);
}
const void* nvtxDomainRegisterStringW(const void* domain, Wide text) {
  return call(core2, kDomainRegisterStringW, static_cast<const void*>(nullptr), domain, text);
}
void nvtxDomainNameCategoryA(const void* domain, uint32_t category, const char* name) {
  call_void(core2, kDomainNameCategoryA, domain, category, name);
}
void nvtxDomainNameCategoryW(const void* domain, uint32_t category, Wide name) {
  call_void(core2, kDomainNameCategoryW, domain, category, name);
}
int nvtxDomainRangePushEx(const void* domain, Attributes event) {
  return call(core2, kDomainRangePushEx, kNoTracking, domain, event);
}
int nvtxDomainRangePop(const void* domain) {
  return call(core2, kDomainRangePop, kNoTracking, domain);
}
uint64_t nvtxDomainRangeStartEx(const void* domain, Attributes event) {
  return call(core2, kDomainRangeStartEx, uint64_t{0}, domain, event);
}
void nvtxDomainRangeEnd(const void* domain, uint64_t range) {
  call_void(core2, kDomainRangeEnd, domain, range);
}
void nvtxDomainMarkEx(const void* domain, Attributes event) {
  call_void(core2, kDomainMarkEx, domain, event);
}
}
