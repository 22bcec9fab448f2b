// Launch metadata, spreads and captured paths in the tree.
#include "check.h"
#include "host.h"

using namespace proton;

namespace {

std::shared_ptr<const OpEntry> op(const char* name, double flops) {
  OpEntry entry;
  entry.name = name;
  entry.metrics.add(process.metric_names.intern("flops"), flops);
  entry.home = nullptr;
  return std::make_shared<const OpEntry>(std::move(entry));
}

/// What a launch inside `op` would carry.
ContextId launch_with(std::shared_ptr<const OpEntry> op) {
  ThreadState& here = host::thread();
  here.stack.op = std::move(op);
  publish(here, here.stack);
  const ContextId context = current_context_unlocked();
  here.stack.op = nullptr;
  publish(here, here.stack);
  return context;
}

void send(Session& session, const KernelEvent& event) { session.device.on_events({&event, 1}); }

}  // namespace

TEST(equal_launch_metadata_share_one_context) {
  host::thread();
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  host::enter("a");
  CHECK_EQ(launch_with(op("x", 1)), launch_with(op("x", 1)));
  CHECK(launch_with(op("x", 1)) != launch_with(op("x", 2)));
  CHECK(launch_with(op("x", 1)) != launch_with(op("y", 1)));
  CHECK_EQ(process.contexts.path(launch_with(op("x", 1))), current_context_unlocked());
  host::leave();
}

TEST(launch_metadata_renames_the_kernel_and_books_its_metrics_once_a_launch) {
  host::thread();
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.device.use_launch_metadata(true);
  session.host.activate();
  host::enter("a");
  send(session, host::kernel(launch_with(op("renamed", 3))));
  send(session, host::kernel(launch_with(op("renamed", 4))));
  host::leave();
  const CallTree tree = host::tree(session, 0, {});
  const uint32_t row = host::row_of(tree, "a/renamed");
  CHECK(row != 0);
  CHECK_EQ(std::get<double>(host::metric(tree, row, "flops")), 7.0);
  CHECK_EQ(std::get<int64_t>(host::metric(tree, row, "count")), 2);
}

TEST(a_session_without_the_hook_keeps_the_kernels_name) {
  host::thread();
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  host::enter("a");
  send(session, host::kernel(launch_with(op("renamed", 3))));
  host::leave();
  CHECK(host::row_of(host::tree(session, 0, {}), "a/k") != 0);
}

TEST(a_replayed_kernel_stands_below_its_capture) {
  host::thread();
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.device.use_launch_metadata(true);
  session.host.activate();
  host::enter("capture");
  const ContextId captured = launch_with(op("renamed", 3));
  host::leave();
  host::enter("replay");
  KernelEvent event = host::kernel(current_context_unlocked());
  event.capture = captured;
  event.graph_node = 7;
  for (int i = 0; i < 5; ++i) send(session, event);
  event.capture = kUnknownContext;
  send(session, event);
  host::leave();
  const CallTree tree = host::tree(session, 0, {});
  const uint32_t row = host::row_of(tree, "replay/<captured_at>/capture/renamed");
  CHECK(row != 0);
  CHECK_EQ(std::get<int64_t>(host::metric(tree, row, "count")), 5);
  CHECK_EQ(std::get<double>(host::metric(tree, row, "flops")), 15.0);
  CHECK(host::row_of(tree, "replay/<captured_at>/<captured while not recording>/k") != 0);
  CHECK(session.count_losses().empty());
}

