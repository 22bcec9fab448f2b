// What is known about graph nodes: clones, late records, forgetting, attached metrics, new tables.
#include "backends/cupti/driver/thread_cells.h"
#include "backends/cupti/graph_nodes.h"
#include "check.h"

using namespace proton;
using namespace proton::cupti;

namespace {

constexpr uint64_t node_id(uint32_t graph, uint32_t node) { return uint64_t{graph} << 32 | node; }

std::vector<uint64_t> forgotten;

}  // namespace

TEST(a_cloned_node_was_captured_where_its_original_was) {
  GraphNodes nodes;
  nodes.add(node_id(1, 1), 10, 20);
  nodes.copy(node_id(2, 1), node_id(1, 1));
  CHECK_EQ(nodes.find(node_id(2, 1))->shadow, 10);
  CHECK_EQ(nodes.find(node_id(2, 1))->python, 20);
  CHECK(nodes.find(node_id(2, 2)) == nullptr);
  CHECK(nodes.find(node_id(3, 1)) == nullptr);
}

TEST(a_clone_of_an_unseen_node_still_tells_the_graph_it_comes_from) {
  GraphNodes nodes;
  nodes.copy(node_id(5, 1), node_id(4, 7));
  nodes.copy(node_id(6, 1), node_id(5, 1));
  CHECK_EQ(nodes.find(node_id(6, 1))->shadow, kUnknownContext);
  CHECK_EQ(GraphNodes::graph_of(nodes.find(node_id(6, 1))->root), 4);
}

TEST(a_removed_node_is_still_known_to_records_that_come_late) {
  GraphNodes nodes;
  nodes.add(node_id(1, 1), 10, 20);
  nodes.remove(node_id(1, 1));
  CHECK(nodes.find(node_id(1, 1)) != nullptr);
  CHECK_EQ(nodes.size(), 0);
  nodes.add(node_id(1, 1), 11, 21);
  CHECK_EQ(nodes.find(node_id(1, 1))->shadow, 11);
  CHECK_EQ(nodes.size(), 1);
}

