/// Reads the events of a Perfetto trace into columns. It knows what our own writer makes and much
/// of what others do; of anything else it says so, and Python's reader takes the file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "files/scanned_flow.h"
#include "files/text_numbers.h"

namespace proton {

/// What the events of a sequence refer to, until it is cleared.
struct ScannedSequence {
  uint64_t track = 0;
  bool has_counter_track = false;  // the track is described
  bool is_incremental = false;
  int64_t last_ns = 0;
  int64_t offset_ns = 0;
};

/// What spans share; texts are numbers of the sequence's interned texts.
struct SpanShape {
  uint32_t sequence;
  uint64_t name_iid;  // 0: none
  uint64_t category_iid;
  uint32_t literal;      // a place in `literals`; 0 is the empty name
  uint32_t annotations;  // a place in `annotations`; 0 is none
  bool operator==(const SpanShape&) const = default;
};

class PacketScanner {
 public:
  PacketScanner() {
    literals.number_of({});
    annotations.number_of({});
  }

  static constexpr int64_t kNotEnded = INT64_MIN;
  enum class Text : uint8_t { kCategory = 0, kName = 1, kAnnotationName = 2, kString = 3 };

  /// From now on packets of `id` are of a sequence in this state; its number.
  uint32_t begin_sequence(uint64_t id, const ScannedSequence& state);

  /// Takes packets from `at` on; where it stopped: at the end, or at a packet that changes the
  /// state or that it does not know. Nothing: the trace is one for Python's reader.
  std::optional<size_t> scan(std::string_view block, size_t at);

  /// The text that a sequence calls `iid`; nothing where it has none.
  std::optional<std::string_view> text(uint32_t sequence, Text kind, uint64_t iid) const;

  uint64_t unclosed_count() const;

  struct Ordered {
    std::vector<uint32_t> shape;
    std::vector<uint32_t> lane;
    std::vector<double> start_ns;
    std::vector<double> duration_ns;
    std::vector<uint32_t> lanes;  // those given, as spans first use them
    std::vector<ScannedFlow> flows;
  };
  /// The spans by start, the longer first, then by the rank of their lane. `lanes` and `ranks` are
  /// by sequence and by lane.
  Ordered ordered(int64_t zero_ns, const std::vector<uint32_t>& lanes,
                  const std::vector<uint32_t>& ranks) const;

  std::vector<SpanShape> shapes;
  TextNumbers literals;     // 0 is the empty one
  TextNumbers annotations;  // the same
  std::vector<int64_t> start_ns;
  std::vector<uint32_t> shape;
  uint64_t other_types = 0;  // events of a type that is not read
  uint64_t lone_ends = 0;

 private:
  struct Sequence {
    ScannedSequence state;
    std::array<std::unordered_map<uint64_t, std::string>, 4> texts;
    uint64_t call_stack_iid = 0;
  };
  struct FlowEnd {
    uint64_t id;
    bool is_last;
    int64_t start_ns;
    uint32_t span;
    auto operator<=>(const FlowEnd&) const = default;
  };
  struct ShapeHash {
    size_t operator()(const SpanShape& shape) const {
      uint64_t hash = mix_bits(uint64_t{shape.sequence} << 32 | shape.annotations);
      hash = mix_bits(hash ^ shape.name_iid);
      return mix_bits(hash ^ shape.category_iid ^ uint64_t{shape.literal} << 32);
    }
  };
  struct Event {
    uint64_t type = 0;
    uint64_t name_iid = 0;
    uint64_t category_iid = 0;
    std::string_view literal;
  };

  bool take_event(std::string_view message, int64_t time_ns, uint32_t sequence);
  bool take_interned(std::string_view message, Sequence& sequence);
  bool read_event(std::string_view message, const Sequence& sequence, Event& event);
  bool begin_span(const Event& event, int64_t time_ns, uint32_t sequence);
  std::vector<ScannedFlow> pair_flows() const;

  std::vector<Sequence> sequences_;
  std::unordered_map<uint64_t, uint32_t> by_id_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> open_;  // by track: spans, innermost last
  std::unordered_map<SpanShape, uint32_t, ShapeHash> shape_numbers_;
  std::vector<int64_t> end_ns_;
  std::vector<FlowEnd> flow_ends_;
  std::string annotated_;                          // annotations of the event that is being read
  std::vector<std::pair<uint64_t, bool>> arrows_;  // its flows
};

}  // namespace proton
