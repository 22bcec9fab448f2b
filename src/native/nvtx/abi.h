/// The part of NVTX's binary interface that an injected library meets: how a module that uses NVTX
/// hands over its function slots, and the arguments of those functions. Holds for NVTX 2 and 3;
/// tests/integration/test_nvtx_abi.py compares it with NVIDIA's own headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace proton::nvtx {

struct Domain;      // what a domain's handle points to is the injected library's business
struct Registered;  // and likewise for registered strings

inline constexpr const char* kPathVariable = "NVTX_INJECTION64_PATH";
inline constexpr const char* kInitFunction = "InitializeInjectionNvtx2";

enum ExportTable : uint32_t { kTableCallbacks = 1 };

enum Module : uint32_t { kModuleCore = 1, kModuleCore2 = 5 };

/// Slots of kModuleCore.
enum CoreSlot : uint32_t {
  kMarkEx = 1,
  kMarkA = 2,
  kMarkW = 3,
  kRangeStartEx = 4,
  kRangeStartA = 5,
  kRangeStartW = 6,
  kRangeEnd = 7,
  kRangePushEx = 8,
  kRangePushA = 9,
  kRangePushW = 10,
  kRangePop = 11,
  kNameCategoryA = 12,
  kNameCategoryW = 13,
};

/// Slots of kModuleCore2.
enum Core2Slot : uint32_t {
  kDomainMarkEx = 1,
  kDomainRangeStartEx = 2,
  kDomainRangeEnd = 3,
  kDomainRangePushEx = 4,
  kDomainRangePop = 5,
  kDomainNameCategoryA = 8,
  kDomainNameCategoryW = 9,
  kDomainRegisterStringA = 10,
  kDomainRegisterStringW = 11,
  kDomainCreateA = 12,
  kDomainCreateW = 13,
  kDomainDestroy = 14,
};

using Function = void (*)();
using FunctionTable = Function**;  // by slot: where the module keeps the function's address

struct CallbackTable {
  size_t struct_size;
  int (*get_module_functions)(uint32_t module, FunctionTable* table, uint32_t* size);
};

using GetExportTable = const void* (*)(uint32_t table);

enum PayloadType : int32_t {
  kPayloadNone = 0,
  kPayloadUint64 = 1,
  kPayloadInt64 = 2,
  kPayloadDouble = 3,
  kPayloadUint32 = 4,
  kPayloadInt32 = 5,
  kPayloadFloat = 6,
};

enum MessageType : int32_t {
  kMessageNone = 0,
  kMessageAscii = 1,
  kMessageWide = 2,
  kMessageRegistered = 3,
};

struct EventAttributes {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t reserved;
  union {
    uint64_t uint64;
    int64_t int64;
    double real64;
    uint32_t uint32;
    int32_t int32;
    float real32;
  } payload;
  int32_t message_type;
  union {
    const char* ascii;
    const wchar_t* wide;
    const Registered* registered;
  } message;
};

/// What push and pop return when nobody keeps track of them.
inline constexpr int kNoTracking = -2;

}  // namespace proton::nvtx
