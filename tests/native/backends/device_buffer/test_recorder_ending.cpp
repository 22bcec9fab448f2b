/// The recorder on the fake driver when its last session ends under launches: their memory stays
/// while they may use it, comes back afterwards, and sessions that begin meanwhile get their own.
#include "recorder_session.h"

#include <chrono>
#include <string>
#include <thread>

namespace {

/// A session that ends while launches are under way, and leaves them so.
class Interrupted {
 public:
  Interrupted() {
    CHECK(session_.flush());  // what others have left has ended
    FAKE(fake_set_option)("hold", 1);
  }
  ~Interrupted() {
    session_.recorder.stop(session_.sink);
    FAKE(fake_set_option)("hold", 0);
  }

  Recorder& recorder() { return session_.recorder; }

 private:
  Session session_;
};

uint64_t pool_bytes() { return Recorder::get().stats().pool_bytes; }

}  // namespace

TEST(nothing_is_left_in_the_driver_afterwards) {
  {
    Session session;
  }
  const auto count = [](const char* name) { return FAKE(fake_counter)(name); };
  {
    Session session;  // counters start anew
    const uint32_t kernel = add_kernel(session.recorder);
    for (int i = 0; i < 5; ++i) launch(session.recorder, kernel, 2);
    CHECK(session.flush());
  }
  CHECK_EQ(count("cuMemAlloc_v2"), count("cuMemFree_v2"));
  CHECK_EQ(count("cuMemHostAlloc"), count("cuMemFreeHost"));
  CHECK_EQ(count("cuEventCreate"), count("cuEventDestroy_v2"));
  CHECK_EQ(count("cuStreamCreate"), count("cuStreamDestroy_v2"));
}

TEST(a_launch_that_was_given_memory_before_the_last_session_ended_may_use_it_afterwards) {
  DeviceAddress unread = 0, pending = 0;
  {
    Session session;
    unread = session.recorder.pool().scrap(kScratch, 128);
    pending = session.recorder.allocate(kScratch, 128, nullptr, false);
  }
  void* function = FAKE(fake_function)("late", 1000);
  Buffer left = records(1);
  FAKE(fake_function_records)(function, left.bytes().data(), left.bytes().size());
  for (const DeviceAddress address : {unread, pending}) {
    FAKE(fake_launch_recording)(function, reinterpret_cast<void*>(address), nullptr);
  }
  Recorder::get().launched(0);
  CHECK_EQ(std::string(FAKE(fake_violations)()), "");
}

TEST(memory_of_launches_that_sessions_ended_under_comes_back) {
  constexpr int kSessions = 12;
  uint64_t most_bytes = 0;
  for (int i = 0; i < kSessions; ++i) {
    {
      Interrupted session;
      const uint32_t kernel = add_kernel(session.recorder());
      for (int launched = 0; launched < 4; ++launched) launch(session.recorder(), kernel, 2);
    }
    CHECK(pool_bytes() > 0);  // four launches may still write to it
    if (i == 1) most_bytes = pool_bytes();
    if (i > 1) CHECK(pool_bytes() <= most_bytes);
  }
  CHECK_EQ(Recorder::get().stats().in_flight, 4u);
  {
    Session session;
    const uint32_t kernel = add_kernel(session.recorder);
    launch(session.recorder, kernel, 1);
    CHECK(session.flush());
    CHECK_EQ(session.sink.told.size(), 1u);  // what others left is nobody's
    CHECK_EQ(session.sink.losses.load(), 0u);
    CHECK(session.recorder.take_problems().empty());
  }
  CHECK_EQ(pool_bytes(), 0u);
  CHECK_EQ(Recorder::get().stats().in_flight, 0u);
  CHECK_EQ(std::string(FAKE(fake_violations)()), "");
}

TEST(memory_of_launches_that_end_soon_after_the_session_is_back_when_it_has_ended) {
  Session session;
  const uint32_t kernel = add_kernel(session.recorder);
  FAKE(fake_set_option)("hold", 1);
  for (int i = 0; i < 4; ++i) launch(session.recorder, kernel, 2);
  std::thread device([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    FAKE(fake_set_option)("hold", 0);
  });
  session.recorder.stop(session.sink);
  device.join();
  CHECK_EQ(pool_bytes(), 0u);
  CHECK_EQ(session.sink.told.size(), 0u);
}

TEST(a_launch_that_is_told_of_in_a_later_session_is_not_booked_there_and_its_memory_comes_back) {
  for (const bool is_told : {true, false}) {
    uint32_t kernel = 0;
    {
      Session session;
      kernel = add_kernel(session.recorder);
      session.recorder.allocate(kScratch, 128, nullptr, false);
    }
    CHECK(pool_bytes() > 0);
    {
      Session session;
      if (is_told) {
        session.recorder.launched(kernel);
      } else {
        session.recorder.unread();  // and of a thread that launches a plain kernel next
      }
      CHECK(session.flush());
      CHECK_EQ(session.sink.told.size(), 0u);
      CHECK_EQ(session.sink.losses.load(), 0u);
      CHECK(session.recorder.take_problems().empty());
    }
    CHECK_EQ(pool_bytes(), 0u);
  }
}

