// Sessions on the hub: several at once, active or not, started again and again; what they ask of
// CUPTI and what they leave behind; devices, contexts, copies, clocks and timelines.
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "check.h"
#include "gpu.h"

using proton::DataKind;

TEST(a_session_books_kernels_copies_and_memsets) {
  gpu::begin();
  gpu::Recording recording;
  {
    const gpu::Scope scope("step");
    gpu::launch("k", 7);
    FAKE(fake_memcpy)(1, 1 << 20, 100, nullptr);
    FAKE(fake_memcpy)(2, 4, 5, nullptr);
    FAKE(fake_memcpy)(8, 8, 6, nullptr);
    FAKE(fake_memset)(0, 16, 3, nullptr);
  }
  const gpu::Rows expected{{"step/k", {1, 7}},
                           {"step/<memcpy HtoD>", {1, 100}},
                           {"step/<memcpy DtoH>", {1, 5}},
                           {"step/<memcpy DtoD>", {1, 6}},
                           {"step/<memset>", {1, 3}}};
  CHECK_EQ(recording.rows(), expected);
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(a_paused_session_books_nothing) {
  gpu::begin();
  gpu::Recording recording;
  gpu::launch("first");
  recording.set_active(false);
  gpu::launch("unseen");
  recording.set_active(true);
  gpu::launch("second");
  const gpu::Rows expected{{"first", {1, 10}}, {"second", {1, 10}}};
  CHECK_EQ(recording.rows(), expected);
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(with_no_active_session_nothing_is_asked_of_cupti) {
  gpu::begin();
  gpu::Recording recording;
  CHECK(gpu::counter("enabled_kinds") > 0);
  recording.set_active(false);
  CHECK_EQ(gpu::counter("enabled_kinds"), 0);
  const int64_t before = gpu::counter("callbacks");
  for (int i = 0; i < 100; ++i) gpu::launch("k");
  CHECK_EQ(gpu::counter("callbacks"), before);
}

TEST(the_last_session_lets_go_of_cupti) {
  gpu::begin();
  {
    gpu::Recording one;
    gpu::Recording other;
    CHECK_EQ(gpu::counter("is_subscribed"), 1);
  }
  CHECK_EQ(gpu::counter("is_subscribed"), 0);
  CHECK_EQ(gpu::counter("enabled_kinds"), 0);
  CHECK_EQ(gpu::counter("enabled_callbacks"), 0);
  CHECK_EQ(gpu::counter("buffers_held"), 0);
  CHECK_EQ(gpu::counter("cuptiFinalize"), 0);
}

TEST(cupti_lets_go_of_the_driver_between_sessions) {
  gpu::begin();
  {
    gpu::Recording one;
    CHECK(!gpu::hub().detach());  // somebody records
    gpu::launch("before");
  }
  CHECK(gpu::hub().detach());
  CHECK_EQ(gpu::counter("cuptiFinalize"), 1);
  gpu::launch("between");
  gpu::Recording other;
  gpu::launch("after");  // ids began anew
  CHECK_EQ(other.rows(), (gpu::Rows{{"after", {1, 10}}}));
  CHECK(other.losses().empty());
}

TEST(cupti_stays_where_another_tool_has_taken_it_since_the_session_ended) {
  gpu::begin();
  {
    gpu::Recording one;
  }
  FAKE(fake_set_holder)("Kineto");
  CHECK(!gpu::hub().detach());
  CHECK_EQ(gpu::counter("cuptiFinalize"), 0);
  FAKE(fake_set_holder)(nullptr);
  CHECK(gpu::hub().detach());
  CHECK_EQ(gpu::counter("is_subscribed"), 0);
}

TEST(ids_that_come_again_are_not_taken_for_those_of_another_kind_of_context) {
  gpu::begin();
  for (const bool with_frames : {true, false, true, false}) {
    gpu::SinkOptions options;
    options.with_frames = with_frames;
    gpu::Recording recording(options);
    for (int i = 0; i < 5; ++i) gpu::launch("k");
    CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {5, 50}}}));
    CHECK(recording.losses().empty());
    recording.close();
    CHECK(gpu::hub().detach());
  }
}

