#include "session/booking/session.h"

#include "base/error.h"
#include "check.h"
#include "host.h"
#include "model/losses.h"

using namespace proton;

TEST(scopes_kernels_and_metrics_meet_in_one_tree) {
  host::thread();
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  host::enter("a");
  ThreadState& here = host::thread();
  const PathId path = launch_path(here, here.stack, ContextKind::kShadow);
  session.device.add_kernel(path, 0, host::kernel(kRootPath, 5), nullptr, nullptr);
  session.device.add_kernel(path, 0, host::kernel(kRootPath, 5), nullptr, nullptr);
  SampleList metrics;
  metrics.add(process.metric_names.intern("x"), int64_t{4});
  host::leave(metrics);
  const CallTree tree = host::tree(session, 0, {});
  CHECK_EQ(tree.nodes.size(), 3);
  const uint32_t row = host::row_of(tree, "a/k");
  CHECK_EQ(std::get<int64_t>(host::metric(tree, row, "count")), 2);
  CHECK_EQ(std::get<int64_t>(host::metric(tree, row, "time (ns)")), 10);
  CHECK_EQ(std::get<int64_t>(host::metric(tree, host::row_of(tree, "a"), "x")), 4);
}

TEST(a_timed_scope_books_its_time) {
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  host::enter("a", true);
  host::leave();
  const CallTree tree = host::tree(session, 0, {});
  CHECK(std::get<int64_t>(host::metric(tree, 1, "cpu_time (ns)")) >= 0);
  CHECK(tree.summary.metric_kinds.at("cpu_time (ns)") == MetricKind::kExclusive);
}

TEST(a_kernel_is_booked_where_it_was_launched) {
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  host::enter("first");
  const ContextId first = current_context_unlocked();
  host::leave();
  host::enter("second");
  const KernelEvent events[] = {host::kernel(first), host::kernel(current_context_unlocked())};
  session.device.on_events(events);
  host::leave();
  const CallTree tree = host::tree(session, 0, {});
  CHECK(host::row_of(tree, "first/k") != 0);
  CHECK(host::row_of(tree, "second/k") != 0);
  CHECK(session.count_losses().empty());
}

TEST(a_kernel_of_an_unknown_launch_is_counted_and_kept_at_the_root) {
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  const KernelEvent event = host::kernel(kUnknownContext);
  session.device.on_events({&event, 1});
  session.device.on_dropped(5);
  CHECK_EQ(session.count_losses().at(losses::kUnknownLaunch), 1);
  CHECK_EQ(session.count_losses().at(losses::kDropped), 5);
  CHECK(host::row_of(host::tree(session, 0, {}), "k") != 0);
}

TEST(tables_are_cleared_with_the_last_session_and_open_scopes_stay_true) {
  auto session = std::make_unique<Session>(0, ContextKind::kShadow, DataKind::kTree);
  session->host.activate();
  host::enter("a");
  host::enter("b");
  session.reset();
  CHECK_EQ(process.paths.size(), 1);
  Session next(1, ContextKind::kShadow, DataKind::kTree);
  next.host.activate();
  host::enter("c");
  host::leave();
  host::leave();
  host::leave();
  CHECK(host::row_of(host::tree(next, 0, {}), "a/b/c") != 0);
}

TEST(missing_phases_and_other_data_are_refused) {
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  CHECK_THROWS(host::tree(session, 1, {}), Error);
  CHECK_THROWS(build_trace(session, 0, {}), Error);
}

TEST(a_trace_keeps_every_span_and_the_lane_of_its_thread) {
  Session session(0, ContextKind::kShadow, DataKind::kTrace);
  session.host.activate();
  host::enter("a");
  host::enter("b");
  host::leave();
  ThreadState& here = host::thread();
  session.device.add_kernel(launch_path(here, here.stack, ContextKind::kShadow), here.number,
                            host::kernel(kRootPath, 5), nullptr, nullptr);
  const TraceLog log = build_trace(session, 0, {});  // `a` is open: it ends now
  host::leave();
  CHECK_EQ(log.spans.size(), 4);  // b, a, the launch and the kernel
  CHECK_EQ(*log.paths[log.spans[0].path].name, "b");
  CHECK_EQ(log.spans[2].flow_id, log.spans[3].flow_id);
  CHECK(log.spans[2].is_flow_source);
  CHECK(log.lanes[log.spans[3].lane].kind == LaneKind::kDevice);
}

TEST(samples_belong_to_the_phase_in_which_they_arrive) {
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.host.activate();
  const std::string reasons[] = {"selected", "wait"};
  const uint32_t counts[] = {1, 2};
  const SampledPc pc{7, "k", 16, counts, {}};
  const SampleBatch batch{"FAKE", 0, reasons, {&pc, 1}};
  CHECK(session.is_empty());
  session.device.on_samples(batch);
  CHECK(!session.is_empty());
  const uint64_t before = session.change_count(0);
  session.device.on_samples(batch);
  CHECK(session.change_count(0) != before);
  session.advance_phase();
  CHECK_EQ(session.change_count(1), 1u);
  session.device.on_samples(batch);
  CHECK_EQ(session.change_count(1), 4u);
  CHECK(session.count_losses().empty());
}
