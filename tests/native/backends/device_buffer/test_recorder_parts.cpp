/// The parts of the recorder, each alone: what sessions are told and when no longer, buffers of
/// threads that ended, launches that are followed and read, graphs, mailboxes, lines for the user.
#include <thread>

#include "recorder_session.h"

namespace {

/// A reporter with sessions that launch in context 7, phase 3.
struct Reports {
  Reports() {
    reporter.set_source({[]() noexcept { return ContextId{7}; },
                         []() noexcept { return ContextId{8}; }, []() noexcept { return 0u; },
                         []() noexcept { return 1u; }, []() noexcept { return false; },
                         [](uint64_t) noexcept {}});
  }
  void add(Sink& sink, bool with_frames = false) {
    SinkOptions options;
    options.with_frames = with_frames;
    options.is_active = [] { return true; };
    options.phase = [] { return 3; };
    reporter.add(sink, options);
  }

  Problems problems;
  Reporter reporter{problems};
};

/// What follows and reads launches, on the fake driver and without a recorder, for one session.
struct Readers {
  Readers() {
    FAKE(fake_clear)();
    driver.open_driver(fake::library_path());
    FAKE(fake_launch)("warm", 1, nullptr);
    kernel.name = "k";
    kernel.regions = nested(2);
    kernel.ring_bytes = kRing;
    kernel.stream_count = 2;
    kernel.scratch_bytes = kScratch;
    reports.add(sink);
  }
  /// A launch of two CTAs, made and ended.
  LaunchPointer launch(void* stream = nullptr) {
    auto made = std::make_unique<Launch>(pool.take(2 * kScratch, 128, stream, false));
    Buffer left = records(2);
    void* function = FAKE(fake_function)("k", 1000);
    FAKE(fake_function_records)(function, left.bytes().data(), left.bytes().size());
    FAKE(fake_launch_recording)(function, reinterpret_cast<void*>(made->address), stream);
    made->kernel = &kernel;
    made->grid_ctas = 2;
    made->destinations = *reports.reporter.destinations(*reports.reporter.era(), nullptr);
    return made;
  }

  /// A launch that is part of a graph; the graph's executable.
  void* capture() {
    void* stream = FAKE(fake_stream_create)();
    FAKE(fake_capture_begin)(stream);
    graphs.add(launch(stream));
    return FAKE(fake_graph_instantiate)(FAKE(fake_capture_end)(stream));
  }
  void replay(void* exec, int times) {
    for (int i = 0; i < times; ++i) FAKE(fake_graph_launch)(exec, nullptr);
  }
  /// Into the phase of now.
  void read_graphs() {
    reports.reporter.note_phases();
    graphs.read();
  }
  KernelSum sums() { return reports.reporter.sums(sink, 3).at(0); }

  Reports reports;
  Sink sink;
  CudaDriver driver;
  RecordingKernel kernel{};
  BufferPool pool{driver, reports.problems};
  BufferReader reader{pool, reports.reporter};
  GraphReader graphs{pool, reports.reporter, reader};
  Follower follower{pool, reports.reporter, reader, graphs};
};

/// A launch of one CTA with one ring in host memory.
struct MailboxLaunch {
  MailboxLaunch() {
    kernel.has_mailbox = true;
    kernel.ring_bytes = kRing;
    kernel.scratch_bytes = kRing + kHeaderBytes;
    block.host = bytes.data();
    launch.kernel = &kernel;
    launch.grid_ctas = 1;
  }
  Header& header() {
    return *reinterpret_cast<Header*>(bytes.data() + kernel.geometry(1).header_offset(0));
  }

  alignas(8) std::array<std::byte, kRing + kHeaderBytes> bytes{};
  RecordingKernel kernel{};
  Block block{};
  Launch launch{LaunchBuffer{.block = &block, .bytes = sizeof(bytes)}};
};

}  // namespace

