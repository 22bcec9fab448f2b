/// The one file that differs between the fake libraries: which CUPTI they play.
#include "records.h"

#ifndef FAKE_CUPTI_VERSION
#define FAKE_CUPTI_VERSION 130001
#endif

namespace fake {

const uint32_t kCuptiVersion = FAKE_CUPTI_VERSION;

}  // namespace fake
