/// Events of Perfetto traces as columns.
#include "files/packet_scanner.h"

#include <string>

#include "check.h"
#include "files/perfetto_fields.h"
#include "files/proto_encoder.h"

using namespace proton;
using namespace proton::perfetto;

namespace {

std::string packet_of(const ProtoEncoder& event, uint64_t timestamp, uint64_t sequence = 2) {
  ProtoEncoder packet;
  packet.varint_field(packet::kTimestamp, timestamp);
  packet.varint_field(packet::kSequenceId, sequence);
  packet.bytes_field(packet::kTrackEvent, event.view());
  ProtoEncoder outer;
  outer.bytes_field(kTracePacket, packet.view());
  return std::string(outer.view());
}

std::string event_packet(uint64_t type, uint64_t timestamp, uint64_t flow = 0,
                         bool is_last = false) {
  ProtoEncoder out;
  out.varint_field(event::kType, type);
  if (type != event_type::kEnd) out.varint_field(event::kNameIid, 1);
  if (flow != 0) out.fixed64_field(is_last ? event::kTerminatingFlowId : event::kFlowId, flow);
  return packet_of(out, timestamp);
}

}  // namespace

TEST(begins_and_ends_of_a_track_become_spans_by_start) {
  PacketScanner scanner;
  scanner.begin_sequence(2, {.track = 7, .is_incremental = true, .last_ns = 1000});
  const std::string block = event_packet(event_type::kBegin, 10) +
                            event_packet(event_type::kBegin, 5) +
                            event_packet(event_type::kEnd, 1) + event_packet(event_type::kEnd, 1) +
                            event_packet(event_type::kEnd, 1);
  CHECK_EQ(*scanner.scan(block, 0), block.size());
  CHECK_EQ(scanner.lone_ends, uint64_t{1});
  const auto found = scanner.ordered(1000, {0}, {0});
  CHECK_EQ(found.start_ns.size(), size_t{2});
  CHECK_EQ(found.start_ns[0], 10.0);
  CHECK_EQ(found.duration_ns[0], 7.0);
  CHECK_EQ(found.duration_ns[1], 1.0);
  CHECK_EQ(scanner.shapes.size(), size_t{1});
}

TEST(flows_connect_the_events_that_name_them) {
  PacketScanner scanner;
  scanner.begin_sequence(2, {.track = 7});
  const std::string block = event_packet(event_type::kInstant, 30, 5, true) +
                            event_packet(event_type::kInstant, 10, 5) +
                            event_packet(event_type::kBegin, 40);
  CHECK_EQ(*scanner.scan(block, 0), block.size());
  CHECK_EQ(scanner.unclosed_count(), uint64_t{1});
  const auto found = scanner.ordered(0, {0}, {0});
  CHECK_EQ(found.flows.size(), size_t{1});
  CHECK((found.flows[0] == ScannedFlow{0, 1, 5}));
}

TEST(packets_of_a_sequence_that_did_not_begin_stop_the_scan) {
  PacketScanner scanner;
  const std::string block = event_packet(event_type::kBegin, 10);
  CHECK_EQ(*scanner.scan(block, 0), size_t{0});
}

TEST(damaged_blocks_are_not_taken_at_any_length) {
  const std::string block =
      event_packet(event_type::kBegin, 10, 3) + event_packet(event_type::kEnd, 12);
  for (size_t size = 1; size < block.size(); ++size) {
    PacketScanner scanner;
    scanner.begin_sequence(2, {.track = 7});
    const auto stopped = scanner.scan(std::string_view(block).substr(0, size), 0);
    CHECK(!stopped || *stopped <= size);
  }
}
