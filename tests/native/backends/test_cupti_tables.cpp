// The hub's tables: clocks, buffers, the ring of metric values.
#include "backends/cupti/driver/activities.h"
#include "backends/cupti/driver/buffers.h"
#include "backends/cupti/value_readers.h"
#include "check.h"

using namespace proton;
using namespace proton::cupti;

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

TEST(a_buffer_of_somebody_else_is_left_alone) {
  BufferPool pool;
  uint8_t theirs[64] = {7};
  pool.give_back(theirs, sizeof(theirs), sizeof(theirs));
  CHECK_EQ(theirs[0], 7);
  CHECK_EQ(pool.count(), 0);
}

TEST(a_ring_gives_whole_runs_in_order_and_counts_those_without_room) {
  ValueRing ring(4);
  auto* header = static_cast<RingHeader*>(ring.memory());
  auto* cells = reinterpret_cast<RingCell*>(header + 1);
  const auto write = [&](uint64_t at, uint32_t count, uint64_t value) {
    cells[at % 16] = {(at / 16 + 1) << 32 | count, value};
  };
  std::vector<ValueRun> runs;
  write(0, 2, 7);  // the run's number, then two elements
  write(1, 0, 100);
  ring.drain(runs);
  CHECK(runs.empty());  // it is under way
  write(2, 0, 101);
  write(3, 1, 8);
  write(4, 0, 200);
  ring.drain(runs);
  CHECK_EQ(runs.size(), 2u);
  CHECK_EQ(runs[0].id, 7u);
  CHECK(runs[0].elements == std::vector<uint64_t>({100, 101}));
  CHECK_EQ(runs[1].elements[0], 200u);
  CHECK_EQ(header->consumed, 5u);
  for (uint64_t at = 5; at < 17; ++at) write(at, at == 5 ? 11 : 0, at);  // around its end
  ring.drain(runs);
  CHECK_EQ(runs.size(), 3u);
  CHECK_EQ(runs[2].elements.back(), 16u);
  header->dropped = 3;
  CHECK_EQ(ring.take_dropped(), 3u);
  CHECK_EQ(ring.take_dropped(), 0u);
  ring.set_open(true);
  CHECK_EQ(header->is_open, 1u);
}
