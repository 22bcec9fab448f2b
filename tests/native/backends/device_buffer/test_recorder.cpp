/// The recorder on the fake driver: buffers that come back zeroed, launches read in time,
/// mailboxes, threads, failures.
#include "recorder_session.h"

#include <chrono>
#include <thread>

namespace {

/// A kernel of one region whose rings are mostly unused; a launch has two CTAs of one warp.
class LargeRings {
 public:
  explicit LargeRings(Recorder& recorder) : recorder_(recorder) {
    RecordingKernel kernel;
    kernel.name = "large";
    kernel.regions = nested(1);
    kernel.labels = {{"only", "only"}};
    kernel.ring_bytes = kBytes;
    kernel.scratch_bytes = kBytes + kHeaderBytes;
    number_ = recorder.add_kernel(kernel);
  }

  /// Each warp leaves so many passages of 50 cycles.
  void launch(uint64_t passages) {
    Buffer left({2, 1, kBytes});
    for (uint32_t slot = 0; slot < 2; ++slot) {
      Warp warp;
      warp.on(slot, 0, 0);
      for (uint64_t i = 0; i < passages; ++i) warp.start(0, 100 * i).end(0, 100 * i + 50);
      left.put(slot, warp);
    }
    FAKE(fake_function_records)(function_, left.bytes().data(), left.bytes().size());
    const DeviceAddress address =
        recorder_.allocate(2 * (kBytes + kHeaderBytes), 128, nullptr, false);
    FAKE(fake_launch_recording)(function_, reinterpret_cast<void*>(address), nullptr);
    recorder_.launched(number_);
  }

 private:
  static constexpr uint32_t kBytes = 16384;
  Recorder& recorder_;
  uint32_t number_ = 0;
  void* function_ = FAKE(fake_function)("large", 1000);
};

}  // namespace

TEST(a_launch_is_told_with_its_regions_its_warps_and_its_context) {
  Session session(true);
  const uint32_t kernel = add_kernel(session.recorder);
  launch(session.recorder, kernel, 3);
  CHECK(session.flush());
  CHECK_EQ(session.sink.told.size(), 1u);
  const RecordedLaunch& told = session.sink.told[0];
  CHECK_EQ(told.kernel, "k");
  CHECK_EQ(told.context, 7u);
  CHECK_EQ(*told.phase, 3);
  CHECK_EQ(told.regions.size(), 2u);
  CHECK_EQ(told.regions[0].name, "outer");
  CHECK_EQ(told.regions[0].source, "k.py:3");
  CHECK_EQ(told.regions[0].cycles, 6 * 500.0);
  CHECK_EQ(told.regions[1].parent, 0u);
  CHECK_EQ(told.warps.size(), 6u);
  CHECK_EQ(told.spans.size(), 12u);
  // On the host's clock, within what the host saw of it.
  CHECK(told.warps[0].has_times);
  CHECK(told.warps[0].start_ns <= now_ns() && told.warps[0].start_ns > now_ns() - kLimitNs);
  const auto sums = session.recorder.reporter().sums(session.sink, 3);
  CHECK_EQ(sums.size(), 1u);
  CHECK_EQ(sums[0].launches, 1u);
  CHECK_EQ(sums[0].recorded_warps, 6u);
  CHECK_EQ(sums[0].ctas.size(), 3u);
  CHECK_EQ(all_losses(sums[0].losses), 0u);
}

TEST(memory_is_used_again_and_zeroed_in_between) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  for (int turn = 0; turn < 20; ++turn) {
    launch(session.recorder, kernel, 2);
    CHECK(session.flush());
  }
  CHECK_EQ(session.sink.told.size(), 20u);
  CHECK(FAKE(fake_counter)("cuMemAlloc_v2") <= 2);
  const DeviceAddress address = session.recorder.allocate(kScratch, 128, nullptr, false);
  const auto* bytes = reinterpret_cast<const char*>(address);
  for (size_t i = 0; i < kScratch; ++i) CHECK_EQ(static_cast<int>(bytes[i]), 0);
  session.recorder.launched(kernel);
  CHECK(session.flush());
}

