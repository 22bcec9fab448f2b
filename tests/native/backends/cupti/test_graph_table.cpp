// The table of graphs alone: told of nodes, executables and launches by hand.
#include "check.h"
#include "parts.h"

using namespace parts;

namespace {

struct TableAlone {
  Base base{ids_only()};
  Graphs graphs{base};
  GraphTable& table = graphs.table;
};

/// What an event of a node, or of a whole graph, is told.
struct Annotated {
  explicit Annotated(GraphTable& table, uint64_t node, uint32_t graph = 0) {
    events[0].graph_node = node;
    events[0].graph = graph;
    table.annotate(events, contexts);
    riders.assign(events[0].riders.begin(), events[0].riders.end());
  }
  std::vector<KernelEvent> events{1};
  std::vector<EventContexts> contexts{1};
  std::vector<uint64_t> riders;
};

}  // namespace

TEST(a_node_and_its_clones_are_known_where_the_node_was_captured) {
  TableAlone alone;
  alone.graphs.create(node_id(1, 1));
  here = 45;
  alone.graphs.clone(node_id(2, 1), node_id(1, 1));
  CHECK_EQ(alone.table.find(node_id(2, 1)).shadow, 44u);
  CHECK_EQ(alone.table.find(node_id(2, 1)).root, node_id(1, 1));
  CHECK_EQ(alone.table.find(node_id(2, 1)).python, kUnknownContext);  // nobody asked
  CHECK_EQ(alone.table.find(node_id(3, 1)).root, 0u);
}

TEST(frames_are_asked_for_while_somebody_needs_them) {
  TableAlone alone;
  alone.base.launches.table().open(true);
  alone.base.launches.set_captures(kNeedsShadow | kNeedsPython);
  alone.graphs.create(node_id(1, 1));
  CHECK_EQ(alone.table.find(node_id(1, 1)).python, 1044u);
}

TEST(nodes_without_records_are_not_kept) {
  TableAlone alone;
  alone.graphs.create(node_id(1, 1), kMemsetNode);
  alone.graphs.create(node_id(1, 2), kMemsetNode + 1);
  CHECK_EQ(alone.table.with_nodes([](GraphNodes& nodes) { return nodes.size(); }), 1u);
}

TEST(an_updated_executable_runs_what_the_new_graph_says) {
  TableAlone alone;
  alone.graphs.create(node_id(1, 1));
  alone.graphs.clone(node_id(2, 1), node_id(1, 1));
  here = 45;
  alone.graphs.create(node_id(3, 1));
  alone.graphs.tell(kGraphNodeUpdated, node_id(3, 1), node_id(2, 1));
  CHECK_EQ(alone.table.find(node_id(2, 1)).shadow, 45u);
}

TEST(a_child_whose_nodes_move_into_the_executable_is_known_under_their_new_ids) {
  TableAlone alone;
  alone.graphs.create(node_id(1, 1));
  alone.graphs.tell_exec(kGraphCreated, 7);
  here = 45;
  alone.graphs.clone(node_id(5, 1), node_id(1, 1));
  alone.graphs.tell_exec(kGraphExecCreateStarting, 7);
  moved[node_id(5, 1)] = node_id(7, 3);
  alone.graphs.tell_exec(kGraphExecCreated, 7);
  CHECK_EQ(alone.table.find(node_id(7, 3)).shadow, 44u);
}

TEST(graphs_that_are_destroyed_leave_nothing) {
  TableAlone alone;
  alone.graphs.create(node_id(1, 1));
  alone.graphs.clone(node_id(2, 1), node_id(1, 1));
  alone.graphs.tell_exec(kGraphExecDestroyStarting, 2);
  alone.graphs.tell_exec(kGraphDestroyStarting, 1);
  CHECK_EQ(alone.table.with_nodes([](GraphNodes& nodes) { return nodes.size(); }), 0u);
}