TEST(sessions_see_what_was_launched_while_they_were_active) {
  gpu::begin();
  gpu::Recording first;
  gpu::launch("one");
  gpu::Recording second;
  gpu::launch("both");
  first.set_active(false);
  gpu::launch("two");
  CHECK_EQ(first.rows(), (gpu::Rows{{"one", {1, 10}}, {"both", {1, 10}}}));
  CHECK_EQ(second.rows(), (gpu::Rows{{"both", {1, 10}}, {"two", {1, 10}}}));
}

TEST(a_session_without_copies_gets_the_kernels_of_a_batch_that_has_both) {
  gpu::Recording all;
  gpu::SinkOptions options;
  options.with_copies = false;
  gpu::Recording kernels(options);
  for (int i = 0; i < 1000; ++i) {
    FAKE(fake_launch)(i % 3 == 0 ? "a" : "b", 100, nullptr);
    if (i % 2 == 0) FAKE(fake_memcpy)(1, 64, 10, nullptr);
  }
  CHECK_EQ(kernels.rows(), (gpu::Rows{{"a", {334, 33400}}, {"b", {666, 66600}}}));
  CHECK_EQ(all.rows(),
           (gpu::Rows{{"a", {334, 33400}}, {"b", {666, 66600}}, {"<memcpy HtoD>", {500, 5000}}}));
}

TEST(a_thousand_sessions_leave_nothing_behind) {
  gpu::begin();
#ifdef __SANITIZE_THREAD__
  constexpr int kSessions = 100;
#else
  constexpr int kSessions = 1000;
#endif
  for (int i = 0; i < kSessions; ++i) {
    gpu::Recording recording;
    {
      const gpu::Scope scope("step");
      gpu::launch("k", 5);
    }
    if (i % 10 == 0) CHECK_EQ(recording.rows(), (gpu::Rows{{"step/k", {1, 5}}}));
  }
  CHECK_EQ(gpu::counter("is_subscribed"), 0);
  CHECK_EQ(gpu::counter("buffers_held"), 0);
  CHECK(gpu::hub().stats().buffer_count <= 16);
  CHECK_EQ(gpu::counter("cuptiSubscribe"), gpu::counter("cuptiUnsubscribe"));
  CHECK(gpu::counter("cuptiActivityRegisterTimestampCallback") <= 1);
  CHECK_EQ(std::string(FAKE(fake_violations)()), "");
}

TEST(phases_part_the_events) {
  gpu::begin();
  gpu::Recording recording;
  gpu::launch("first");
  recording.flush();
  {
    const std::lock_guard gil(host::gil());
    recording.session().advance_phase();
  }
  gpu::launch("second");
  CHECK_EQ(recording.rows(0), (gpu::Rows{{"first", {1, 10}}}));
  CHECK_EQ(recording.rows(1), (gpu::Rows{{"second", {1, 10}}}));
}

