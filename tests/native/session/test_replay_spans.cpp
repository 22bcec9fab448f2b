// Graph lanes: a span for each replay by node, with the captured scopes below it.
#include "session/snapshot/replay_spans.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "check.h"
#include "host.h"
#include "session/snapshot/trace_builder.h"

using namespace proton;

namespace {

/// The context of a launch within these scopes; only known while a session records.
ContextId context_in(std::initializer_list<const char*> scopes) {
  for (const char* scope : scopes) host::enter(scope);
  const ContextId context = current_context_unlocked();
  for (size_t i = 0; i < scopes.size(); ++i) host::leave();
  return context;
}

/// What stands on graph lanes, a line each: `stream serve/<captured_at>/a 0-10`.
std::string graph_lines(const TraceLog& log) {
  std::string lines;
  for (const TraceSpan& span : log.spans) {
    const TraceLane& lane = log.lanes[span.lane];
    if (lane.kind != LaneKind::kGraph) continue;
    CHECK(span.kind == SpanKind::kScope);
    std::string path;
    for (uint32_t at = span.path; at != 0; at = log.paths[at].parent) {
      path = concat("/", *log.paths[at].name, path);
    }
    lines += concat(std::to_string(lane.number), " ", path.substr(1), " ",
                    std::to_string(span.start_ns), "-", std::to_string(span.end_ns), "\n");
  }
  return lines;
}

/// A trace session to which kernels of replays from the scope "serve" are given.
struct Replays {
  Replays() { host::thread(), session.host.activate(); }

  void add(CorrelationId replay, ContextId capture, int64_t start_ns, int64_t end_ns,
           uint64_t stream = 7, uint32_t graph = 3) {
    KernelEvent event = host::kernel(context_in({"serve"}));
    event.correlation = replay;
    event.capture = capture;
    event.graph = graph;
    event.start_ns = start_ns;
    event.end_ns = end_ns;
    event.lane = stream;
    session.device.on_events({&event, 1});
  }
  std::string lines() const { return graph_lines(build_trace(session, 0, {})); }

  Session session{0, ContextKind::kShadow, DataKind::kTrace};
};

}  // namespace

TEST(a_replay_is_a_span_with_the_captured_scopes_below_it) {
  Replays replays;
  const ContextId first = context_in({"model", "first"});
  replays.add(1, first, 0, 10);
  replays.add(1, first, 12, 20);
  replays.add(1, context_in({"model", "second"}), 21, 30);
  replays.add(1, kRootPath, 35, 40);
  replays.add(2, first, 50, 60);
  CHECK_EQ(replays.lines(),
           "7 serve/<captured_at> 0-40\n"
           "7 serve/<captured_at>/model 0-30\n"
           "7 serve/<captured_at>/model/first 0-20\n"
           "7 serve/<captured_at>/model/second 21-30\n"
           "7 serve/<captured_at> 50-60\n"
           "7 serve/<captured_at>/model 50-60\n"
           "7 serve/<captured_at>/model/first 50-60\n");
  const TraceLog log = build_trace(replays.session, 0, {});
  CHECK_EQ(std::ranges::count(log.spans, SpanKind::kKernel, &TraceSpan::kind), 5);
}

TEST(a_scope_that_others_come_between_is_as_many_spans) {
  Replays replays;
  const ContextId one = context_in({"one"});
  replays.add(1, one, 0, 1);
  replays.add(1, context_in({"other"}), 1, 2);
  replays.add(1, one, 2, 3);
  CHECK_EQ(replays.lines(),
           "7 serve/<captured_at> 0-3\n"
           "7 serve/<captured_at>/one 0-1\n"
           "7 serve/<captured_at>/other 1-2\n"
           "7 serve/<captured_at>/one 2-3\n");
}

TEST(records_may_come_in_any_order_and_from_several_streams) {
  Replays replays;
  const ContextId one = context_in({"one"});
  replays.add(2, one, 20, 21);
  replays.add(1, one, 5, 9);
  replays.add(1, one, 1, 4, 8);
  replays.add(1, one, 0, 4);
  replays.add(2, one, 18, 19);
  CHECK_EQ(replays.lines(),
           "7 serve/<captured_at> 0-9\n"
           "7 serve/<captured_at>/one 0-9\n"
           "7 serve/<captured_at> 18-21\n"
           "7 serve/<captured_at>/one 18-21\n"
           "8 serve/<captured_at> 1-4\n"
           "8 serve/<captured_at>/one 1-4\n");
}

TEST(a_scope_lasts_as_long_as_its_longest_kernel) {
  Replays replays;
  replays.add(1, context_in({"one", "inner"}), 0, 100);
  replays.add(1, context_in({"one"}), 10, 20);
  CHECK_EQ(replays.lines(),
           "7 serve/<captured_at> 0-100\n"
           "7 serve/<captured_at>/one 0-100\n"
           "7 serve/<captured_at>/one/inner 0-100\n");
}

TEST(a_graph_that_nobody_saw_captured_stands_by_its_number) {
  Replays replays;
  replays.add(1, kUnknownContext, 0, 10);
  CHECK_EQ(replays.lines(),
           "7 serve/<captured_at> 0-10\n"
           "7 serve/<captured_at>/<captured while not recording> 0-10\n"
           "7 serve/<captured_at>/<captured while not recording>/<graph 3> 0-10\n");
}

TEST(work_of_which_no_replay_is_known_is_on_no_graph_lane) {
  Replays replays;
  replays.add(3, kNoContext, 0, 10);           // of no graph
  replays.add(0, context_in({"one"}), 0, 10);  // of a conditional node's body
  CHECK_EQ(replays.lines(), "");
}

TEST(chunks_of_a_journal_have_what_came_since) {
  Replays replays;
  const ContextId one = context_in({"one"});
  TraceCursor cursor;
  const auto next = [&] {
    return graph_lines(build_new_trace(replays.session, 0, {}, cursor, 100));
  };
  replays.add(1, one, 0, 10);
  CHECK_EQ(next(), "7 serve/<captured_at> 0-10\n7 serve/<captured_at>/one 0-10\n");
  replays.add(2, one, 20, 30);
  CHECK_EQ(next(), "7 serve/<captured_at> 20-30\n7 serve/<captured_at>/one 20-30\n");
  CHECK_EQ(next(), "");
}
