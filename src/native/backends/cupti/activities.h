/// Records of CUPTI as events: no state but the names and the clock, so that tests can feed records
/// of their own making.
#pragma once

#include <cstdint>

#include "backends/cupti/abi.h"
#include "backends/cupti/clock.h"
#include "backends/cupti/names.h"
#include "model/event.h"

namespace proton::cupti {

enum class Decoded : uint8_t {
  kEvent,       // of a launch
  kUnasked,     // an event that no call of the program asked for: migrations of pages
  kIncomplete,  // handed over before its work had ended; only its correlation id is known
  kIgnored,     // a kind that we do not read
};

/// Reads the record at `record` into `event`, all but its contexts.
Decoded decode(const void* record, NamePool& names, const ClockMap& clock, KernelEvent& event);

}  // namespace proton::cupti
