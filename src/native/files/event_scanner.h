/// Reads the events of a chrome trace into columns: what differs from event to event (times, ids)
/// as numbers, all the rest once, as texts that Python's reader checks and understands. The call
/// stack is a text of its own: of contexts there are many, of the rest of events few.
///
/// What this does not know it does not take: then Python's reader reads the whole file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/key_index.h"
#include "files/scanned_flow.h"
#include "files/text_numbers.h"

namespace proton {

/// What Python says of the events of one shape.
struct EventRole {
  enum Kind : uint8_t { kNone = 0, kSpan = 1, kSource = 2, kTarget = 3, kInstant = 4 };
  Kind kind = kNone;
  uint32_t row = 0;       // of spans and ends of flows
  uint32_t category = 0;  // of ends of flows; of spans the ends that stand on them: kOut, kIn
  static constexpr uint32_t kOut = 1, kIn = 2;
};

class EventScanner {
 public:
  /// Takes the whole text of a file; false where it is not one for this scanner. `release` is told
  /// up to where the text is not needed any more.
  bool scan(std::string_view text, std::function<void(size_t)> release = {});

  /// The file without its events.
  std::string outside;
  TextNumbers heads;      // events as JSON, without times, ids and arguments
  TextNumbers arguments;  // objects `args` without numbers of scopes and call stacks
  TextNumbers stacks;     // values of `call_stack`
  static constexpr uint32_t kNoText = UINT32_MAX;

  /// Numbers of the three; events of one shape differ in times and ids alone.
  struct Shape {
    uint32_t head;
    uint32_t arguments;  // or kNoText
    uint32_t stack;      // or kNoText
  };
  std::vector<Shape> shapes;
  std::vector<uint32_t> count;  // by shape: how many events have it
  std::vector<uint32_t> last;   // by shape: the place of the last of them

  struct Bound {
    std::vector<uint32_t> shape;
    std::vector<uint32_t> lane;
    std::vector<double> start_ns;
    std::vector<double> duration_ns;
    std::vector<uint32_t> rows;  // by lane, as spans first use them
    std::vector<ScannedFlow> flows;
    uint64_t negative = 0;  // durations
    uint64_t unbound = 0;   // ends of flows
    double shift_us = 0;    // what was taken off all starts, as absolute times lose digits in ns
  };
  /// The spans and what flows connect; nothing where an event lacks a number that it needs.
  std::optional<Bound> bind(const std::vector<EventRole>& roles) const;

 private:
  class Cursor;
  class FlowEnds;

  bool scan_events(Cursor& cursor);
  bool scan_event(Cursor& cursor);
  bool scan_member(Cursor& cursor);
  bool scan_arguments(Cursor& cursor);
  uint32_t shape_number();

  KeyIndex kinds_;         // head and arguments -> number
  KeyIndex shape_places_;  // kind and stack -> shape
  std::vector<uint32_t> shape_;
  std::vector<double> ts_us_;   // NaN where there is none
  std::vector<double> dur_us_;  // the same
  std::vector<int64_t> bind_;   // the same
  std::vector<int64_t> id_;     // kNoId where there is none
  std::function<void(size_t)> release_;
  std::string head_, arguments_;  // of the event that is being read
  std::string_view stack_;        // the same; empty where there is none
  double ts_ = 0, dur_ = 0;
  int64_t identity_ = 0, bound_ = 0;
};

}  // namespace proton