TEST(rows_keep_their_spread_and_the_launch_attributes_that_never_changed) {
  host::thread();
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  for (int i = 1; i <= 100; ++i) {
    KernelEvent event = host::kernel(kRootPath, i * 100);
    event.shape = {{i, 1, 1}, {128, 1, 1}, 40, 1024, 0};
    event.lane = 7;
    send(session, event);
  }
  const CallTree tree = host::tree(session, 0, {});
  CHECK_EQ(tree.details.size(), 1);
  const KernelDetail& detail = tree.details[0];
  CHECK_EQ(*tree.nodes[detail.row].name, "k");
  CHECK_EQ(detail.min_ns, 100);
  CHECK_EQ(detail.max_ns, 10'000);
  CHECK(detail.p50_ns > 4500 && detail.p50_ns < 5500);
  CHECK(detail.p99_ns > 9000 && detail.p99_ns <= 10'000);
  std::string keys;
  for (const auto& [key, value] : detail.attributes) keys += key + " ";
  CHECK_EQ(keys, "block registers static_shared_bytes dynamic_shared_bytes stream ");
}

TEST(rows_say_how_far_a_launch_can_fill_its_device) {
  host::thread();
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  KernelEvent event = host::kernel(kRootPath);
  event.shape = {{8, 1, 1}, {128, 1, 1}, 128, 0, 0};
  send(session, event);
  session.facts.add_device("FAKE", "0",
                           {{"arch", Value{std::string("90")}},
                            {"max_threads_per_sm", Value{int64_t{2048}}},
                            {"max_blocks_per_sm", Value{int64_t{32}}},
                            {"registers_per_sm", Value{int64_t{65536}}},
                            {"shared_bytes_per_sm", Value{int64_t{233472}}}});
  const auto occupancy = [&] {
    double found = -1;
    const CallTree tree = host::tree(session, 0, {});
    for (const auto& [key, value] : tree.details[0].attributes) {
      if (key == "occupancy") found = std::get<double>(value.data);
    }
    return found;
  };
  CHECK_EQ(occupancy(), 0.25);
  event.shape.registers = 64;  // another binary: no one number holds for both
  send(session, event);
  CHECK_EQ(occupancy(), -1);
}

TEST(launch_metadata_past_the_limit_is_counted_and_the_path_stays_right) {
  host::thread();
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  host::enter("a");
  const PathId path = current_context_unlocked();
  const ContextId known = launch_with(op("known", 0));
  const auto same = op("x", 1);
  ContextId last = known;
  for (PathId at = 1; last != at - 1; ++at) {  // four million, until the path comes back bare
    last = process.contexts.intern(at, same.get());
  }
  CHECK_EQ(session.count_losses().at("launch_metadata"), 1);
  CHECK_EQ(launch_with(op("new", 0)), path);
  CHECK_EQ(launch_with(op("known", 0)), known);
  CHECK_EQ(session.count_losses().at("launch_metadata"), 2);
  host::leave();
}

TEST(copies_are_a_kind_of_their_own_and_sum_their_bytes) {
  host::thread();
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  KernelEvent event = host::kernel(kRootPath);
  event.kind = EventKind::kCopy;
  event.bytes = 4096;
  send(session, event);
  send(session, event);
  const CallTree tree = host::tree(session, 0, {});
  CHECK(tree.nodes[1].kind == FrameKind::kCopy);
  CHECK_EQ(std::get<int64_t>(host::metric(tree, 1, "bytes")), 8192);
}

TEST(a_launch_for_two_kinds_of_sessions_has_a_context_for_each) {
  host::thread();
  Session python(0, ContextKind::kPython, DataKind::kTree);
  Session framework(1, ContextKind::kOps, DataKind::kTree);
  const PathId caller =
      process.paths.child(kRootPath, FrameId::scope(process.names.intern("call")));
  const ContextId op = process.ranges.below(kRootPath, FrameKind::kOperator, "aten::mul");
  const ContextId pair = process.contexts.pair(op, caller);
  CHECK_EQ(process.contexts.pair(op, caller), pair);
  CHECK_EQ(process.contexts.pair(caller, caller), caller);
  CHECK_EQ(process.contexts.pair(kNoContext, caller), kNoContext);
  for (Session* session : {&python, &framework}) {
    session->host.activate();
    send(*session, host::kernel(pair));
  }
  CHECK(host::row_of(host::tree(python, 0, {}), "call/k") != 0);
  CHECK(host::row_of(host::tree(framework, 0, {}), "aten::mul/k") != 0);
}

TEST(a_pair_keeps_the_launch_metadata_of_both) {
  host::thread();
  Session python(0, ContextKind::kPython, DataKind::kTree);
  Session framework(1, ContextKind::kBlame, DataKind::kTree);
  for (Session* session : {&python, &framework}) {
    session->host.activate();
    session->device.use_launch_metadata(true);
  }
  const PathId module = process.paths.child(kRootPath, FrameId::module(process.names.intern("h")));
  const auto matmul = op("matmul", 4);
  const ContextId pair = process.contexts.pair(process.contexts.intern(module, matmul.get()),
                                               process.contexts.intern(kRootPath, matmul.get()));
  send(python, host::kernel(pair));
  send(framework, host::kernel(pair));
  CHECK(host::row_of(host::tree(python, 0, {}), "matmul") != 0);
  CHECK(host::row_of(host::tree(framework, 0, {}), "h/matmul") != 0);
}
