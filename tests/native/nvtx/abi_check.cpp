/// Holds our private header of NVTX against NVIDIA's own. Not part of the native tests:
/// tests/integration/test_nvtx_abi.py compiles it once per set of headers.
#include <nvtx3/nvToolsExt.h>

#include <cstddef>

#include "nvtx/abi.h"

namespace ours = proton::nvtx;

#define SAME(mine, theirs)                                                      \
  static_assert(static_cast<long long>(mine) == static_cast<long long>(theirs), \
                #mine " is not " #theirs)
#define SAME_FIELD(field, name)                                                                  \
  static_assert(offsetof(ours::EventAttributes, field) == offsetof(nvtxEventAttributes_t, name), \
                "EventAttributes." #field " is not where " #name " is");                         \
  static_assert(sizeof(ours::EventAttributes::field) == sizeof(nvtxEventAttributes_t::name),     \
                "EventAttributes." #field " has not the size of " #name)

static_assert(sizeof(ours::EventAttributes) == sizeof(nvtxEventAttributes_t));
SAME_FIELD(version, version);
SAME_FIELD(size, size);
SAME_FIELD(category, category);
SAME_FIELD(color_type, colorType);
SAME_FIELD(color, color);
SAME_FIELD(payload_type, payloadType);
SAME_FIELD(payload, payload);
SAME_FIELD(message_type, messageType);
SAME_FIELD(message, message);

SAME(ours::kPayloadNone, NVTX_PAYLOAD_UNKNOWN);
SAME(ours::kPayloadUint64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
SAME(ours::kPayloadInt64, NVTX_PAYLOAD_TYPE_INT64);
SAME(ours::kPayloadDouble, NVTX_PAYLOAD_TYPE_DOUBLE);
SAME(ours::kPayloadUint32, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
SAME(ours::kPayloadInt32, NVTX_PAYLOAD_TYPE_INT32);
SAME(ours::kPayloadFloat, NVTX_PAYLOAD_TYPE_FLOAT);
SAME(ours::kMessageNone, NVTX_MESSAGE_UNKNOWN);
SAME(ours::kMessageAscii, NVTX_MESSAGE_TYPE_ASCII);
SAME(ours::kMessageWide, NVTX_MESSAGE_TYPE_UNICODE);
SAME(ours::kMessageRegistered, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(ours::kNoTracking, NVTX_NO_PUSH_POP_TRACKING);

SAME(ours::kTableCallbacks, NVTX_ETID_CALLBACKS);
SAME(ours::kModuleCore, NVTX_CB_MODULE_CORE);
SAME(ours::kModuleCore2, NVTX_CB_MODULE_CORE2);
static_assert(sizeof(ours::CallbackTable) == sizeof(NvtxExportTableCallbacks));
static_assert(offsetof(ours::CallbackTable, get_module_functions) ==
              offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
static_assert(sizeof(ours::FunctionTable) == sizeof(NvtxFunctionTable));

#define SAME_CORE(name) SAME(ours::k##name, NVTX_CBID_CORE_##name)
#define SAME_CORE2(name) SAME(ours::k##name, NVTX_CBID_CORE2_##name)
SAME_CORE(MarkEx);
SAME_CORE(MarkA);
SAME_CORE(MarkW);
SAME_CORE(RangeStartEx);
SAME_CORE(RangeStartA);
SAME_CORE(RangeStartW);
SAME_CORE(RangeEnd);
SAME_CORE(RangePushEx);
SAME_CORE(RangePushA);
SAME_CORE(RangePushW);
SAME_CORE(RangePop);
SAME_CORE(NameCategoryA);
SAME_CORE(NameCategoryW);
SAME_CORE2(DomainMarkEx);
SAME_CORE2(DomainRangeStartEx);
SAME_CORE2(DomainRangeEnd);
SAME_CORE2(DomainRangePushEx);
SAME_CORE2(DomainRangePop);
SAME_CORE2(DomainNameCategoryA);
SAME_CORE2(DomainNameCategoryW);
SAME_CORE2(DomainRegisterStringA);
SAME_CORE2(DomainRegisterStringW);
SAME_CORE2(DomainCreateA);
SAME_CORE2(DomainCreateW);
SAME_CORE2(DomainDestroy);

/// A real user of NVTX: what it returns tells whether a tool was found.
int main() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("domain");
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "text");
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
  nvtxRangeEnd(nvtxRangeStartA("started"));
  return domain == nullptr || event.message.registered == nullptr ? 1 : 0;
}
