#include "files/packet_scanner.h"

#include <algorithm>
#include <numeric>

#include "files/perfetto_fields.h"

namespace proton {

namespace {

using namespace perfetto;

constexpr int64_t kTimeLimit = int64_t{1} << 62;
constexpr size_t kMaxAnnotations = 1 << 20;  // different ones, before a trace is no longer common
constexpr std::string_view kCallStack = "call_stack";

/// The fields of a message, one by one.
class FieldReader {
 public:
  enum Wire : uint8_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

  explicit FieldReader(std::string_view bytes) : bytes_(bytes) {}

  /// Whether there is one more; `is_damaged` says why not.
  bool next() {
    if (at_ >= bytes_.size()) return false;
    begin_ = at_;
    uint64_t key;
    if (!varint(key)) return false;
    field = key >> 3;
    wire = static_cast<Wire>(key & 7);
    switch (wire) {
      case kVarint:
        return varint(number);
      case kFixed64:
        return fixed(8);
      case kFixed32:
        return fixed(4);
      case kLength: {
        uint64_t size;
        if (!varint(size)) return false;
        if (size > bytes_.size() - at_) return fail();
        bytes = bytes_.substr(at_, size);
        at_ += size;
        return true;
      }
    }
    return fail();
  }

  bool is_number() const { return wire != kLength; }
  /// The field as it stands, key and all.
  std::string_view whole() const { return bytes_.substr(begin_, at_ - begin_); }

  uint64_t field = 0;
  Wire wire = kVarint;
  uint64_t number = 0;
  std::string_view bytes;
  bool is_damaged = false;

 private:
  bool fail() {
    is_damaged = true;
    return false;
  }
  bool varint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ >= bytes_.size()) return fail();
      const auto byte = static_cast<uint8_t>(bytes_[at_++]);
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return true;
    }
    return fail();
  }
  bool fixed(size_t size) {
    if (size > bytes_.size() - at_) return fail();
    number = 0;
    for (size_t i = 0; i < size; ++i) {
      number |= uint64_t{static_cast<uint8_t>(bytes_[at_ + i])} << (8 * i);
    }
    at_ += size;
    return true;
  }

  std::string_view bytes_;
  size_t at_ = 0;
  size_t begin_ = 0;
};

/// A packet with an event and what goes with it, and nothing else.
struct PlainPacket {
  uint64_t sequence_id = 0;
  uint64_t timestamp = 0;
  std::string_view event;
  std::string_view interned;

  /// False: the packet is of another kind.
  bool read(std::string_view packet) {
    FieldReader fields(packet);
    bool has_event = false;
    while (fields.next()) {
      if (fields.field == packet::kTrackEvent && !fields.is_number() && !has_event) {
        event = fields.bytes;
        has_event = true;
      } else if (fields.field == packet::kInternedData && !fields.is_number() && interned.empty()) {
        interned = fields.bytes;
      } else if (fields.field == packet::kTimestamp && fields.is_number()) {
        timestamp = fields.number;
      } else if (fields.field == packet::kSequenceId && fields.is_number()) {
        sequence_id = fields.number;
      } else if (fields.field != packet::kSequenceFlags || !fields.is_number() ||
                 (fields.number & flags::kStateCleared) != 0) {
        return false;
      }
    }
    return has_event && !fields.is_damaged;
  }
};

}  // namespace

uint32_t PacketScanner::begin_sequence(uint64_t id, const ScannedSequence& state) {
  const auto number = static_cast<uint32_t>(sequences_.size());
  sequences_.push_back({state, {}, 0});
  by_id_[id] = number;
  return number;
}

