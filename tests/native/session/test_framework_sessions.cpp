// Sessions that record a framework: which frames of a path each kind of session shows.
#include "check.h"
#include "host.h"

using namespace proton;

namespace {

constexpr const char* kLibrary = "lib.py:7@call";

NameId name(const char* text) { return process.names.intern(text); }

/// A line of the program, a library's, a module, an operator, and its backward work.
ContextId backward_context() {
  process.frame_texts.mark(name(kLibrary), true);
  PathId path = process.paths.child(kRootPath, FrameId::python_text(name("train.py:3@main")));
  path = process.paths.child(path, FrameId::python_text(name(kLibrary)));
  path = process.paths.child(path, FrameId::module(name("h.0")));
  const ContextId op = process.ranges.below(path, FrameKind::kOperator, "aten::mul");
  const ContextId marker = process.ranges.below(op, FrameKind::kBackward, "<backward>");
  const ContextId node = process.ranges.below(marker, FrameKind::kOperator, "MulBackward0");
  return process.ranges.below(node, FrameKind::kOperator, "aten::mul");
}

CallTree tree_of(ContextKind kind) {
  host::thread();
  Session session(0, kind, DataKind::kTree);
  session.host.activate();
  const KernelEvent event = host::kernel(backward_context());
  session.device.on_events({&event, 1});
  return host::tree(session, 0, {});
}

}  // namespace

TEST(a_session_of_tier_ops_shows_modules_operators_and_no_library_frames) {
  const CallTree tree = tree_of(ContextKind::kOps);
  const uint32_t row =
      host::row_of(tree, "train.py:3@main/h.0/aten::mul/<backward>/MulBackward0/aten::mul/k");
  CHECK(row != 0);
  CHECK_EQ(tree.nodes.size(), 8);
  CHECK(tree.nodes[host::row_of(tree, "train.py:3@main/h.0")].kind == FrameKind::kModule);
  CHECK(tree.nodes[host::row_of(tree, "train.py:3@main/h.0/aten::mul")].kind ==
        FrameKind::kOperator);
}

TEST(a_session_of_tier_blame_shows_the_node_of_a_backward_pass_and_no_other_operator) {
  const CallTree tree = tree_of(ContextKind::kBlame);
  const uint32_t marker = host::row_of(tree, "train.py:3@main/h.0/<backward>");
  CHECK(tree.nodes[marker].kind == FrameKind::kBackward);
  CHECK(host::row_of(tree, "train.py:3@main/h.0/<backward>/MulBackward0/k") != 0);
  CHECK_EQ(tree.nodes.size(), 6);
}

TEST(a_wrapper_and_the_module_in_it_are_one_row) {
  host::thread();
  Session session(0, ContextKind::kBlame, DataKind::kTree);
  session.host.activate();
  PathId path = process.paths.child(kRootPath, FrameId::module(name("h.0")));
  path = process.paths.child(path, FrameId::python_text(name(kLibrary)));
  process.frame_texts.mark(name(kLibrary), true);
  path = process.paths.child(path, FrameId::module(name("h.0")));
  const KernelEvent event = host::kernel(path);
  session.device.on_events({&event, 1});
  const CallTree tree = host::tree(session, 0, {});
  CHECK(host::row_of(tree, "h.0/k") != 0);
  CHECK_EQ(tree.nodes.size(), 3);
}

TEST(operators_of_equal_name_and_another_kind_are_apart) {
  host::thread();
  Session session(0, ContextKind::kOps, DataKind::kTree);
  const ContextId op = process.ranges.below(kRootPath, FrameKind::kOperator, "x");
  const ContextId marker = process.ranges.below(kRootPath, FrameKind::kBackward, "x");
  CHECK(op != marker);
  CHECK_EQ(process.ranges.below(kRootPath, FrameKind::kOperator, "x"), op);
  CHECK(process.paths.frame(process.ranges.path(op)).kind() == FrameKind::kOperator);
  CHECK(process.paths.frame(process.ranges.path(marker)).kind() == FrameKind::kBackward);
}

TEST(calls_and_time_of_operators_are_booked_in_tier_ops_alone) {
  host::thread();
  Session ops(0, ContextKind::kOps, DataKind::kTree);
  Session blame(1, ContextKind::kBlame, DataKind::kTree);
  const PathId path =
      process.ranges.path(process.ranges.below(kRootPath, FrameKind::kOperator, "aten::mul"));
  for (HostBooking* host : {&ops.host, &blame.host}) {
    host->activate();
    host->book_operator(path, 3, 70);
    host->book_operator(path, 1, 30);
  }
  const CallTree tree = host::tree(ops, 0, {});
  CHECK_EQ(std::get<int64_t>(host::metric(tree, 1, "calls")), 4);
  CHECK_EQ(std::get<int64_t>(host::metric(tree, 1, "cpu_time (ns)")), 100);
  CHECK(tree.summary.metric_kinds.at("calls") == MetricKind::kExclusive);
  CHECK_EQ(host::tree(blame, 0, {}).nodes.size(), 1);
}
