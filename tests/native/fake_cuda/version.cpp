/// The one file that differs between the fake libraries: which CUPTI they play.
#include "records.h"

#ifndef FAKE_CUPTI_VERSION
#define FAKE_CUPTI_VERSION 130001
#endif

namespace fake {

const uint32_t kCuptiVersion = FAKE_CUPTI_VERSION;

size_t record_size(uint32_t kind) {
  constexpr bool is_13 = FAKE_CUPTI_VERSION >= 130000;
  constexpr bool is_13_4 = FAKE_CUPTI_VERSION >= 130400;
  constexpr bool is_12_8 = FAKE_CUPTI_VERSION >= 26;
  switch (kind) {
    case kKernel:
    case kConcurrentKernel:
      return is_13_4 ? 248 : is_13 ? 216 : 208;
    case kMemcpy:
      return is_13_4 ? 112 : is_12_8 ? 96 : 88;
    case kMemset:
      return is_13_4 ? 104 : 88;
    case kMemcpyPeer:
      return sizeof(MemcpyPeerRecord);
    case kUnifiedMemory:
      return is_12_8 ? 104 : 64;
    case kGraphTrace:
      return sizeof(GraphRecord);
    case kExternalCorrelation:
      return sizeof(ExternalRecord);
    case kDriverApi:
      return sizeof(ApiRecord);
    default:
      return 0;
  }
}

}  // namespace fake