std::optional<size_t> PacketScanner::scan(std::string_view block, size_t at) {
  while (at < block.size()) {
    FieldReader outer(block.substr(at));
    if (!outer.next() || outer.field != kTracePacket || outer.is_number()) return std::nullopt;
    PlainPacket packet;
    if (!packet.read(outer.bytes)) return at;
    const auto found = by_id_.find(packet.sequence_id);
    if (found == by_id_.end()) return at;
    Sequence& sequence = sequences_[found->second];
    if (!packet.interned.empty() && !take_interned(packet.interned, sequence)) return std::nullopt;
    ScannedSequence& state = sequence.state;
    if (packet.timestamp >= static_cast<uint64_t>(kTimeLimit)) return std::nullopt;
    const auto value = static_cast<int64_t>(packet.timestamp);
    state.last_ns = state.is_incremental ? state.last_ns + value : value;
    const int64_t time_ns = state.last_ns + state.offset_ns;
    if (state.last_ns >= kTimeLimit || time_ns >= kTimeLimit || time_ns <= -kTimeLimit) {
      return std::nullopt;
    }
    if (!take_event(packet.event, time_ns, found->second)) return std::nullopt;
    at += outer.whole().size();
  }
  return at;
}

bool PacketScanner::take_interned(std::string_view message, Sequence& sequence) {
  FieldReader fields(message);
  while (fields.next()) {
    size_t kind;
    if (fields.field == interned::kCategories) {
      kind = static_cast<size_t>(Text::kCategory);
    } else if (fields.field == interned::kNames) {
      kind = static_cast<size_t>(Text::kName);
    } else if (fields.field == interned::kAnnotationNames) {
      kind = static_cast<size_t>(Text::kAnnotationName);
    } else if (fields.field == interned::kAnnotationStrings) {
      kind = static_cast<size_t>(Text::kString);
    } else {
      continue;
    }
    if (fields.is_number()) continue;
    FieldReader entry(fields.bytes);
    uint64_t iid = 0;
    std::string_view text;
    while (entry.next()) {
      if (entry.field == interned::kIid && entry.is_number()) iid = entry.number;
      if (entry.field == interned::kText && !entry.is_number()) text = entry.bytes;
    }
    if (entry.is_damaged) return false;
    const auto [known, is_new] = sequence.texts[kind].try_emplace(iid, text);
    if (!is_new && known->second != text) return false;  // shapes would mean two things
    if (fields.field == interned::kAnnotationNames && text == kCallStack) {
      sequence.call_stack_iid = iid;
    }
  }
  return !fields.is_damaged;
}

bool PacketScanner::read_event(std::string_view message, const Sequence& sequence, Event& event) {
  annotated_.clear();
  arrows_.clear();
  FieldReader fields(message);
  while (fields.next()) {
    const bool is_number = fields.is_number();
    switch (fields.field) {
      case event::kType:
        if (!is_number) return false;
        event.type = fields.number;
        break;
      case event::kNameIid:
        if (!is_number || event.name_iid != 0 || !event.literal.empty()) return false;
        event.name_iid = fields.number;
        break;
      case event::kCategoryIid:
        if (!is_number || event.category_iid != 0) return false;
        event.category_iid = fields.number;
        break;
      case event::kName:
        if (is_number || event.name_iid != 0 || !event.literal.empty()) return false;
        event.literal = fields.bytes;
        break;
      case event::kAnnotation: {
        if (is_number) return false;
        FieldReader annotation(fields.bytes);
        const bool has_iid =
            annotation.next() && annotation.field == annotation::kNameIid && annotation.is_number();
        // Our reader has the path from the tables; the text is for people.
        if (has_iid && annotation.number == sequence.call_stack_iid && annotation.number != 0) {
          break;
        }
        annotated_ += fields.whole();
        break;
      }
      case event::kFlowId:
      case event::kTerminatingFlowId:
        if (!is_number) return false;
        arrows_.emplace_back(fields.number, fields.field == event::kTerminatingFlowId);
        break;
      case event::kTrackUuid:
        return false;
      default:
        break;
    }
  }
  return !fields.is_damaged;
}

bool PacketScanner::take_event(std::string_view message, int64_t time_ns, uint32_t sequence) {
  Event event;
  const ScannedSequence& state = sequences_[sequence].state;
  if (!read_event(message, sequences_[sequence], event)) return false;
  switch (event.type) {
    case event_type::kBegin:
    case event_type::kInstant:
      return begin_span(event, time_ns, sequence);
    case event_type::kEnd: {
      const auto found = open_.find(state.track);
      if (found == open_.end() || found->second.empty()) {
        ++lone_ends;
      } else {
        end_ns_[found->second.back()] = time_ns;
        found->second.pop_back();
      }
      return true;
    }
    case event_type::kCounter:
      other_types += !state.has_counter_track;
      return true;
    default:
      ++other_types;
      return true;
  }
}

