#include "backends/cupti/clock.h"

#include <algorithm>
#include <cstdlib>

namespace proton::cupti {

void ClockMap::start(const ClockPair& pair) {
  first_ = last_ = pair;
  drift_ = 0;
  residual_ns_ = 0;
  is_same_ = is_same();
}

void ClockMap::update(const ClockPair& pair) {
  const int64_t expected = to_host(static_cast<uint64_t>(pair.cupti_ns));
  residual_ns_ = std::max(residual_ns_, std::abs(pair.host_ns - expected));
  last_ = pair;
  is_same_ = is_same();
  const int64_t span = last_.cupti_ns - first_.cupti_ns;
  if (span < kShortestNs) return;
  drift_ = static_cast<double>(last_.offset_ns() - first_.offset_ns()) / static_cast<double>(span);
}

bool ClockMap::is_same() const {
  return std::abs(first_.offset_ns()) < kSameNs && std::abs(last_.offset_ns()) < kSameNs;
}

}  // namespace proton::cupti
