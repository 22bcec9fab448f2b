/// Records of CUPTI as events: no state but the names and the clock, so that tests can feed records
/// of their own making. Not locked: used under the lock of the sink table.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/cupti/driver/abi.h"
#include "base/key_index.h"
#include "model/event.h"

namespace proton::cupti {

/// Names of kernels and copies, by the driver's pointer: the text is copied at first sight, and
/// compared again once a buffer, because a pointer may come back with another text after a module
/// was unloaded.
class NamePool {
 public:
  struct Name {
    uint32_t id;  // from 1
    std::string text;
    uint32_t checked = 0;  // the turn in which the text was compared last
  };

  /// The name at `text`; null stands for a kernel without one. The reference stays good.
  const Name& find(const char* text) {
    if (text == last_text_ && text != nullptr) return *last_;
    return find_other(text);
  }

  /// Call it for every buffer: from here on texts are compared anew.
  void start_turn() {
    ++turn_;
    last_text_ = nullptr;
  }

  /// `<graph 3>`; `<graph>` where there have been too many.
  const Name& find_graph(uint32_t graph);

  size_t size() const { return names_.size(); }

 private:
  static constexpr size_t kGraphLimit = 4096;

  const Name& find_other(const char* text);

  KeyIndex by_pointer_;
  KeyIndex by_graph_;
  std::vector<std::unique_ptr<Name>> names_;
  uint32_t turn_ = 1;
  const char* last_text_ = nullptr;  // found in this turn
  const Name* last_ = nullptr;
};

/// One moment on both clocks.
struct ClockPair {
  int64_t cupti_ns = 0;
  int64_t host_ns = 0;

  int64_t offset_ns() const { return host_ns - cupti_ns; }
};

/// From CUPTI's clock to the host's. Where the library lets us, CUPTI stamps records with the host
/// clock itself; either way pairs of readings tell what is left between the two, and how it drifts.
class ClockMap {
 public:
  /// A new recording starts here.
  void start(const ClockPair& pair);
  /// A later reading: the drift since the start becomes known.
  void update(const ClockPair& pair);

  int64_t to_host(uint64_t cupti_ns) const {
    const auto time_ns = static_cast<int64_t>(cupti_ns);
    if (is_same_) [[likely]] {
      return time_ns;
    }
    const auto since = static_cast<double>(time_ns - first_.cupti_ns);
    return time_ns + first_.offset_ns() + static_cast<int64_t>(since * drift_);
  }

  int64_t offset_ns() const { return last_.offset_ns(); }
  /// The largest step between where a reading was expected and where it was.
  int64_t residual_ns() const { return residual_ns_; }

 private:
  /// Clocks this near are one clock, read at two moments.
  static constexpr int64_t kSameNs = 2000;

  /// A reading is off by up to a microsecond: a shorter span could not tell drift from that.
  static constexpr int64_t kShortestNs = 100'000'000;

  bool is_same() const;

  ClockPair first_;
  ClockPair last_;
  double drift_ = 0;  // host nanoseconds gained per CUPTI nanosecond
  int64_t residual_ns_ = 0;
  bool is_same_ = true;  // what `is_same` said of the pairs of now
};

enum class Decoded : uint8_t {
  kEvent,       // of a launch
  kUnasked,     // an event that no call of the program asked for: migrations of pages
  kIncomplete,  // handed over before its work had ended; only its correlation id is known
  kIgnored,     // a kind that we do not read
};

/// Reads the record at `record` into `event`, all but its contexts.
Decoded decode(const void* record, NamePool& names, const ClockMap& clock, KernelEvent& event);

}  // namespace proton::cupti
