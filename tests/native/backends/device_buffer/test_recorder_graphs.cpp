/// Kernels in graphs on the fake driver: the last replay is read, and all are counted.
#include <thread>

#include "backends/device_buffer/recorder/replay_counters.h"
#include "recorder_session.h"

namespace {

/// A graph of launches of so many CTAs, the same for all: they share what the fake kernel leaves.
void* capture(Recorder& recorder, uint32_t kernel, std::initializer_list<uint32_t> launches) {
  void* stream = FAKE(fake_stream_create)();
  FAKE(fake_capture_begin)(stream);
  for (const uint32_t ctas : launches) launch(recorder, kernel, ctas, stream);
  return FAKE(fake_graph_instantiate)(FAKE(fake_capture_end)(stream));
}

void replay(void* graph, int times) {
  for (int i = 0; i < times; ++i) FAKE(fake_graph_launch)(graph, nullptr);
}

}  // namespace

TEST(a_graph_is_read_when_asked_and_each_reading_counts_once) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  void* graph = capture(session.recorder, kernel, {2});
  CHECK(session.flush());
  CHECK_EQ(session.sink.told.size(), 0u);
  CHECK(session.recorder.reporter().sums(session.sink, 3).empty());
  replay(graph, 2);
  CHECK(session.flush());
  CHECK(session.flush());
  CHECK_EQ(session.sink.told.size(), 1u);
  CHECK(session.sink.told[0].is_captured);
  CHECK_EQ(session.sink.told[0].warps.size() + session.sink.told[0].more_warps, 4u);
}

TEST(replays_are_counted_and_so_are_those_that_were_not_read) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  void* graph = capture(session.recorder, kernel, {2});
  replay(graph, 7);
  CHECK(session.flush());
  replay(graph, 3);
  CHECK(session.flush());
  const auto sums = session.recorder.reporter().sums(session.sink, 3);
  CHECK_EQ(sums.size(), 1u);
  CHECK_EQ(sums[0].replays, 10u);
  CHECK_EQ(sums[0].launches, 2u);
  CHECK_EQ(sums[0].losses.unread_replays, 8u);
  CHECK_EQ(all_losses(sums[0].losses), 8u);
  CHECK_EQ(sums[0].recorded_warps, 8u);  // what was not read is not made up
  CHECK(session.recorder.take_problems().empty());
}

TEST(a_replay_that_was_read_at_once_is_no_loss) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  void* graph = capture(session.recorder, kernel, {1});
  for (int i = 0; i < 5; ++i) {
    replay(graph, 1);
    CHECK(session.flush());
  }
  launch(session.recorder, kernel, 1);  // and one that is in no graph
  CHECK(session.flush());
  const auto sums = session.recorder.reporter().sums(session.sink, 3);
  CHECK_EQ(sums.size(), 2u);
  CHECK_EQ(sums[0].replays, 5u);
  CHECK_EQ(sums[0].launches, 5u);
  CHECK_EQ(all_losses(sums[0].losses), 0u);
  CHECK_EQ(sums[1].replays, 0u);
  CHECK_EQ(sums[1].launches, 1u);
}

TEST(launches_of_a_graph_and_graphs_are_counted_each_by_itself) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  const uint32_t other = add_kernel(session.recorder);
  void* first = capture(session.recorder, kernel, {1, 1});
  void* second = capture(session.recorder, other, {1});
  replay(first, 4);
  replay(second, 9);
  CHECK(session.flush());
  replay(first, 1);
  const int64_t copies = FAKE(fake_counter)("cuMemcpyDtoHAsync_v2");
  CHECK(session.flush());
  // The counters, and the two buffers of the one graph that has run.
  CHECK_EQ(FAKE(fake_counter)("cuMemcpyDtoHAsync_v2") - copies, 3);
  const auto sums = session.recorder.reporter().sums(session.sink, 3);
  CHECK_EQ(sums.size(), 2u);
  CHECK_EQ(sums[0].replays, 10u);
  CHECK_EQ(sums[0].launches, 4u);
  CHECK_EQ(sums[0].losses.unread_replays, 6u);
  CHECK_EQ(sums[1].replays, 9u);
  CHECK_EQ(sums[1].losses.unread_replays, 8u);
}

TEST(what_a_replay_left_is_read_and_not_touched) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  void* graph = capture(session.recorder, kernel, {1});
  replay(graph, 1);
  const int64_t zeroed = FAKE(fake_counter)("cuMemsetD8Async");
  CHECK(session.flush());
  CHECK_EQ(session.sink.told.size(), 1u);
  CHECK_EQ(FAKE(fake_counter)("cuMemsetD8Async"), zeroed);
}