bool PacketScanner::begin_span(const Event& event, int64_t time_ns, uint32_t sequence) {
  if (start_ns.size() >= UINT32_MAX || annotations.texts().size() >= kMaxAnnotations) return false;
  const SpanShape found{sequence, event.name_iid, event.category_iid,
                        literals.number_of(event.literal), annotations.number_of(annotated_)};
  const auto [known, is_new] =
      shape_numbers_.try_emplace(found, static_cast<uint32_t>(shapes.size()));
  if (is_new) shapes.push_back(found);
  const auto span = static_cast<uint32_t>(start_ns.size());
  start_ns.push_back(time_ns);
  end_ns_.push_back(kNotEnded);
  shape.push_back(known->second);
  for (const auto& [id, is_last] : arrows_) flow_ends_.push_back({id, is_last, time_ns, span});
  if (event.type == event_type::kBegin) open_[sequences_[sequence].state.track].push_back(span);
  return true;
}

std::optional<std::string_view> PacketScanner::text(uint32_t sequence, Text kind,
                                                    uint64_t iid) const {
  const auto& texts = sequences_.at(sequence).texts[static_cast<size_t>(kind)];
  const auto found = texts.find(iid);
  if (found == texts.end()) return std::nullopt;
  return found->second;
}

uint64_t PacketScanner::unclosed_count() const {
  uint64_t count = 0;
  for (const auto& [track, spans] : open_) count += spans.size();
  return count;
}

std::vector<ScannedFlow> PacketScanner::pair_flows() const {
  std::vector<FlowEnd> ends = flow_ends_;
  std::ranges::sort(ends);
  std::vector<ScannedFlow> found;
  for (size_t i = 1; i < ends.size(); ++i) {
    if (ends[i - 1].id == ends[i].id) found.push_back({ends[i - 1].span, ends[i].span, ends[i].id});
  }
  return found;
}

PacketScanner::Ordered PacketScanner::ordered(int64_t zero_ns, const std::vector<uint32_t>& lanes,
                                              const std::vector<uint32_t>& ranks) const {
  const size_t count = start_ns.size();
  std::vector<int64_t> duration_ns(count);
  for (size_t i = 0; i < count; ++i) {
    duration_ns[i] = end_ns_[i] == kNotEnded ? 0 : std::max(end_ns_[i], start_ns[i]) - start_ns[i];
  }
  const auto lane_of = [&](uint32_t span) { return lanes.at(shapes[shape[span]].sequence); };
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
    if (start_ns[a] != start_ns[b]) return start_ns[a] < start_ns[b];
    if (duration_ns[a] != duration_ns[b]) return duration_ns[a] > duration_ns[b];
    const uint32_t rank_a = ranks.at(lane_of(a)), rank_b = ranks.at(lane_of(b));
    return rank_a != rank_b ? rank_a < rank_b : a < b;
  });
  Ordered found;
  std::unordered_map<uint32_t, uint32_t> moved;
  std::vector<uint32_t> place(count);
  found.shape.reserve(count);
  found.lane.reserve(count);
  found.start_ns.reserve(count);
  found.duration_ns.reserve(count);
  for (uint32_t next = 0; next < count; ++next) {
    const uint32_t span = order[next];
    place[span] = next;
    const auto [lane, is_new] =
        moved.try_emplace(lane_of(span), static_cast<uint32_t>(found.lanes.size()));
    if (is_new) found.lanes.push_back(lane->first);
    found.shape.push_back(shape[span]);
    found.lane.push_back(lane->second);
    found.start_ns.push_back(static_cast<double>(start_ns[span] - zero_ns));
    found.duration_ns.push_back(static_cast<double>(duration_ns[span]));
  }
  found.flows = pair_flows();
  for (auto& [source, target, id] : found.flows) {
    source = place[source];
    target = place[target];
  }
  std::ranges::sort(found.flows);
  return found;
}

}  // namespace proton
