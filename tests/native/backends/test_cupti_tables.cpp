// The hub's tables: graph nodes, clocks, buffers.
#include "backends/cupti/buffers.h"
#include "backends/cupti/clock.h"
#include "backends/cupti/graph_nodes.h"
#include "check.h"

using namespace proton;
using namespace proton::cupti;

TEST(a_cloned_node_was_captured_where_its_original_was) {
  GraphNodes nodes;
  nodes.add(1, {10, 20, 1});
  nodes.copy(2, 1);
  nodes.copy(3, 99);
  CHECK_EQ(nodes.find(2)->shadow, 10);
  CHECK_EQ(nodes.find(2)->python, 20);
  CHECK(nodes.find(3) == nullptr);
}

TEST(a_removed_node_is_still_known_to_records_that_come_late) {
  GraphNodes nodes;
  nodes.add(1, {10, 20, 1});
  nodes.remove(1);
  CHECK(nodes.find(1) != nullptr);
  CHECK_EQ(nodes.size(), 0);
  nodes.add(1, {11, 21, 1});
  CHECK_EQ(nodes.find(1)->shadow, 11);
  CHECK_EQ(nodes.size(), 1);
}

TEST(graphs_that_come_and_go_do_not_pile_up) {
  GraphNodes nodes;
  nodes.add(1, {10, 20, 1});
  for (uint64_t node = 2; node < 1'000'000; ++node) {
    nodes.add(node, {1, 1, 1});
    nodes.remove(node);
  }
  CHECK_EQ(nodes.size(), 1);
  CHECK_EQ(nodes.find(1)->shadow, 10);
  CHECK(nodes.find(5) == nullptr);
  CHECK(nodes.find(999'999) != nullptr);
}

TEST(nodes_are_found_in_any_order) {
  GraphNodes nodes;
  for (uint32_t node = 1; node <= 100; ++node) nodes.add(node, {node, node, 1});
  for (const uint64_t step : {1, 3, 7, 99}) {
    for (uint64_t i = 0, node = 1; i < 300; ++i, node = (node + step - 1) % 100 + 1) {
      CHECK_EQ(nodes.find(node)->shadow, node);
    }
  }
  CHECK(nodes.find(101) == nullptr);
}

TEST(clocks_that_agree_are_left_alone) {
  ClockMap clock;
  clock.start({1'000'000, 1'000'040});
  CHECK_EQ(clock.to_host(5'000'000), 5'000'000);
}

TEST(an_offset_is_added_and_a_drift_is_learnt) {
  ClockMap clock;
  clock.start({0, 1'000'000'000});
  CHECK_EQ(clock.to_host(500), 1'000'000'500);
  clock.update({1'000'000'000, 2'000'100'000});  // a hundred microseconds a second
  CHECK_EQ(clock.residual_ns(), 100'000);
  CHECK_EQ(clock.to_host(500'000'000), 1'500'050'000);
  clock.update({2'000'000'000, 3'000'200'000});
  CHECK_EQ(clock.residual_ns(), 100'000);
}

TEST(buffers_are_ready_before_they_are_needed_unless_they_are_huge) {
  BufferPool pool;
  pool.prepare();
  pool.prepare();
  CHECK_EQ(pool.count(), 2);
  pool.set_size(kLargestBufferBytes);
  pool.prepare();
  CHECK_EQ(pool.count(), 0);
}

TEST(a_pool_gives_out_again_what_came_back) {
  BufferPool pool;
  size_t bytes = 0;
  uint8_t* first = pool.take(bytes);
  CHECK_EQ(bytes, kDefaultBufferBytes);
  first[0] = first[99] = 7;
  pool.give_back(first, bytes, 100);
  CHECK(pool.take(bytes) == first);
  CHECK_EQ(first[0] + first[99], 0);
  pool.set_size(1 << 20);
  pool.give_back(first, kDefaultBufferBytes, 0);
  CHECK_EQ(pool.count(), 0);
}