TEST(a_problem_is_told_once_until_sessions_begin_anew) {
  Problems problems;
  problems.note("a");
  problems.note("a");
  CHECK_EQ(problems.take().size(), 1u);
  problems.note("a");
  CHECK(problems.take().empty());
  problems.restart();
  for (int i = 0; i < 100; ++i) problems.note(std::to_string(i));
  CHECK_EQ(problems.take().size(), 32u);
}

TEST(a_launch_belongs_to_the_sessions_of_its_era) {
  Reports reports;
  Sink frames, scopes;
  CHECK(!reports.reporter.era());
  reports.add(frames, true);
  reports.add(scopes);
  const uint64_t era = *reports.reporter.era();
  const auto both = reports.reporter.destinations(era, nullptr);
  CHECK_EQ(both->size(), 2u);
  CHECK_EQ((*both)[0].context, 8u);
  CHECK_EQ((*both)[1].context, 7u);
  CHECK_EQ((*both)[1].phase, 3);
  CHECK_EQ(reports.reporter.destinations(era, &scopes)->size(), 1u);
  CHECK(reports.reporter.remove(frames));
  CHECK(!reports.reporter.remove(frames));
  CHECK_EQ(reports.reporter.destinations(era, nullptr)->size(), 1u);
  CHECK(reports.reporter.remove(scopes));
  CHECK(!reports.reporter.destinations(era, nullptr));
  CHECK(!reports.reporter.count_unread(era));
}

TEST(a_session_that_has_ended_is_told_nothing) {
  Reports reports;
  Sink first, second;
  reports.add(first);
  reports.add(second);
  FAKE(fake_clear)();
  CudaDriver driver;
  driver.open_driver(fake::library_path());
  FAKE(fake_launch)("warm", 1, nullptr);
  BufferPool pool(driver, reports.problems);
  Launch launch(pool.take(64, 1, nullptr, false));
  RecordingKernel kernel;
  launch.kernel = &kernel;
  launch.destinations = *reports.reporter.destinations(*reports.reporter.era(), nullptr);
  CHECK(reports.reporter.remove(first));
  CHECK(Reporter::is_wanted(launch));
  reports.reporter.drop(launch, "a reason");
  CHECK_EQ(first.losses.load(), 0u);
  CHECK_EQ(second.losses.load(), 1u);
  CHECK_EQ(reports.reporter.sums(second, 3)[0].dropped, 1u);
  CHECK_EQ(reports.problems.take()[0], "records of a launch could not be read: a reason");
  CHECK(reports.reporter.remove(second));
  CHECK(!Reporter::is_wanted(launch));
}

TEST(a_buffer_of_a_thread_that_ended_is_kept_until_it_is_asked_for) {
  FAKE(fake_clear)();
  Problems problems;
  CudaDriver driver;
  driver.open_driver(fake::library_path());
  FAKE(fake_launch)("warm", 1, nullptr);
  BufferPool pool(driver, problems);
  const LaunchBuffer buffer = pool.take(1000, 128, nullptr, false);
  CHECK_EQ(buffer.address % 128, 0u);
  CHECK(buffer.comes_back());
  CHECK(pool.size_bytes() >= 1000);
  std::thread([&] { pool.leave_behind(buffer); }).join();
  CHECK_EQ(pool.take_left_behind().size(), 1u);
  CHECK(pool.take_left_behind().empty());
  pool.free_unused(*buffer.memory);
  CHECK(pool.size_bytes() >= 1000);  // it is still in use
}

TEST(launches_that_are_followed_have_been_read_when_a_flush_ends) {
  Readers readers;
  CHECK(readers.follower.flush(kLimitNs));  // nothing runs
  readers.follower.start();
  for (int i = 0; i < 3; ++i) readers.follower.add(readers.launch());
  CHECK(readers.follower.flush(kLimitNs));
  CHECK_EQ(readers.follower.in_flight(), 0u);
  readers.follower.stop();
  CHECK_EQ(readers.sink.told.size(), 3u);
  CHECK_EQ(readers.sink.told[0].regions[0].cycles, 4 * 500.0);
  CHECK_EQ(readers.reports.reporter.counts.decoded.load(), 3u);
}