TEST(replays_of_kernels_with_a_mailbox_are_counted) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder, true);
  void* stream = FAKE(fake_stream_create)();
  FAKE(fake_capture_begin)(stream);
  const DeviceAddress address = session.recorder.allocate(kScratch, 128, stream, true);
  Buffer left = records(1);
  void* function = FAKE(fake_function)("mailbox", 1000);
  FAKE(fake_function_records)(function, left.bytes().data(), left.bytes().size());
  FAKE(fake_launch_recording)(function, reinterpret_cast<void*>(address), stream);
  session.recorder.launched(kernel);
  void* graph = FAKE(fake_graph_instantiate)(FAKE(fake_capture_end)(stream));
  replay(graph, 6);
  CHECK(session.flush());
  CHECK(session.flush());
  const auto sums = session.recorder.reporter().sums(session.sink, 3);
  CHECK_EQ(sums[0].replays, 6u);
  CHECK_EQ(sums[0].launches, 1u);
  CHECK_EQ(sums[0].losses.unread_replays, 5u);
}

TEST(where_replays_cannot_be_counted_each_reading_is_one_and_that_is_told_once) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  void* graph = nullptr;
  std::thread([&] {
    FAKE(fake_context_create)(0);  // one that has no module yet
    FAKE(fake_set_failure)("cuModuleLoadData", 218, 0, 1);
    graph = capture(session.recorder, kernel, {1, 1});
    CHECK_EQ(FAKE(fake_counter)("cuModuleLoadData"), 1);
    replay(graph, 5);
  }).join();
  CHECK(session.flush());
  CHECK(session.flush());  // nothing has run since
  const auto sums = session.recorder.reporter().sums(session.sink, 3);
  CHECK_EQ(sums[0].launches, 2u);
  CHECK_EQ(sums[0].replays, 2u);
  CHECK_EQ(all_losses(sums[0].losses), 0u);
  const auto problems = session.recorder.take_problems();
  CHECK_EQ(problems.size(), 1u);
  CHECK(problems[0].find("replays of a graph are not counted: unknown error (error 218)") == 0);
}

TEST(replays_whose_records_cannot_be_copied_are_counted_too) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  void* graph = capture(session.recorder, kernel, {1});
  replay(graph, 3);
  FAKE(fake_set_failure)("cuMemcpyDtoHAsync_v2", 709, 1, 1);  // the first is of the counters
  CHECK(session.flush());
  auto sums = session.recorder.reporter().sums(session.sink, 3);
  CHECK_EQ(sums.size(), 1u);
  CHECK_EQ(sums[0].replays, 3u);
  CHECK_EQ(sums[0].launches, 0u);
  CHECK_EQ(sums[0].dropped, 1u);
  CHECK_EQ(sums[0].losses.unread_replays, 2u);
  replay(graph, 1);
  CHECK(session.flush());
  sums = session.recorder.reporter().sums(session.sink, 3);
  CHECK_EQ(sums[0].replays, 4u);
  CHECK_EQ(sums[0].launches, 1u);
}

TEST(replays_of_a_launch_without_memory_are_counted_as_not_read) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  session.recorder.pool().set_limit(0);
  std::thread([&] {
    FAKE(fake_context_create)(0);                          // one that the limit is for
    replay(capture(session.recorder, kernel, {1, 1}), 4);  // there is always one
  }).join();
  session.recorder.pool().set_limit(BlockPool::kMostBytes);
  CHECK(session.flush());
  const auto sums = session.recorder.reporter().sums(session.sink, 3);
  CHECK_EQ(sums[0].replays, 8u);
  CHECK_EQ(sums[0].launches, 1u);
  CHECK_EQ(sums[0].dropped, 1u);
  CHECK_EQ(sums[0].losses.unread_replays, 6u);
}

TEST(counters_go_on_where_those_of_a_module_end) {
  FAKE(fake_clear)();
  CudaDriver driver;
  driver.open_driver(fake::library_path());
  ReplayCounters counters(driver);
  void* stream = FAKE(fake_stream_create)();
  FAKE(fake_capture_begin)(stream);
  CudaResult result;
  for (uint32_t i = 0; i < kReplayCounters + 5; ++i) CHECK_EQ(counters.add(stream, result), i);
  void* graph = FAKE(fake_graph_instantiate)(FAKE(fake_capture_end)(stream));
  CHECK_EQ(FAKE(fake_counter)("cuModuleLoadData"), 2);
  replay(graph, 3);
  std::vector<uint64_t> counts(counters.size());
  auto* bytes = reinterpret_cast<std::byte*>(counts.data());
  CHECK_EQ(counters.copy(bytes, counters.size(), stream), kCudaSuccess);
  for (const uint64_t count : counts) CHECK_EQ(count, 3u);
}
