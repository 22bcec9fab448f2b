// Launches of both kinds of contexts, their generations, and the cells of launching threads.
#include "backends/common/launch_table.h"

#include <thread>

#include "check.h"
#include "sinks.h"

using neutral::Tables;
using proton::ContextId;
using proton::LaunchCell;
using proton::LaunchCells;
using proton::LaunchTable;

TEST(a_launch_is_found_by_its_id_in_the_map_of_its_kind) {
  Tables tables;
  tables.launch(7, 44);
  ContextId context = 0;
  CHECK(tables.launches.find(false, 7, context) == LaunchTable::Launch::kSeen);
  CHECK_EQ(context, 44u);
  CHECK(tables.launches.find(true, 7, context) == LaunchTable::Launch::kUnseen);
  CHECK_EQ(context, proton::kUnknownContext);
  CHECK(tables.launches.find(false, 8, context) == LaunchTable::Launch::kUnseen);
}

TEST(a_launch_of_an_earlier_generation_is_told_apart) {
  Tables tables;
  tables.launch(7, 44);
  tables.launches.begin_generation();
  ContextId context = 0;
  CHECK(tables.launches.find(false, 7, context) == LaunchTable::Launch::kEarlier);
  CHECK_EQ(context, proton::kUnknownContext);
  CHECK_EQ(tables.launches.context_of(false, 7), 44u);
  CHECK_EQ(tables.cells.newest(), 0u);
}

TEST(a_launch_is_unread_until_it_is_found_or_marked) {
  Tables tables;
  tables.launch(1, 44);
  tables.launch(2, 44);
  CHECK(tables.launches.has_unread(0, 2, false));
  CHECK(!tables.launches.has_unread(0, 2, true));
  tables.launches.context_of(false, 1);
  tables.launches.mark_read(2);
  CHECK(!tables.launches.has_unread(0, 2, false));
}

TEST(launches_under_way_need_no_record_when_the_driver_stops_recording) {
  Tables tables;
  tables.launch(1, 44);
  tables.launch(2, 44);
  tables.cell.under_way.store(2);
  tables.launches.mark_under_way_optional();
  auto& map = *tables.launches.map(false);
  CHECK(map.is_expected(1, tables.launches.generation()));
  CHECK(!map.is_expected(2, tables.launches.generation()));
}

TEST(cells_tell_the_newest_and_the_oldest_launch_of_all_threads) {
  LaunchCells cells;
  LaunchCell first, second;
  cells.add(first);
  cells.add(second);
  CHECK_EQ(cells.newest(), 0u);
  first.last_correlation.store(UINT32_MAX - 1);
  second.last_correlation.store(3);  // ids have wrapped around
  CHECK_EQ(cells.newest(), 3u);
  first.generation.store(1);
  first.first_correlation.store(5);
  second.generation.store(2);
  second.first_correlation.store(2);
  CHECK_EQ(cells.oldest(1), 5u);
  CHECK_EQ(cells.oldest(3), 0u);
  cells.forget_old(3, 100);
  CHECK_EQ(first.last_correlation.load(), UINT32_MAX - 1);
  cells.forget_old(3, 4);
  CHECK_EQ(first.last_correlation.load(), 0u);
}

TEST(the_cell_of_an_ended_thread_is_used_again) {
  LaunchCells cells;
  LaunchCell cell;
  cells.add(cell);
  CHECK(cells.reuse() == nullptr);
  cell.launch_count.store(3);
  cell.under_way.store(9);
  cell.is_used.store(false);
  CHECK(cells.reuse() == &cell);
  CHECK_EQ(cell.launches_before, 3u);
  CHECK(cells.under_way().empty());
  CHECK_EQ(cells.count(), 3u);
}

TEST(cells_are_added_by_many_threads_at_once) {
  constexpr int kThreads = 4, kEach = 50;
  static LaunchCells cells;
  static LaunchCell all[kThreads * kEach];
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kEach; ++i) {
        LaunchCell& cell = all[t * kEach + i];
        cell.launch_count.store(1);
        cells.add(cell);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(cells.count(), static_cast<uint64_t>(kThreads * kEach));
}