TEST(whoever_asks_for_a_buffer_after_the_last_session_gets_one_that_nobody_reads) {
  {
    Session session;
  }
  const DeviceAddress address = Recorder::get().allocate(kScratch, 128, nullptr, false);
  CHECK(address != 0);
  CHECK(!Recorder::has_buffer());
  CHECK_EQ(pool_bytes(), 0u);
}

TEST(warps_of_a_launch_that_the_session_ended_under_wait_for_the_host_no_more) {
  const auto* bytes = static_cast<const std::byte*>(nullptr);
  {
    Interrupted session;
    const uint32_t kernel = add_kernel(session.recorder(), true);
    bytes = reinterpret_cast<const std::byte*>(
        session.recorder().allocate(kScratch, 128, nullptr, true));
    session.recorder().launched(kernel);
  }
  const Geometry geometry{1, 2, kRing};
  for (const uint64_t slot : {0, 1}) {
    Header header;
    std::memcpy(&header, bytes + geometry.header_offset(slot), sizeof header);
    CHECK_EQ(header.mailbox_drained_bytes, kHostIsDead);
  }
  {
    Session session;
    CHECK(session.flush());
  }
  CHECK_EQ(pool_bytes(), 0u);
}

TEST(launches_of_an_ended_session_go_with_their_context) {
  std::thread([] {
    void* context = FAKE(fake_context_create)(0);  // its memory is counted from now on
    {
      Interrupted session;
      launch(session.recorder(), add_kernel(session.recorder()), 1);
    }
    FAKE(fake_context_destroy)(context);
  }).join();
  Session session;
  const int64_t asked = FAKE(fake_counter)("cuEventQuery");
  CHECK(session.flush());
  CHECK_EQ(FAKE(fake_counter)("cuEventQuery"), asked);  // its event is no more
  CHECK_EQ(session.recorder.stats().in_flight, 0u);
  CHECK(session.recorder.take_problems().empty());
}

TEST(a_session_that_begins_while_the_driver_keeps_the_thread_of_the_last_one_is_served) {
  const uint64_t before = pool_bytes();
  constexpr int64_t kDelayNs = 3'000'000'000;  // above what ending a session waits
  {
    Session session;
    const uint32_t kernel = add_kernel(session.recorder);
    launch(session.recorder, kernel, 1);
    CHECK(session.flush());
    FAKE(fake_set_option)("free_delay_ns", kDelayNs);
  }
  FAKE(fake_set_option)("free_delay_ns", 0);
  Sink sink;
  SinkOptions options;
  options.is_active = [] { return true; };
  options.phase = [] { return 0; };
  Recorder& recorder = Recorder::get();
  recorder.start(sink, options);
  launch(recorder, add_kernel(recorder), 1);
  CHECK(recorder.flush(kLimitNs));
  CHECK_EQ(sink.told.size(), 1u);
  recorder.stop(sink);
  CHECK_EQ(pool_bytes(), before);
}

TEST(sessions_come_and_go_beside_threads_that_launch) {
  constexpr int kSessions = 100;
  const uint64_t before = pool_bytes();
  std::mutex gil;  // as under Python
  std::atomic<bool> is_over{false};
  Recorder& recorder = Recorder::get();
  {
    Session session;  // what follows clears nothing
  }
  const uint32_t kernel = add_kernel(recorder);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      FAKE(fake_launch)("warm", 1, nullptr);
      void* stream = FAKE(fake_stream_create)();
      while (!is_over) {
        {
          std::lock_guard lock(gil);
          recorder.allocate(kScratch, 128, stream, false);
        }
        std::this_thread::yield();
        std::lock_guard lock(gil);
        recorder.launched(kernel);
      }
    });
  }
  for (int i = 0; i < kSessions; ++i) {
    Sink sink;
    SinkOptions options;
    options.is_active = [] { return true; };
    options.phase = [] { return 0; };
    {
      std::lock_guard lock(gil);
      recorder.start(sink, options);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    recorder.stop(sink);
    CHECK(pool_bytes() < BlockPool::kMostBytes / 8);
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  {
    Session session;
    CHECK(session.flush());
  }
  CHECK_EQ(pool_bytes(), before);
}

TEST(memory_that_a_thread_had_when_it_ended_comes_back) {
  const uint64_t before = pool_bytes();
  {
    Session session;
    std::thread([&] {
      FAKE(fake_launch)("warm", 1, nullptr);
      session.recorder.allocate(kScratch, 128, nullptr, false);
    }).join();
  }
  CHECK_EQ(pool_bytes(), before);
  CHECK_EQ(Recorder::get().stats().in_flight, 0u);
}