TEST(nodes_that_come_and_go_in_one_graph_do_not_pile_up) {
  GraphNodes nodes;
  nodes.add(node_id(1, 0), 10, 20);
  for (uint32_t node = 1; node < 1'000'000; ++node) {
    nodes.add(node_id(2, node), 1, 1);
    nodes.remove(node_id(2, node));
  }
  CHECK_EQ(nodes.size(), 1);
  CHECK_EQ(nodes.find(node_id(1, 0))->shadow, 10);
  CHECK(nodes.find(node_id(2, 5)) == nullptr);
  CHECK(nodes.find(node_id(2, 999'999)) != nullptr);
  CHECK(nodes.dead_count() < 100'000);
}

TEST(graphs_that_come_and_go_do_not_pile_up) {
  GraphNodes nodes;
  for (uint32_t graph = 1; graph < 100'000; ++graph) {
    for (uint32_t node = 0; node < 4; ++node) nodes.add(node_id(graph, node), graph, graph);
    nodes.remove_graph(graph);
  }
  CHECK_EQ(nodes.size(), 0);
  CHECK(nodes.find(node_id(1, 0)) == nullptr);
  CHECK_EQ(nodes.find(node_id(99'999, 3))->shadow, 99'999);
}

TEST(a_node_that_the_driver_replaced_stays_known_as_long_as_its_graph) {
  GraphNodes nodes;
  nodes.add(node_id(1, 1), 10, 20);
  nodes.add(node_id(1, 2), 11, 21);
  nodes.remove(node_id(1, 1));
  nodes.trim(100);
  CHECK_EQ(nodes.find(node_id(1, 1))->shadow, 10);
  nodes.remove_graph(1);
  nodes.trim(100);
  CHECK(nodes.find(node_id(1, 1)) == nullptr);
}

TEST(nodes_are_found_in_any_order) {
  GraphNodes nodes;
  for (uint32_t node = 1; node <= 100; ++node) nodes.add(node_id(node % 3, node), node, node);
  for (const uint32_t step : {1, 3, 7, 99}) {
    for (uint32_t i = 0, node = 1; i < 300; ++i, node = (node + step - 1) % 100 + 1) {
      CHECK_EQ(nodes.find(node_id(node % 3, node))->shadow, node);
    }
  }
  CHECK(nodes.find(node_id(2, 101)) == nullptr);
}

TEST(ids_that_lie_far_apart_are_known_too) {
  GraphNodes nodes;
  nodes.add(node_id(1, 4'000'000'000), 1, 1);
  nodes.add(node_id(1, 3), 2, 2);
  nodes.add(node_id(1, 4'000'000'001), 3, 3);
  CHECK_EQ(nodes.find(node_id(1, 4'000'000'000))->shadow, 1);
  CHECK_EQ(nodes.find(node_id(1, 3))->shadow, 2);
  CHECK_EQ(nodes.find(node_id(1, 4'000'000'001))->shadow, 3);
  nodes.remove_graph(1);
  CHECK_EQ(nodes.size(), 0);
  nodes.trim(0);
  CHECK(nodes.find(node_id(1, 3)) == nullptr);
}

TEST(attached_metrics_are_forgotten_with_the_last_clone) {
  forgotten.clear();
  GraphNodes nodes;
  nodes.set_forget([](uint64_t root) noexcept { forgotten.push_back(root); });
  nodes.add(node_id(1, 1), 10, 20);
  nodes.copy(node_id(2, 1), node_id(1, 1));
  CHECK(nodes.attach_metrics(node_id(1, 1)));
  CHECK(!nodes.attach_metrics(node_id(9, 9)));
  nodes.remove_graph(1);
  nodes.trim(100);
  CHECK(forgotten.empty());
  CHECK(nodes.find(node_id(2, 1))->has_metrics);
  nodes.remove_graph(2);
  nodes.trim(100);
  CHECK_EQ(forgotten.size(), 1);
  CHECK_EQ(forgotten[0], node_id(1, 1));
}

TEST(a_graph_knows_the_metrics_of_its_parts) {
  GraphNodes nodes;
  nodes.add(node_id(1, 1), 10, 20);
  nodes.add(node_id(2, 1), 11, 21);
  nodes.copy(node_id(3, 1), node_id(1, 1));
  nodes.copy(node_id(4, 1), node_id(2, 1));
  nodes.set_parts(3, {4});
  CHECK(nodes.whole(3)->metric_nodes.empty());
  nodes.attach_metrics(node_id(2, 1));  // after the clone was made
  CHECK_EQ(nodes.whole(3)->metric_nodes.size(), 1);
  CHECK_EQ(nodes.whole(3)->metric_nodes[0], node_id(2, 1));
  nodes.remove_graph(3);
  CHECK_EQ(nodes.size(), 2);  // its parts went with it
}

TEST(a_whole_graph_lists_the_launches_with_metadata_of_its_nodes) {
  GraphNodes nodes;
  const ContextId launch = kLaunchBit | 5;
  nodes.add(node_id(1, 1), launch, 20);
  nodes.add(node_id(1, 2), 7, 20);                // no metadata
  nodes.add(node_id(1, 3), launch, 20, 99);       // reads a value for us
  nodes.add(node_id(1, 4), kUnknownContext, 20);  // nobody knows
  nodes.add(node_id(1, 4'000'000'000), launch + 1, 20);
  nodes.add(node_id(2, 1), launch + 2, 20);
  CHECK(nodes.whole(1)->launches->contexts == (std::vector<ContextId>{launch, launch + 1}));
  nodes.set_parts(1, {2});
  CHECK(nodes.whole(1)->launches->contexts ==
        (std::vector<ContextId>{launch, launch + 1, launch + 2}));
  CHECK(nodes.whole(9) == nullptr);
}

TEST(the_launches_of_a_whole_graph_are_collected_anew_only_when_its_nodes_change) {
  GraphNodes nodes;
  const ContextId launch = kLaunchBit | 5;
  nodes.add(node_id(1, 1), launch, 20);
  nodes.add(node_id(2, 1), launch, 20);
  nodes.set_parts(1, {2});
  const auto first = nodes.whole(1)->launches;
  nodes.add(node_id(3, 1), launch, 20);  // another graph
  nodes.add(node_id(1, 2), 7, 20);       // no metadata
  nodes.remove(node_id(1, 1));           // it may be in flight
  CHECK(nodes.whole(1)->launches == first);
  nodes.add(node_id(2, 2), launch + 1, 20);  // in a part
  const auto second = nodes.whole(1)->launches;
  CHECK(second->version != first->version);
  CHECK_EQ(second->contexts.size(), 3);
  nodes.copy(node_id(1, 2), node_id(3, 1));  // an update
  CHECK_EQ(nodes.whole(1)->launches->contexts.size(), 4);
  nodes.move_contexts(1, [](ContextId context) { return context + 100; });
  CHECK_EQ(nodes.whole(1)->launches->contexts[0], launch + 100);
  nodes.expect_epoch(2);
  CHECK(nodes.whole(1)->launches == nullptr);
}

TEST(only_so_many_nodes_outlive_a_subscription) {
  GraphNodes nodes;
  for (uint32_t graph = 1; graph <= 10; ++graph) {
    for (uint32_t node = 0; node < 10; ++node) nodes.add(node_id(graph, node), 1, 1);
  }
  nodes.trim(35);
  CHECK_EQ(nodes.size(), 30);
  CHECK(nodes.find(node_id(7, 0)) == nullptr);  // the oldest went
  CHECK(nodes.find(node_id(8, 0)) != nullptr);
}

TEST(contexts_of_another_epoch_are_void_unless_they_were_moved) {
  GraphNodes nodes;
  nodes.expect_epoch(1);
  nodes.add(node_id(1, 1), 10, 20);
  nodes.move_contexts(2, [](ContextId context) { return context + 100; });
  nodes.expect_epoch(2);
  CHECK_EQ(nodes.find(node_id(1, 1))->shadow, 110);
  nodes.expect_epoch(3);
  CHECK_EQ(nodes.find(node_id(1, 1))->shadow, kUnknownContext);
}

TEST(a_clone_is_not_captured) {
  NodeLog log;
  log.add(node_id(1, 1));
  log.add(node_id(1, 2));
  const uint64_t before = log.count();
  log.add(node_id(2, 1));
  log.take_back(node_id(2, 1));
  CHECK_EQ(log.count(), before);
  CHECK_EQ(log.last_since(0), node_id(1, 2));
  log.take_back(node_id(2, 1));
  CHECK_EQ(log.count(), before);
}

TEST(a_scope_belongs_to_the_graph_in_which_it_began) {
  NodeLog log;
  log.add(node_id(1, 1));
  const uint64_t outside = log.count();
  CHECK_EQ(log.last_since(outside), 0);
  log.add(node_id(1, 2));
  const uint64_t inside = log.count();
  log.add(node_id(2, 1));  // a conditional body
  CHECK_EQ(log.last_since(outside), node_id(1, 2));
  CHECK_EQ(log.last_since(inside), node_id(2, 1));
  log.add(node_id(1, 3));
  CHECK_EQ(log.last_since(outside), node_id(1, 3));
  CHECK_EQ(log.last_since(inside), node_id(2, 1));
}

TEST(metrics_belong_to_a_graph_that_was_begun_before_their_scope) {
  NodeLog log;
  const int thread = 0, graph = 0, body = 0;
  const LaunchTally early{&thread, 5, 0}, late{&thread, 9, 1};
  const uint64_t outside = log.count();
  log.begin(&graph, early);
  const uint64_t inside = log.count();
  CHECK_EQ(log.metrics_node_since(outside, 5, early), 0);  // nothing in it yet
  log.add(node_id(1, 1), &graph);
  CHECK_EQ(log.metrics_node_since(inside, 5, late), node_id(1, 1));
  CHECK_EQ(log.metrics_node_since(outside, 5, late), 0);  // three launches ran
  CHECK_EQ(log.metrics_node_since(outside, 5, {&thread, 6, 1}), node_id(1, 1));
  CHECK_EQ(log.metrics_node_since(outside, 4, {&thread, 6, 1}), 0);  // one ran before
  CHECK_EQ(log.metrics_node_since(outside, 5, {&body, 6, 1}), 0);    // begun by another thread
  for (uint32_t other = 2; other < 200; ++other) {                   // the log is bounded
    log.begin(&body, late);
    log.add(node_id(other, 1), &body);
  }
  CHECK_EQ(log.metrics_node_since(outside, 5, {&thread, 6, 1}), 0);
}

TEST(a_graph_nobody_told_of_is_an_older_one_unless_another_began_meanwhile) {
  NodeLog log;
  const int thread = 0, graph = 0;
  const uint64_t before = log.count();
  log.add(node_id(7, 1), &thread);
  CHECK_EQ(log.metrics_node_since(before, 0, {&thread, 3, 0}), node_id(7, 1));
  const uint64_t count = log.count();
  log.begin(&graph, {&thread, 4, 0});
  log.add(node_id(8, 1), &thread);  // as a conditional body
  CHECK_EQ(log.metrics_node_since(count, 3, {&thread, 5, 1}), 0);
}

TEST(a_graph_nobody_told_of_stays_an_older_one_whatever_begins_after_it) {
  NodeLog log;
  const int thread = 0, body = 0;
  const uint64_t before = log.count();
  log.add(node_id(7, 1), &thread);
  log.begin(&body, {&thread, 1, 0});
  log.add(node_id(8, 1), &body);
  CHECK_EQ(log.metrics_node_since(before, 0, {&thread, 9, 1}), node_id(7, 1));
}

TEST(a_scope_belongs_to_the_graph_that_was_under_way_though_a_body_comes_first) {
  NodeLog log;
  const int thread = 0, graph = 0, body = 0;
  log.begin(&graph, {&thread, 0, 0});
  const uint64_t count = log.count();
  log.begin(&body, {&thread, 0, 0});
  log.add(node_id(2, 1), &body);
  log.add(node_id(1, 1), &graph);
  CHECK_EQ(log.metrics_node_since(count, 0, {&thread, 9, 1}), node_id(1, 1));
}

TEST(numbers_of_graphs_that_come_again_are_other_graphs) {
  NodeLog log;
  const int thread = 0, graph = 0;
  log.begin(&graph, {&thread, 0, 0});
  log.add(node_id(1, 1), &graph);
  log.forget();
  log.interrupt();
  const uint64_t step = log.count();
  log.begin(&graph, {&thread, 5, 0});
  log.add(node_id(1, 1), &graph);
  CHECK_EQ(log.metrics_node_since(step, 4, {&thread, 6, 1}), 0);
}
