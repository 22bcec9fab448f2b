/// Runs of the kernel that reads metric values from device memory, as known profiles show them: a
/// row `<metric>` that counts and has no time, below the frame of launch metadata, which viewers
/// leave out. Guarded by the lock of the booking on devices.
#pragma once

#include <cstdint>
#include <vector>

#include "base/key_index.h"
#include "model/device_value.h"
#include "model/ids.h"
#include "session/booking/captured_places.h"

namespace proton {

inline constexpr const char* kValueRead = "<metric>";

/// Whose value is read: a scope's at its place, or that of a kernel which was launched there.
struct ReadOwner {
  static constexpr uint32_t kNoKernel = UINT32_MAX;

  PlaceId place;
  uint32_t kernel = kNoKernel;  // of the session's kernels
};

/// All reads of one owner, in a tree.
struct ReadRow {
  ReadOwner owner;
  int64_t count = 0;
};

/// One read of a replayed graph, in a trace: nothing tells when others ran.
struct ReadSpan {
  ReadOwner owner;
  uint32_t device;  // of the session's devices
  uint64_t lane;
  int64_t time_ns;
};

class ValueReads {
 public:
  void count(const ReadOwner& owner) {
    const uint64_t key = pair_key(owner.place, owner.kernel + 1);
    ++rows_[index_.row_of(key, rows_, [&] { return ReadRow{owner}; })].count;
  }
  void add_span(const ReadOwner& owner, const ValueEvent& event, uint32_t device) {
    const bool is_timed = event.capture != kNoContext && event.time_ns != 0;
    if (is_timed) spans_.push_back({owner, device, event.lane, event.time_ns});
  }

  const std::vector<ReadRow>& rows() const { return rows_; }
  const std::vector<ReadSpan>& spans() const { return spans_; }

 private:
  KeyIndex index_;  // owner -> row
  std::vector<ReadRow> rows_;
  std::vector<ReadSpan> spans_;
};

}  // namespace proton
