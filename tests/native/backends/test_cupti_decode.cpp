// Hand-made records of CUPTI become events.
#include "backends/cupti/driver/activities.h"
#include "check.h"

using namespace proton;
using namespace proton::cupti;

namespace {

struct Decoder {
  NamePool names;
  ClockMap clock;
  KernelEvent event;

  template <typename Record>
  Decoded operator()(const Record& record) {
    return decode(&record, names, clock, event);
  }
};

KernelRecord kernel_record() {
  KernelRecord record{};
  record.kind = kConcurrentKernelActivity;
  record.start = 100;
  record.end = 150;
  record.device_id = 1;
  record.stream_id = 7;
  record.correlation_id = 42;
  record.grid_x = 4;
  record.grid_y = record.grid_z = 1;
  record.block_x = 128;
  record.block_y = record.block_z = 1;
  record.registers_per_thread = 40;
  record.static_shared_memory = 1024;
  record.dynamic_shared_memory = 2048;
  record.graph_node_id = 9;
  record.name = "matmul";
  return record;
}

}  // namespace

TEST(a_kernel_record_becomes_an_event_with_its_launch_shape) {
  Decoder decoder;
  CHECK(decoder(kernel_record()) == Decoded::kEvent);
  const KernelEvent& event = decoder.event;
  CHECK(event.kind == EventKind::kKernel);
  CHECK_EQ(event.name, "matmul");
  CHECK_EQ(event.correlation, 42);
  CHECK_EQ(event.start_ns, 100);
  CHECK_EQ(event.end_ns, 150);
  CHECK_EQ(event.device_id, 1);
  CHECK_EQ(event.lane, 7);
  CHECK_EQ(event.graph_node, 9);
  CHECK(event.shape == (LaunchShape{{4, 1, 1}, {128, 1, 1}, 40, 1024, 2048}));
}

TEST(a_record_of_work_that_has_not_ended_is_incomplete) {
  Decoder decoder;
  KernelRecord record = kernel_record();
  record.end = 0;
  CHECK(decoder(record) == Decoded::kIncomplete);
}

TEST(copies_and_memsets_are_named_by_their_direction) {
  Decoder decoder;
  MemcpyRecord copy{};
  copy.kind = kMemcpyActivity;
  copy.start = copy.end = 5;
  copy.bytes = 64;
  for (const auto& [kind, name] : {std::pair{1, "<memcpy HtoD>"}, std::pair{2, "<memcpy DtoH>"},
                                   std::pair{8, "<memcpy DtoD>"}, std::pair{99, "<memcpy>"}}) {
    copy.copy_kind = static_cast<uint8_t>(kind);
    CHECK(decoder(copy) == Decoded::kEvent);
    CHECK_EQ(decoder.event.name, name);
    CHECK(decoder.event.kind == EventKind::kCopy);
    CHECK_EQ(decoder.event.bytes, 64);
  }
  MemsetRecord set{};
  set.kind = kMemsetActivity;
  set.start = set.end = 5;
  set.bytes = 12;
  CHECK(decoder(set) == Decoded::kEvent);
  CHECK_EQ(decoder.event.name, "<memset>");
  CHECK_EQ(decoder.event.bytes, 12);
  MemcpyPeerRecord peer{};
  peer.kind = kMemcpyPeerActivity;
  peer.start = peer.end = 5;
  peer.correlation_id = 3;
  CHECK(decoder(peer) == Decoded::kEvent);
  CHECK_EQ(decoder.event.name, "<memcpy PtoP>");
  CHECK_EQ(decoder.event.correlation, 3);
}

TEST(migrations_of_pages_were_asked_for_by_nobody) {
  Decoder decoder;
  UnifiedMemoryRecord record{};
  record.kind = kUnifiedMemoryActivity;
  record.counter_kind = kBytesDtoH;
  record.value = 4096;
  record.start = record.end = 5;
  record.source_id = 2;
  CHECK(decoder(record) == Decoded::kUnasked);
  CHECK_EQ(decoder.event.name, "<unified memory DtoH>");
  CHECK_EQ(decoder.event.device_id, 2);
  record.counter_kind = kCpuPageFaults;
  CHECK(decoder(record) == Decoded::kIgnored);
}

TEST(a_graph_record_is_one_event_a_replay) {
  Decoder decoder;
  GraphRecord record{};
  record.kind = kGraphTraceActivity;
  record.correlation_id = 5;
  record.start = 1;
  record.end = 9;
  CHECK(decoder(record) == Decoded::kEvent);
  CHECK(decoder.event.kind == EventKind::kGraph);
  CHECK_EQ(decoder.event.name, "<graph 0>");
}

TEST(kinds_that_nobody_asked_for_are_left_alone) {
  Decoder decoder;
  const uint32_t record[8] = {77};
  CHECK(decoder(record) == Decoded::kIgnored);
}

TEST(a_name_is_copied_once_and_noticed_when_its_memory_changes) {
  Decoder decoder;
  char text[] = "first";
  KernelRecord record = kernel_record();
  record.name = text;
  decoder(record);
  const uint32_t id = decoder.event.name_id;
  decoder(record);
  CHECK_EQ(decoder.event.name_id, id);
  text[0] = 'F';
  decoder.names.start_turn();  // the next buffer
  decoder(record);
  CHECK(decoder.event.name_id != id);
  CHECK_EQ(decoder.event.name, "First");
  record.name = nullptr;
  decoder(record);
  CHECK_EQ(decoder.event.name, "<unknown kernel>");
}
