// Host path under a mutex that plays the GIL, device path with real concurrency.
#include <atomic>
#include <thread>
#include <vector>

#include "check.h"
#include "host.h"
#include "sampled.h"

using namespace proton;

TEST(driver_threads_and_launching_threads_meet_in_one_session) {
  std::unique_lock gil(host::gil());
  host::thread();
  auto session = std::make_unique<Session>(0, ContextKind::kShadow, DataKind::kTree);
  session->host.activate();
  gil.unlock();
  constexpr uint32_t kLaunches = 2000;
  std::atomic<uint32_t> next{1};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (uint32_t id; (id = next.fetch_add(1)) <= kLaunches;) {
        {
          std::lock_guard lock(host::gil());
          host::enter("step");
        }
        const KernelEvent event = host::kernel(current_context_unlocked());
        session->device.on_events({&event, 1});
        std::lock_guard lock(host::gil());
        host::leave();
      }
    });
  }
  std::thread driver([&] {
    for (int i = 0; i < 500; ++i) {
      session->device.on_dropped(1);
      const KernelEvent event = host::kernel(kUnknownContext);
      session->device.on_events({&event, 1});
    }
  });
  std::thread reader([&] {
    for (int i = 0; i < 20; ++i) {
      std::lock_guard lock(host::gil());
      host::tree(*session, session->host.phase(), {});
      session->advance_phase();
    }
  });
  std::thread saver([&] {
    for (int i = 0; i < 20; ++i) host::save(*session);
  });
  for (std::thread& thread : threads) thread.join();
  driver.join();
  reader.join();
  saver.join();
  gil.lock();
  CHECK_EQ(session->device.event_count(), kLaunches + 500);
  CHECK_EQ(session->count_losses().at("unknown_launch"), 500);
  CHECK_EQ(session->count_losses().at("dropped_event"), 500);
  int64_t booked = 0;
  for (int phase = 0; phase <= session->host.phase(); ++phase) {
    const CallTree tree = host::tree(*session, phase, {});
    const uint32_t row = host::row_of(tree, "step/k");
    if (row != 0) booked += std::get<int64_t>(host::metric(tree, row, "count"));
  }
  CHECK_EQ(booked, kLaunches);
  session.reset();
}

TEST(a_thread_without_scopes_reads_the_lead_threads_path_with_no_lock) {
  std::unique_lock gil(host::gil());
  ThreadState& lead = host::thread();
  process.threads.lead(lead);
  auto session = std::make_unique<Session>(0, ContextKind::kShadow, DataKind::kTree);
  session->host.activate();
  std::atomic<bool> is_done{false};
  std::atomic<int> seen{0};
  std::thread follower([&] {
    while (!is_done.load()) {
      if (current_context_unlocked() != kRootPath) ++seen;
    }
  });
  while (seen.load() == 0) {
    host::enter("lead");
    host::leave();
  }
  is_done = true;
  gil.unlock();
  follower.join();
  gil.lock();
  CHECK(seen.load() > 0);
  session.reset();
}

TEST(a_thread_that_ends_is_reaped_and_its_state_used_again) {
  std::lock_guard gil(host::gil());
  host::thread();
  process.threads.reap();
  const size_t before = process.threads.live().size();
  ThreadState* first = nullptr;
  ThreadState* second = nullptr;
  std::thread([&] {
    first = &host::thread();
    host::enter("left open");
  }).join();
  process.threads.reap();
  CHECK_EQ(process.threads.live().size(), before);
  std::thread([&] { second = &host::thread(); }).join();
  process.threads.reap();
  CHECK_EQ(first, second);
  CHECK(first->stack.top == nullptr);
}

TEST(samples_arrive_while_snapshots_are_taken) {
  std::unique_lock gil(host::gil());
  host::thread();
  sampled::Modules modules;
  auto session = std::make_unique<Session>(0, ContextKind::kShadow, DataKind::kTree);
  session->device.set_sampling(
      {1024, 0, 0, [](const std::string& name) { return name != "other"; }});
  session->host.activate();
  sampled::run(*session, "a", "k0", 10);
  sampled::run(*session, "a", "k1", 10);
  gil.unlock();
  constexpr uint32_t kBatches = 300;
  std::thread worker([&] {
    for (uint32_t i = 0; i < kBatches; ++i) {
      sampled::report(*session, {{"k" + std::to_string(i % 3), i % 50 * 16, {1, 2, 0, 0, 0}}});
    }
  });
  std::thread launcher([&] {
    for (int i = 0; i < 200; ++i) {
      std::lock_guard lock(host::gil());
      sampled::run(*session, i % 2 == 0 ? "b" : "other", "k1", 10);
    }
  });
  std::thread saver([&] {
    for (int i = 0; i < 20; ++i) host::save(*session);
  });
  worker.join();
  launcher.join();
  saver.join();
  gil.lock();
  const CallTree tree = host::tree(*session, 0, {});
  CHECK_EQ(sampled::total(tree, "num_samples"), 3 * kBatches);  // k0, k1 and k2 are found
  session.reset();
}
