// What may happen to a session while a save has taken only a part of it.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "host.h"

using namespace proton;

namespace {

/// A kernel below a scope, `a/k`.
void run_kernel_in(Session& session, const char* scope) {
  host::enter(scope);
  const KernelEvent event = host::kernel(current_context_unlocked());
  session.device.on_events({&event, 1});
  host::leave();
}

int64_t runs_at(const CallTree& tree, const char* path) {
  const uint32_t row = host::row_of(tree, path);
  return row == 0 ? 0 : std::get<int64_t>(host::metric(tree, row, "count"));
}

int64_t sum_of(const CallTree& tree, const char* key) {
  int64_t sum = 0;
  for (uint32_t row = 0; row < tree.nodes.size(); ++row) {
    sum += std::max(int64_t{0}, std::get<int64_t>(host::metric(tree, row, key)));
  }
  return sum;
}

}  // namespace

TEST(a_phase_that_is_cleared_during_a_save_is_saved_as_it_was) {
  std::lock_guard gil(host::gil());
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  run_kernel_in(session, "a");
  PhaseCopy copy(session, 0);
  copy.copy_device_part();
  session.clear_phase(0);
  run_kernel_in(session, "b");
  copy.copy_host_part({});
  const CallTree tree = build_tree(std::move(copy));
  CHECK_EQ(runs_at(tree, "a/k"), 1);
  CHECK_EQ(host::row_of(tree, "b"), 0u);
  CHECK_EQ(runs_at(host::tree(session, 0, {}), "b/k"), 1);
}

TEST(scopes_and_kernels_that_come_during_a_save_leave_a_whole_tree) {
  std::lock_guard gil(host::gil());
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  run_kernel_in(session, "a");
  PhaseCopy copy(session, 0);
  copy.copy_device_part();
  run_kernel_in(session, "a");
  run_kernel_in(session, "b");
  copy.copy_host_part({});
  const CallTree tree = build_tree(std::move(copy));
  CHECK_EQ(runs_at(tree, "a/k"), 1);
  CHECK(host::row_of(tree, "b") != 0);
  CHECK_EQ(host::row_of(tree, "b/k"), 0u);
}

TEST(a_session_that_is_closed_during_a_save_says_so) {
  std::lock_guard gil(host::gil());
  Session session(7, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  run_kernel_in(session, "a");
  PhaseCopy copy(session, 0);
  copy.copy_device_part();
  session.host.close();
  try {
    copy.copy_host_part({});
    CHECK(false);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kSessionNotFound);
    CHECK_EQ(std::string(error.what()), "session 7 is not open; it was finalized");
  }
}

TEST(a_copy_is_built_after_the_tables_were_cleared) {
  std::lock_guard gil(host::gil());
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  run_kernel_in(session, "a");
  PhaseCopy copy(session, 0);
  copy.copy_device_part();
  copy.copy_host_part({});
  session.host.close();
  Session next(1, ContextKind::kShadow, DataKind::kTree);
  next.host.activate();
  run_kernel_in(next, "another");
  CHECK_EQ(runs_at(build_tree(std::move(copy)), "a/k"), 1);
}

TEST(more_rows_than_a_slice_are_all_copied) {
  std::lock_guard gil(host::gil());
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  constexpr int kRows = 5000;
  std::vector<std::string> names;
  for (int i = 0; i < kRows; ++i) names.push_back("scope " + std::to_string(i));
  for (const std::string& name : names) run_kernel_in(session, name.c_str());
  const CallTree tree = host::tree(session, 0, {});
  CHECK_EQ(tree.nodes.size(), size_t{1 + 2 * kRows});
  CHECK_EQ(tree.details.size(), size_t{kRows});
}

TEST(saves_beside_a_recording_thread_never_show_less_than_before) {
  std::unique_lock gil(host::gil());
  host::thread();
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  gil.unlock();
  std::atomic<bool> is_done{false};
  std::atomic<int> wrong_count{0};
  std::thread saver([&] {
    int64_t runs_before = 0, steps_before = 0;
    while (!is_done) {
      const CallTree tree = host::save(session);
      const int64_t runs = sum_of(tree, "count"), steps = sum_of(tree, "steps");
      // Metrics of kernels are copied before the runs that they belong to.
      if (runs < runs_before || steps < steps_before || steps > runs) ++wrong_count;
      runs_before = runs;
      steps_before = steps;
    }
  });
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("scope " + std::to_string(i));
  for (const std::string& name : names) {
    gil.lock();
    host::enter(name.c_str());
    SampleList steps;
    steps.add(process.metric_names.intern("steps"), int64_t{1});
    for (int run = 0; run < 2; ++run) {
      session.device.add_kernel(current_context_unlocked(), 0, host::kernel(), nullptr, &steps);
    }
    host::leave();
    gil.unlock();
  }
  is_done = true;
  saver.join();
  const CallTree tree = host::save(session);
  CHECK_EQ(wrong_count.load(), 0);
  CHECK_EQ(tree.nodes.size(), 1 + 2 * names.size());
  CHECK_EQ(sum_of(tree, "count"), static_cast<int64_t>(2 * names.size()));
  CHECK_EQ(sum_of(tree, "steps"), static_cast<int64_t>(2 * names.size()));
  gil.lock();
}

TEST(a_tree_is_built_while_its_session_closes) {
  std::unique_lock gil(host::gil());
  host::thread();
  auto session = std::make_unique<Session>(0, ContextKind::kShadow, DataKind::kTree);
  session->host.activate();
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("scope " + std::to_string(i));
  for (const std::string& name : names) run_kernel_in(*session, name.c_str());
  PhaseCopy copy(*session, 0);
  copy.copy_device_part();
  copy.copy_host_part({});
  size_t node_count = 0;
  std::thread builder([&] { node_count = build_tree(std::move(copy)).nodes.size(); });
  session.reset();
  builder.join();
  CHECK_EQ(node_count, 1 + 2 * names.size());
}
