// Metric values on a device: reads from many threads, replays, a ring without room.
#include <array>
#include <atomic>
#include <thread>

#include "backends/cupti/driver/thread_cells.h"
#include "check.h"
#include "gpu.h"

namespace {

using proton::DeviceSample;
using proton::process;
using proton::SampleList;
using proton::cupti::ElementKind;
using proton::cupti::ValueSource;

void connect() {
  process.values = {
      [](proton::ValueId id, const proton::ValuePlace& place,
         std::span<const proton::ValueTarget> targets) {
        gpu::hub().commit_value(id, place, targets);
      },
      [](proton::ValueId id) { gpu::hub().drop_value(id); },
      proton::cupti::last_launch,
  };
}

/// Leaves the calling thread's scope with a metric "x" that is read from `value`.
void leave_with(const int64_t& value, void* stream = nullptr) {
  ValueSource source;
  source.address = reinterpret_cast<uint64_t>(&value);
  source.kind = ElementKind::kInt64;
  source.stream = stream;
  bool is_captured = false;
  const proton::ValueId id = gpu::hub().read_value(source, is_captured);
  const std::lock_guard gil(host::gil());
  SampleList samples;
  samples.add(DeviceSample{process.metric_names.intern("x"), id, int64_t{0}, is_captured});
  host::leave(samples);
}

void enter(const char* name) {
  const std::lock_guard gil(host::gil());
  host::enter(name);
}

int64_t value_at(gpu::Recording& recording, const std::string& path) {
  recording.flush();
  const std::lock_guard gil(host::gil());
  const proton::CallTree tree = host::tree(recording.session(), 0, {});
  const auto found = host::metric(tree, host::row_of(tree, path), "x");
  return std::holds_alternative<int64_t>(found) ? std::get<int64_t>(found) : -2;
}

}  // namespace

TEST(values_of_many_threads_reach_their_scopes_while_records_are_read) {
  gpu::begin();
  connect();
  gpu::Recording recording({}, proton::DataKind::kTree, 64 << 10);
  static const std::array<const char*, 4> names{"t0", "t1", "t2", "t3"};
  static const std::array<int64_t, 4> values{1, 20, 300, 4000};
  const uint64_t turns = gpu::scaled(2000);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < names.size(); ++i) {
    threads.emplace_back([=] {
      for (uint64_t turn = 0; turn < turns; ++turn) {
        enter(names[i]);
        gpu::launch("k", 1);
        leave_with(values[i]);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (size_t i = 0; i < names.size(); ++i) {
    CHECK_EQ(value_at(recording, names[i]), values[i] * static_cast<int64_t>(turns));
  }
  const gpu::Rows rows = recording.rows();
  CHECK_EQ(rows.size(), 8u);  // a kernel each, and runs of ours, without a time
  for (const std::string name : names) {
    const gpu::Row& reads = rows.at(name + "/__proton_launch_metadata/<metric>");
    CHECK_EQ(reads, (gpu::Row{static_cast<int64_t>(turns), -1}));
  }
  CHECK_EQ(gpu::hub().stats().values, 0u);
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(replays_from_many_threads_keep_the_sum) {
  gpu::begin();
  connect();
  gpu::Recording recording({}, proton::DataKind::kTree, 64 << 10);
  static const int64_t value = 7;
  void* stream = FAKE(fake_stream_create)();
  FAKE(fake_capture_begin)(stream);
  enter("layer");
  gpu::launch("k", 1, stream);
  leave_with(value, stream);
  void* exec = FAKE(fake_graph_instantiate)(FAKE(fake_capture_end)(stream));
  const uint64_t turns = gpu::scaled(1000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([=] {
      for (uint64_t turn = 0; turn < turns; ++turn) FAKE(fake_graph_launch)(exec, nullptr);
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK_EQ(value_at(recording, "<captured_at>/layer"), 28 * static_cast<int64_t>(turns));
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(a_million_replays_need_no_more_memory_than_a_few) {
  gpu::begin();
  connect();
  gpu::Recording recording;
  static const int64_t value = 1;
  void* stream = FAKE(fake_stream_create)();
  FAKE(fake_capture_begin)(stream);
  enter("layer");
  leave_with(value, stream);
  void* exec = FAKE(fake_graph_instantiate)(FAKE(fake_capture_end)(stream));
  gpu::set("queue_limit", 2);  // on a GPU a replay takes longer than reading its record
  const uint64_t turns = gpu::scaled(200'000);
  static const auto replay = FAKE(fake_graph_launch);
  for (uint64_t turn = 0; turn < turns; ++turn) replay(exec, nullptr);
  CHECK_EQ(value_at(recording, "<captured_at>/layer"), static_cast<int64_t>(turns));
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(values_without_room_are_counted) {
  gpu::begin();
  connect();
  gpu::set("manual_worker", 1);  // nobody reads the ring meanwhile, but for a sweep
  gpu::set("queue_limit", 1'000'000);
  gpu::SinkOptions options;
  options.value_bytes = 1;  // the least: 16384 cells
  gpu::Recording recording(options);
  void* context = FAKE(fake_context_create)(0);  // with a ring of its own
  static const int64_t value = 1;
  void* stream = FAKE(fake_stream_create)();
  FAKE(fake_capture_begin)(stream);
  enter("layer");
  leave_with(value, stream);
  void* exec = FAKE(fake_graph_instantiate)(FAKE(fake_capture_end)(stream));
  constexpr int64_t kTurns = 30'000;  // of two cells each
  static const auto replay = FAKE(fake_graph_launch);
  for (int64_t turn = 0; turn < kTurns; ++turn) replay(exec, nullptr);
  const int64_t read = value_at(recording, "<captured_at>/layer");
  const auto lost = static_cast<int64_t>(recording.losses()["lost_value"]);
  CHECK(lost > 0);
  CHECK_EQ(read + lost, kTurns);
  FAKE(fake_context_destroy)(context);
}

TEST(what_was_read_by_a_failed_call_is_forgotten) {
  gpu::begin();
  connect();
  gpu::Recording recording;
  static const int64_t value = 1;
  ValueSource source;
  source.address = reinterpret_cast<uint64_t>(&value);
  source.kind = ElementKind::kInt64;
  bool is_captured = false;
  gpu::hub().drop_value(gpu::hub().read_value(source, is_captured));
  recording.flush();
  CHECK_EQ(gpu::hub().stats().values, 0u);
  source.count = 5000;
  CHECK_THROWS(gpu::hub().read_value(source, is_captured), proton::Error);
}