TEST(phases_part_events_however_many_are_in_flight) {
  gpu::begin();
  gpu::set("hold", 1);
  gpu::Recording recording;
  constexpr int kPhases = 300;
  for (int phase = 0; phase < kPhases; ++phase) {
    gpu::launch("k", 10 + static_cast<uint64_t>(phase));
    const std::lock_guard gil(host::gil());
    recording.session().advance_phase();
  }
  for (int phase = 0; phase < kPhases; ++phase) {
    CHECK_EQ(recording.rows(phase), (gpu::Rows{{"k", {1, 10 + phase}}}));
  }
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(devices_streams_and_contexts_are_told_apart) {
  gpu::begin();
  gpu::set("device_count", 3);
  gpu::Recording recording;
  for (int device = 0; device < 3; ++device) {
    std::thread([device] {
      FAKE(fake_context_create)(device);
      gpu::launch("k", 10, FAKE(fake_stream_create)());
    }).join();
  }
  recording.flush();
  const std::lock_guard gil(host::gil());
  const proton::CallTree tree = host::tree(recording.session(), 0, {});
  std::map<std::string, int> devices;
  for (uint32_t row = 1; row < tree.nodes.size(); ++row) {
    const auto id = host::metric(tree, row, "device_id");
    if (const auto* text = std::get_if<std::string>(&id)) ++devices[*text];
  }
  CHECK_EQ(devices.size(), 3u);
}

TEST(peer_copies_are_booked) {
  gpu::begin();
  gpu::set("device_count", 2);
  gpu::Recording recording;
  const gpu::Scope scope("exchange");
  FAKE(fake_memcpy_peer)(0, 1, 4096, 9, nullptr);
  CHECK_EQ(recording.rows(), (gpu::Rows{{"exchange/<memcpy PtoP>", {1, 9}}}));
}

TEST(migrations_of_unified_memory_are_booked_where_asked_for) {
  gpu::begin();
  gpu::SinkOptions options;
  options.with_migrations = true;
  gpu::Recording recording(options);
  FAKE(fake_unified_memory)(1, 65536, 20, 0, 0);
  FAKE(fake_unified_memory)(4, 1, 1, 0, 0);  // a page fault is no copy
  CHECK_EQ(recording.rows(), (gpu::Rows{{"<unified memory HtoD>", {1, 20}}}));
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(migrations_are_only_for_the_session_that_asked_for_them) {
  gpu::begin();
  gpu::SinkOptions options;
  options.with_migrations = true;
  gpu::Recording asking(options);
  gpu::Recording other;
  FAKE(fake_unified_memory)(2, 65536, 20, 0, 0);
  FAKE(fake_memcpy)(1, 64, 3, nullptr);
  CHECK_EQ(asking.rows(),
           (gpu::Rows{{"<memcpy HtoD>", {1, 3}}, {"<unified memory DtoH>", {1, 20}}}));
  CHECK_EQ(other.rows(), (gpu::Rows{{"<memcpy HtoD>", {1, 3}}}));
}

TEST(devices_whose_migrations_cannot_be_counted_are_a_warning) {
  for (const char* function : {"cuptiActivityConfigureUnifiedMemoryCounter", "cuInit"}) {
    gpu::begin();
    FAKE(fake_set_failure)(function, 19, 0, -1);
    gpu::SinkOptions options;
    options.with_migrations = true;
    gpu::Recording recording(options);
    gpu::launch("k", 4);
    CHECK_EQ(recording.rows(), (gpu::Rows{{"k", {1, 4}}}));
    CHECK_EQ(recording.warnings.size(), 1u);
    CHECK_HAS(recording.warnings.at(0), "migrations of unified memory are not recorded: ");
    CHECK_HAS(recording.warnings.at(0), "(error 19)");
  }
}

TEST(contexts_that_end_before_the_session_take_nothing_with_them) {
  gpu::begin();
  gpu::Recording recording;
  std::thread([] {
    void* context = FAKE(fake_context_create)(0);
    gpu::launch("k", 4);
    FAKE(fake_context_destroy)(context);
  }).join();
  gpu::launch("before", 1);
  FAKE(fake_device_reset)(0);
  gpu::launch("after", 1);
  const gpu::Rows expected{{"k", {1, 4}}, {"before", {1, 1}}, {"after", {1, 1}}};
  CHECK_EQ(recording.rows(), expected);
  CHECK_EQ(std::string(FAKE(fake_violations)()), "");
}

TEST(a_forked_child_calls_nothing_of_cupti) {
  gpu::begin();
  gpu::Recording recording;
  gpu::launch("parents");
  const pid_t child = fork();
  if (child == 0) {
    gpu::hub().abandon();
    const std::lock_guard gil(host::gil());
    proton::process.reset_after_fork();
    bool is_refused = false;
    try {
      proton::Session session(7, proton::ContextKind::kShadow, DataKind::kTree);
      gpu::hub().start(session.device, {}, 0);
    } catch (const proton::Error&) {
      is_refused = true;
    }
    gpu::hub().flush(gpu::kSecond, true);
    _exit(is_refused && gpu::counter("violations") == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
  gpu::launch("parents");
  CHECK_EQ(recording.rows(), (gpu::Rows{{"parents", {2, 20}}}));
}