TEST(launches_under_way_are_not_waited_for_but_by_a_flush) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  FAKE(fake_set_option)("hold", 1);
  for (int i = 0; i < 10; ++i) launch(session.recorder, kernel, 1);
  CHECK(!session.flush(50'000'000));
  CHECK_EQ(session.recorder.stats().in_flight, 10u);
  CHECK_EQ(FAKE(fake_counter)("cuCtxSynchronize"), 0);
  CHECK_EQ(FAKE(fake_counter)("cuStreamSynchronize"), 0);
  FAKE(fake_set_option)("hold", 0);
  CHECK(session.flush());
  CHECK_EQ(session.sink.told.size(), 10u);
}

TEST(crowds_are_looked_at_together_in_memory_that_is_got_in_few_pieces) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  FAKE(fake_set_option)("hold", 1);
  constexpr uint64_t kLaunches = 200;
  for (uint64_t i = 0; i < kLaunches; ++i) launch(session.recorder, kernel, 1);
  CHECK(FAKE(fake_counter)("cuMemAlloc_v2") <= 9);
  FAKE(fake_set_option)("hold", 0);
  const int64_t asked = FAKE(fake_counter)("cuEventQuery");
  CHECK(session.flush());
  CHECK(FAKE(fake_counter)("cuEventQuery") - asked < static_cast<int64_t>(kLaunches));
  CHECK(FAKE(fake_counter)("cuMemsetD8Async") < static_cast<int64_t>(kLaunches + kLaunches / 2));
  CHECK_EQ(session.sink.told.size(), kLaunches);
}

TEST(a_launch_that_comes_alone_is_read_without_being_asked_for) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  for (const int pause_ms : {0, 5, 60}) {  // watched closely, once a turn, and woken up
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    const uint64_t before = session.recorder.stats().decoded;
    launch(session.recorder, kernel, 1);
    const int64_t until_ns = now_ns() + kLimitNs;
    while (session.recorder.stats().decoded == before && now_ns() < until_ns) {
      std::this_thread::yield();
    }
    CHECK_EQ(session.recorder.stats().decoded, before + 1);
  }
}

TEST(of_rings_only_what_kernels_have_used_is_copied) {
  Session session;
  LargeRings kernel(session.recorder);
  for (const uint64_t passages : {2, 2, 500}) {
    kernel.launch(passages);
    CHECK(session.flush());
    CHECK_EQ(session.sink.told.back().regions[0].cycles, 2.0 * 50 * static_cast<double>(passages));
  }
  // Whole, as nothing is known yet; in part; in part, and more when there turns out to be more.
  CHECK_EQ(FAKE(fake_counter)("cuMemcpy2DAsync_v2"), 3);
  CHECK_EQ(FAKE(fake_counter)("cuMemcpyDtoHAsync_v2"), 4);
}

TEST(launches_of_a_crowd_that_wrote_more_than_the_ones_before_are_read_again) {
  Session session;
  LargeRings kernel(session.recorder);
  kernel.launch(1);
  CHECK(session.flush());
  FAKE(fake_set_option)("hold", 1);
  uint64_t passages = 2;  // of both warps
  for (uint64_t i = 0; i < 100; ++i) {
    kernel.launch(1 + i);
    passages += 2 * (1 + i);
  }
  FAKE(fake_set_option)("hold", 0);
  CHECK(session.flush());
  const auto sums = session.recorder.reporter().sums(session.sink, 3);
  CHECK_EQ(sums[0].launches, 101u);
  CHECK_EQ(sums[0].regions[0].count, passages);
  CHECK_EQ(sums[0].regions[0].cycles, 50.0 * static_cast<double>(passages));
  const Losses& losses = sums[0].losses;
  CHECK_EQ(losses.damaged_headers + losses.overwritten_records + losses.unmatched_starts, 0u);
  CHECK_EQ(session.recorder.stats().in_flight, 0u);
}

