/// Perfetto traces as bytes; what they say is tested with Perfetto's own classes from Python.
#include "files/writers.h"

#include <dlfcn.h>

#include <string>

#include "check.h"
#include "files/packet_sink.h"
#include "trees.h"

using proton::LaneKind;
using proton::SpanKind;
using proton::TraceLog;
using namespace proton::test;

namespace {

/// The packets of a trace that is one block, unpacked.
std::string packets_of(const TraceLog& log) {
  proton::MemorySink sink;
  write_perfetto(log, sink);
  std::string file = sink.take();
  CHECK_EQ(static_cast<int>(file[0]), 0x0A);
  if (!proton::can_deflate()) return file;
  // Trace.packet, its size, TracePacket.compressed_packets (two bytes), its size.
  size_t at = 1;
  const auto skip_varint = [&] {
    while ((file[at++] & 0x80) != 0) {
    }
  };
  skip_varint();
  CHECK_EQ(file.substr(at, 2), std::string("\x92\x03"));
  at += 2;
  skip_varint();
  using Uncompress = int (*)(unsigned char*, unsigned long*, const unsigned char*, unsigned long);
  void* library = dlopen("libz.so.1", RTLD_NOW);
  const auto uncompress = reinterpret_cast<Uncompress>(dlsym(library, "uncompress"));
  std::string packets(1 << 20, '\0');
  unsigned long size = packets.size();
  CHECK_EQ(uncompress(reinterpret_cast<unsigned char*>(packets.data()), &size,
                      reinterpret_cast<const unsigned char*>(file.data() + at), file.size() - at),
           0);
  packets.resize(size);
  dlclose(library);
  return packets;
}

}  // namespace

TEST(an_empty_log_is_a_trace_with_a_summary) {
  const std::string packets = packets_of(empty_log());
  CHECK_HAS(packets, R"({"format":1,"losses":{},)");
  CHECK_HAS(packets, R"("lanes":[],"tracks":[],"paths":[0,0],"names":["ROOT"]})");
}

TEST(a_name_is_written_once_however_often_it_ran) {
  TraceLog log = empty_log();
  const uint32_t lane = add_lane(log, LaneKind::kDevice, 7);
  const uint32_t path = add_path(log, add_path(log, 0, "outer"), "kernel_name");
  for (int64_t i = 0; i < 100; ++i) {
    add_span(log, SpanKind::kKernel, lane, path, 1'000 + 10 * i, 1'005 + 10 * i);
  }
  const std::string packets = packets_of(log);
  CHECK_EQ(count_of(packets, "kernel_name"), size_t{3});  // in its call stack and our tables too
  CHECK_EQ(count_of(packets, "outer > kernel_name"), size_t{1});
  CHECK_HAS(packets, R"("lanes":[["[0, 200007]","GPU Stream 7","device",0]])");
  CHECK_HAS(packets,
            R"("tracks":[0],"paths":[0,0,0,1,1,2],"names":["ROOT","outer","kernel_name"])");
}

TEST(blocks_that_are_compressed_at_once_stand_in_order) {
  TraceLog log = empty_log();
  const uint32_t lane = add_lane(log, LaneKind::kDevice, 7);
  const uint32_t path = add_path(log, 0, "k");
  for (int64_t i = 0; i < 100'000; ++i) {
    add_span(log, SpanKind::kKernel, lane, path, 1'000 + 10 * i, 1'005 + 10 * i + i % 5);
  }
  proton::MemorySink first;
  proton::MemorySink second;
  write_perfetto(log, first);
  write_perfetto(log, second);
  const std::string bytes = first.take();
  CHECK(bytes == second.take());
  CHECK(bytes.size() < size_t{2'000'000});
}

TEST(launch_attributes_are_annotations) {
  TraceLog log = empty_log();
  const uint32_t lane = add_lane(log, LaneKind::kDevice, 0);
  using proton::Value;
  const Value::List grid = {{int64_t{4}}, {int64_t{2}}, {int64_t{1}}};
  log.attributes.push_back({{"grid", {grid}}, {"registers", {int64_t{32}}}});
  add_span(log, SpanKind::kKernel, lane, add_path(log, 0, "k"), 1'000, 2'000).attributes = 1;
  const std::string packets = packets_of(log);
  CHECK_HAS(packets, "4x2x1");
  CHECK_HAS(packets, "registers");
}

TEST(losses_found_while_writing_are_in_the_summary) {
  TraceLog log = empty_log();
  const uint32_t lane = add_lane(log, LaneKind::kHost, 0);
  add_span(log, SpanKind::kScope, lane, add_path(log, 0, "bad \xFF"), 2'000, 1'000);
  for (int64_t i = 0; i < 70; ++i) {
    add_span(log, SpanKind::kScope, lane, add_path(log, 0, "s"), 3'000 + i, 9'000 + i);
  }
  const std::string packets = packets_of(log);
  CHECK_HAS(packets, R"("losses":{"clipped_span":6,"invalid_text":1,"negative_duration":1})");
}

TEST(a_log_that_was_read_says_its_rows_flows_and_summary_itself) {
  TraceLog log = empty_log();
  const uint32_t lane = add_lane(log, LaneKind::kDevice, 7);
  log.rows.push_back({0, "Stream", -3, "", "", "a key", "a title"});
  log.paths.push_back({proton::kNoPath, &log.strings.emplace_back("_Z3addIiEvPT_")});
  for (int64_t i = 0; i < 100; ++i) {
    add_span(log, SpanKind::kOther, lane, 1, 1'000 + i, 5'000 + i, {{"n", UINT64_MAX}});
  }
  log.flow_ends = {{0, 1, true}, {0, 2, true}, {1, 1, false}, {2, 2, false}};
  log.summary_text = R"({"format":1})";
  log.has_unix_time = false;
  const std::string packets = packets_of(log);
  CHECK_HAS(packets, R"({"format":1})");
  CHECK_HAS(packets, "_Z3addIiEvPT_");  // no path, so that it is said as it stands
  CHECK_HAS(packets, R"({"zero_ns":1700000000000000000,"lanes":[["a key","a title","device",-3]])");
  CHECK_EQ(count_of(packets, "Stream"), size_t{100});  // a track for each, however many overlap
}