TEST(a_launch_that_became_a_node_is_not_waited_for) {
  TableAlone alone;
  alone.base.launch(301);
  CHECK(alone.base.is_waited_for(301));
  alone.base.launches.on_launch(kLaunchKernel, Base::call(kEnterSite, 302));
  alone.graphs.create(node_id(1, 1));
  alone.base.launches.on_launch(kLaunchKernel, Base::call(kExitSite, 302));
  CHECK(!alone.base.is_waited_for(302));
}

TEST(events_of_nodes_are_told_where_those_were_captured) {
  TableAlone alone;
  alone.graphs.create(node_id(1, 1));
  const Annotated known(alone.table, node_id(1, 1));
  CHECK_EQ(known.contexts[0].shadow_capture, 44u);
  CHECK_EQ(known.contexts[0].python_capture, 44u);  // scopes, where there are no frames
  CHECK(known.riders.empty());
  const Annotated unseen(alone.table, node_id(9, 1));
  CHECK_EQ(unseen.contexts[0].shadow_capture, kUnknownContext);
  const Annotated plain(alone.table, 0);
  CHECK_EQ(plain.contexts[0].shadow_capture, kNoContext);
}

TEST(an_event_of_an_unseen_node_has_the_graph_that_its_original_is_of) {
  TableAlone alone;
  alone.graphs.tell(kGraphNodeCloned, node_id(2, 1), node_id(1, 1));
  const Annotated event(alone.table, node_id(2, 1), 2);
  CHECK_EQ(event.contexts[0].shadow_capture, kUnknownContext);
  CHECK_EQ(event.events[0].graph, 1u);
}

TEST(metrics_ride_on_every_run_of_a_node_and_of_the_graph_that_has_it) {
  TableAlone alone;
  alone.graphs.create(node_id(1, 1));
  alone.graphs.create(node_id(1, 2));
  for (const uint32_t node : {1, 2}) alone.graphs.clone(node_id(7, node), node_id(1, node));
  CHECK(alone.table.with_nodes(
      [](GraphNodes& nodes) { return nodes.attach_metrics(node_id(1, 2)); }));
  const std::vector<uint64_t> wanted{node_id(1, 2)};
  CHECK(Annotated(alone.table, node_id(7, 2)).riders == wanted);
  CHECK(Annotated(alone.table, node_id(7, 1)).riders.empty());
  CHECK(Annotated(alone.table, 0, 7).riders == wanted);
}

TEST(the_values_that_a_replay_reads_are_those_of_its_nodes) {
  TableAlone alone;
  alone.graphs.create_reader(node_id(1, 1), 9);
  alone.graphs.create(node_id(1, 2));
  for (const uint32_t node : {1, 2}) alone.graphs.clone(node_id(7, node), node_id(1, node));
  CHECK_EQ(alone.table.find(node_id(7, 1)).value, 9u);
  CHECK(alone.table.values_of(7) == std::vector<uint64_t>{9});
  CHECK(alone.table.values_of(8).empty());
}

TEST(tracing_of_whole_graphs_ends_before_an_older_executable_is_launched) {
  TableAlone alone;
  const GraphLaunchParams older{Graphs::handle(5)}, newer{Graphs::handle(6)};
  alone.table.set_traced(true);
  alone.graphs.tell_exec(kGraphExecCreated, 6);
  alone.table.on_launch(Base::call(kEnterSite, 401, &newer));
  alone.table.on_launch(Base::call(kExitSite, 401, &newer));
  CHECK_EQ(alone.table.refusal_count(), 0u);
  CHECK_EQ(disabled_kind, 0u);
  for (const uint32_t correlation : {402, 403}) {
    alone.table.on_launch(Base::call(kEnterSite, correlation, &older));
    CHECK_EQ(disabled_kind, uint32_t{kGraphTraceActivity});
    alone.table.on_launch(Base::call(kExitSite, correlation, &older));
    CHECK_EQ(alone.table.refusal_count(), 1u);
  }
  CHECK_EQ(newest_correlation(), 403u);  // and it is a launch like others
}