TEST(a_full_ring_is_emptied_while_the_kernel_runs) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder, true);
  const DeviceAddress address = session.recorder.allocate(kScratch, 128, nullptr, true);
  FAKE(fake_set_option)("hold", 1);
  session.recorder.launched(kernel);
  // The kernel: warp 0 fills its ring of eight records three times, and goes on when told to.
  auto* bytes = reinterpret_cast<std::byte*>(address);
  const Geometry geometry{1, 2, kRing};
  auto* header = reinterpret_cast<Header*>(bytes + geometry.header_offset(0));
  std::atomic_ref written(header->mailbox_written_bytes), drained(header->mailbox_drained_bytes);
  Warp warp;
  for (uint32_t i = 0; i < 26; ++i) {
    const Record record{pack_tag(i % 2 == 0 ? RecordKind::kStart : RecordKind::kEnd, 0),
                        static_cast<uint32_t>(kStartClock + 100 * (i + 1))};
    std::memcpy(bytes + i % 8 * kRecordBytes, &record, sizeof record);
    if (i % 8 != 7) continue;
    written.store((i + 1) * kRecordBytes, std::memory_order_release);
    const int64_t until = now_ns() + kLimitNs;
    while (drained.load(std::memory_order_acquire) != (i + 1) * kRecordBytes) {
      if (now_ns() > until) throw std::runtime_error("nobody empties the ring");
    }
  }
  warp.header.ring_bytes = kRing;
  warp.header.written_bytes = 26 * kRecordBytes;
  // Without the fields of the mailbox behind it, which the recorder is looking at.
  std::memcpy(bytes + geometry.header_offset(0), &warp.header,
              offsetof(Header, mailbox_written_bytes));
  FAKE(fake_set_option)("hold", 0);
  CHECK(session.flush());
  const auto sums = session.recorder.reporter().sums(session.sink, 3);
  CHECK_EQ(sums[0].regions[0].count, 13u);
  CHECK_EQ(sums[0].losses.overwritten_records, 0u);
}

TEST(threads_launch_side_by_side) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  std::vector<std::thread> threads;
  std::mutex gil;  // as under Python: one launching thread at a time
  for (ContextId context = 1; context <= 4; ++context) {
    threads.emplace_back([&, context] {
      here = context;
      FAKE(fake_launch)("warm", 1, nullptr);
      void* stream = FAKE(fake_stream_create)();
      for (int i = 0; i < 50; ++i) {
        std::lock_guard lock(gil);
        launch(session.recorder, kernel, 1 + context % 3, stream);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(session.flush());
  const auto sums = session.recorder.reporter().sums(session.sink, 3);
  CHECK_EQ(sums.size(), 4u);
  for (const KernelSum& sum : sums) {
    CHECK_EQ(sum.launches, 50u);
    CHECK_EQ(sum.recorded_warps, 100u * (1 + sum.key.context % 3));
    CHECK_EQ(all_losses(sum.losses), 0u);
  }
}

TEST(a_pool_at_its_limit_lets_launches_go_on_unread) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  session.recorder.pool().set_limit(0);
  std::thread([&] {
    FAKE(fake_context_create)(0);  // one that the limit is for
    FAKE(fake_set_option)("hold", 1);
    launch(session.recorder, kernel, 1);  // there is always one
    launch(session.recorder, kernel, 1);
    launch(session.recorder, kernel, 1);
    FAKE(fake_set_option)("hold", 0);
  }).join();
  CHECK(session.flush());
  session.recorder.pool().set_limit(BlockPool::kMostBytes);
  const auto sums = session.recorder.reporter().sums(session.sink, 3);
  CHECK_EQ(sums[0].launches, 1u);
  CHECK_EQ(sums[0].dropped, 2u);
}

TEST(a_launch_that_failed_gives_its_buffer_back) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  session.recorder.allocate(kScratch, 128, nullptr, false);  // and no launch
  launch(session.recorder, kernel, 1);
  CHECK(session.flush());
  CHECK_EQ(session.sink.told.size(), 1u);
  CHECK_EQ(session.sink.losses.load(), 1u);
  CHECK_EQ(session.recorder.stats().in_flight, 0u);
}

TEST(a_launch_of_an_unknown_kernel_is_counted_at_once_and_told_of) {
  Session session;
  session.recorder.unread();  // of a thread that has no buffer
  CHECK_EQ(session.sink.losses.load(), 0u);
  session.recorder.allocate(kScratch, 128, nullptr, false);
  session.recorder.unread();
  CHECK_EQ(session.sink.losses.load(), 1u);
  CHECK(!Recorder::has_buffer());
  CHECK(session.flush());
  CHECK_EQ(session.sink.told.size(), 0u);
  const auto problems = session.recorder.take_problems();
  CHECK_EQ(problems.size(), 1u);
  CHECK(problems[0].find("not known which kernel") != std::string::npos);
}

TEST(copies_that_fail_are_counted_and_told) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  FAKE(fake_set_failure)("cuMemcpyDtoHAsync_v2", 709, 0, 1);
  launch(session.recorder, kernel, 1);
  CHECK(session.flush());
  launch(session.recorder, kernel, 1);
  CHECK(session.flush());
  CHECK_EQ(session.sink.losses.load(), 1u);
  CHECK_EQ(session.sink.told.size(), 1u);
  const auto problems = session.recorder.take_problems();
  CHECK_EQ(problems.size(), 1u);
  CHECK(problems[0].find("context is destroyed (error 709)") != std::string::npos);
}

