// From numbers to contexts: rings that come round, grow, and outlive their threads.
#include "check.h"
#include "frameworks/torch/forward_ring.h"

using proton::ForwardRing;
using proton::ForwardRings;
using proton::kNoContext;

namespace {

/// Numbers from `first` on, each with the context `number % 1000`.
void put_numbers(ForwardRing& ring, uint64_t first, uint64_t count) {
  for (uint64_t number = first; number < first + count; ++number) {
    ring.put(number, static_cast<proton::ContextId>(number % 1000));
  }
}

/// How many of the numbers are found; those that are have the right context. From the newest one
/// down, as the autograd engine goes.
uint64_t count_found(ForwardRing& ring, uint64_t first, uint64_t count) {
  uint64_t found = 0;
  for (uint64_t number = first + count; number-- > first;) {
    const ForwardRing::Place place = ring.find(number);
    ring.look_at(number, place.context != kNoContext);
    if (place.context == kNoContext) continue;
    ++found;
    if (place.context != number % 1000) check::fail(__FILE__, __LINE__, "a wrong context");
  }
  return found;
}

}  // namespace

TEST(a_ring_begins_at_any_number_and_small) {
  ForwardRing ring(1);
  CHECK_EQ(ring.find(0).context, kNoContext);
  put_numbers(ring, 5'000'000'000, 64);
  CHECK_EQ(ring.size(), 64);
  CHECK_EQ(count_found(ring, 5'000'000'000, 64), 64);
  CHECK_EQ(ring.find(4'999'999'999).context, kNoContext);
  CHECK_EQ(ring.find(5'000'000'064).context, kNoContext);
}

TEST(a_ring_keeps_the_last_65536_numbers_at_least) {
  ForwardRing ring(1);
  for (uint64_t first = 0; first < 65'536; first += 64) {
    put_numbers(ring, first, 64);
    CHECK_EQ(count_found(ring, first, 64), 64);
  }
  CHECK_EQ(count_found(ring, 0, 65'536), 65'536);
  CHECK_EQ(ring.size(), 65'536);
}

TEST(a_ring_does_not_grow_over_a_million_nodes_of_passes_that_fit) {
  ForwardRing ring(1);
  for (uint64_t step = 0; step < 100; ++step) {
    put_numbers(ring, step * 10'000, 10'000);
    CHECK_EQ(count_found(ring, step * 10'000, 10'000), 10'000);
  }
  CHECK_EQ(ring.size(), 65'536);
}

TEST(a_ring_grows_for_a_graph_of_a_million_nodes_and_finds_all_at_once) {
  ForwardRing ring(1);
  for (uint64_t step = 0; step < 3; ++step) {
    put_numbers(ring, step * 1'000'000, 1'000'000);
    CHECK_EQ(count_found(ring, step * 1'000'000, 1'000'000), 1'000'000);
  }
  CHECK_EQ(ring.size(), 1u << 20);
}

TEST(a_graph_that_becomes_longer_in_a_later_step_is_found) {
  ForwardRing ring(1);
  put_numbers(ring, 0, 30'000);
  CHECK_EQ(count_found(ring, 0, 30'000), 30'000);
  put_numbers(ring, 30'000, 120'000);
  CHECK_EQ(count_found(ring, 30'000, 120'000), 120'000);
}

TEST(a_ring_grows_after_a_number_was_asked_for_that_it_had_written_over) {
  ForwardRing ring(1);
  uint64_t number = 0;
  const auto run_steps = [&] {  // short passes, while a graph of before them waits
    for (int step = 0; step < 100; ++step, number += 1000) {
      put_numbers(ring, number, 1000);
      count_found(ring, number, 1000);
    }
  };
  run_steps();
  const uint64_t old = number;
  run_steps();
  CHECK_EQ(count_found(ring, old, 1), 0);
  run_steps();
  const uint64_t next = number;
  run_steps();
  CHECK_EQ(count_found(ring, next, 1), 1);
}

TEST(a_ring_ends_growing_at_four_million_and_says_what_it_does_not_know) {
  ForwardRing ring(1);
  constexpr uint64_t kCount = 5'000'000;
  put_numbers(ring, 0, kCount);
  CHECK_EQ(ring.size(), ForwardRing::kLargestSize);
  CHECK_EQ(count_found(ring, 0, kCount), ForwardRing::kLargestSize);
}

TEST(guesses_are_marked_and_give_way) {
  ForwardRing ring(1);
  ring.put(7, 70, true);
  CHECK(ring.find(7).is_guess);
  ring.put(7, 71);
  CHECK(!ring.find(7).is_guess);
  CHECK_EQ(ring.find(7).context, 71);
}

TEST(rings_of_ended_threads_stay_within_limits) {
  ForwardRings rings;
  for (uint64_t thread = 1; thread <= 5000; ++thread) {
    rings.add(thread, 1)->put(3, 30);
    rings.end(thread);
  }
  CHECK(rings.find(1) == nullptr);
  CHECK(rings.find(904) == nullptr);
  CHECK(rings.find(905) != nullptr);
  CHECK_EQ(rings.find(5000)->find(3).context, 30);
  for (uint64_t thread = 6000; thread < 6200; ++thread) {
    put_numbers(*rings.add(thread, 1), 0, 65'536);
    rings.end(thread);
  }
  CHECK(rings.find(5000) == nullptr);
  CHECK(rings.find(6071) == nullptr);
  CHECK(rings.find(6199) != nullptr);
  rings.clear();
  CHECK(rings.find(6199) == nullptr);
}