TEST(buffers_that_were_read_come_back_zeroed) {
  Readers readers;
  readers.reader.begin();
  std::vector<LaunchPointer> launches;
  launches.push_back(readers.launch());
  Block* const block = launches[0]->block;
  ContextMemory& memory = *launches[0]->memory;
  readers.pool.record_event(*launches[0]);
  launches[0]->end_ns = now_ns();
  FAKE(fake_work)();
  readers.reader.read(std::move(launches));
  CHECK_EQ(readers.sink.told.size(), 1u);
  CHECK(readers.reader.is_zeroing());
  FAKE(fake_work)();
  CHECK(!readers.reader.poll_zeroing());
  CHECK(block->is_zero);
  readers.reader.free_memory();
  CHECK_EQ(readers.pool.size_bytes(), 0u);
  CHECK(memory.staging == nullptr);
}

TEST(of_the_replays_of_a_graph_the_last_is_read_and_all_are_counted_once) {
  Readers readers;
  CHECK(readers.graphs.empty());
  readers.reader.begin();
  void* exec = readers.capture();
  CHECK(!readers.graphs.empty());
  readers.read_graphs();
  CHECK(readers.sink.told.empty());  // nobody has replayed it
  readers.replay(exec, 3);
  readers.read_graphs();
  readers.read_graphs();
  CHECK_EQ(readers.sink.told.size(), 1u);
  CHECK(readers.sink.told[0].is_captured);
  CHECK_EQ(readers.sums().replays, 3u);
  CHECK_EQ(readers.sums().losses.unread_replays, 2u);
  readers.replay(exec, 1);
  readers.read_graphs();
  CHECK_EQ(readers.sink.told.size(), 2u);
  CHECK_EQ(readers.sums().replays, 4u);
  CHECK(!readers.graphs.empty());  // graphs are not known to be gone
  readers.reader.free_memory();
}

TEST(a_graph_that_no_session_wants_is_left_alone) {
  Readers readers;
  readers.reader.begin();
  void* exec = readers.capture();
  readers.replay(exec, 1);
  CHECK(readers.reports.reporter.remove(readers.sink));
  readers.read_graphs();
  CHECK(readers.sink.told.empty());
  CHECK_EQ(readers.sink.losses.load(), 0u);
}

TEST(a_graph_whose_context_fails_is_a_loss_and_is_told) {
  Readers readers;
  readers.reader.begin();
  void* exec = readers.capture();
  readers.replay(exec, 1);
  FAKE(fake_set_failure)("cuCtxSynchronize", 700, 0, 1);
  readers.read_graphs();
  CHECK(readers.sink.told.empty());
  CHECK_EQ(readers.sink.losses.load(), 1u);
  CHECK_EQ(readers.reports.problems.take().size(), 1u);
  readers.read_graphs();  // it is well again
  CHECK_EQ(readers.sink.told.size(), 1u);
  readers.reader.free_memory();
}

TEST(a_full_ring_is_taken_out_of_a_mailbox_once) {
  MailboxLaunch mail;
  mail.bytes[3] = std::byte{42};
  mail.header().mailbox_written_bytes = kRing;
  mail.launch.drain();
  mail.launch.drain();
  CHECK_EQ(mail.launch.drained[0].size(), size_t{kRing});
  CHECK_EQ(static_cast<int>(mail.launch.drained[0][3]), 42);
  CHECK_EQ(mail.header().mailbox_drained_bytes, kRing);
}

TEST(warps_of_a_launch_that_nobody_reads_do_not_wait) {
  MailboxLaunch mail;
  mail.launch.leave_unread();
  CHECK(mail.launch.kernel == nullptr);
  CHECK_EQ(mail.header().mailbox_drained_bytes, kHostIsDead);
}