TEST(launches_that_no_session_wants_are_not_decoded) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  const uint64_t decoded = session.recorder.stats().decoded;
  session.is_active = false;
  launch(session.recorder, kernel, 1);
  CHECK(session.flush());
  CHECK_EQ(session.recorder.stats().decoded, decoded);
  CHECK_EQ(session.recorder.stats().in_flight, 0u);
}

TEST(a_session_of_ones_own_alone_is_told) {
  Session session;
  Sink own;
  SinkOptions options;
  options.is_active = [] { return true; };
  options.phase = [] { return 0; };
  session.recorder.start(own, options);
  const uint32_t kernel = add_kernel(session.recorder);
  Recorder::set_only(&own);
  launch(session.recorder, kernel, 1);
  Recorder::set_only(nullptr);
  CHECK(session.flush());
  CHECK_EQ(own.told.size(), 1u);
  CHECK_EQ(session.sink.told.size(), 0u);
  session.recorder.stop(own);
}

TEST(many_launches_are_decoded_side_by_side_and_none_is_lost) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  FAKE(fake_set_option)("hold", 1);
  for (int i = 0; i < 100; ++i) launch(session.recorder, kernel, 2);
  FAKE(fake_set_option)("hold", 0);
  CHECK(session.flush());
  const auto sums = session.recorder.reporter().sums(session.sink, 3);
  CHECK_EQ(sums[0].launches, 100u);
  CHECK_EQ(sums[0].regions[1].count, 400u);
  CHECK_EQ(sums[0].regions[1].cycles, 400 * 100.0);
  CHECK(std::abs(sums[0].cycles_per_ns - 1.5) < 0.01);
  CHECK_EQ(all_losses(sums[0].losses), 0u);
}

TEST(whole_buffers_are_kept_for_those_who_ask) {
  Session session;
  RecordingKernel kernel;
  kernel.name = "counting";
  kernel.stream_count = 2;
  kernel.scratch_bytes = kScratch;
  kernel.ring_bytes = kRing;
  kernel.keeps_bytes = true;
  const uint32_t number = session.recorder.add_kernel(kernel);
  Buffer left = records(1);
  void* function = FAKE(fake_function)("counting", 1000);
  FAKE(fake_function_records)(function, left.bytes().data(), left.bytes().size());
  const DeviceAddress address = session.recorder.allocate(2 * kScratch, 128, nullptr, false);
  FAKE(fake_launch_recording)(function, reinterpret_cast<void*>(address), nullptr);
  session.recorder.launched(number, 77);
  CHECK(session.flush());
  const auto kept = session.recorder.reporter().take_kept(session.sink);
  CHECK_EQ(kept.size(), 1u);
  CHECK_EQ(kept[0].note, 77u);
  CHECK_EQ(kept[0].grid_ctas, 2u);
  CHECK_EQ(kept[0].bytes->size(), size_t{2 * kScratch});
  CHECK(std::memcmp(kept[0].bytes->data(), left.bytes().data(), kRing) == 0);
  CHECK(session.recorder.reporter().take_kept(session.sink).empty());
}
