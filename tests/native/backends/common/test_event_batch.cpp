// Events from a batch to the sinks that were active at their launch, and what sinks have lost.
#include "backends/common/event_batch.h"

#include "backends/common/unrecorded_launches.h"
#include "check.h"
#include "model/losses.h"
#include "sinks.h"

using neutral::KeepingSink;
using neutral::Tables;
using proton::EventBatch;
using proton::EventContexts;
using proton::KernelEvent;

namespace {

/// Counts how often it is asked.
class CountingAnnotator final : public proton::EventAnnotator {
 public:
  void annotate(std::span<KernelEvent> events, std::span<EventContexts> contexts) override {
    ++calls;
    is_even = events.size() == contexts.size();
  }
  int calls = 0;
  bool is_even = true;
};

void push(EventBatch& batch, uint32_t correlation,
          proton::EventKind kind = proton::EventKind::kKernel) {
  KernelEvent& event = batch.next();
  event = {};
  event.correlation = correlation;
  event.kind = kind;
  batch.push(true);
}

}  // namespace

TEST(an_event_reaches_the_sinks_that_were_active_at_its_launch) {
  Tables tables;
  CountingAnnotator annotator;
  EventBatch batch(tables.launches, tables.sinks, annotator);
  KeepingSink first, second;
  tables.start(first);
  tables.launch(1, 44);
  tables.start(second);
  tables.launch(2, 45);
  tables.sinks.pause(first, false);
  tables.launch(3, 46);
  const auto lock = tables.sinks.lock();
  for (const uint32_t id : {1, 2, 3}) push(batch, id);
  batch.send();
  CHECK_EQ(first.events.size(), 2u);
  CHECK_EQ(first.events[1].context, 45u);
  CHECK_EQ(second.events.size(), 2u);
  CHECK_EQ(second.events[1].context, 46u);
  CHECK_EQ(annotator.calls, 1);
  CHECK(annotator.is_even);
  CHECK_EQ(batch.counts().kernels, 3u);
}

TEST(a_batch_is_sent_when_it_is_full) {
  Tables tables;
  CountingAnnotator annotator;
  EventBatch batch(tables.launches, tables.sinks, annotator);
  KeepingSink sink;
  tables.start(sink);
  const auto lock = tables.sinks.lock();
  for (uint32_t id = 1; id <= EventBatch::kSize + 1; ++id) {
    tables.launch(id, 44);
    push(batch, id);
  }
  CHECK_EQ(sink.events.size(), EventBatch::kSize);
  batch.clear();
  batch.send();
  CHECK_EQ(sink.events.size(), EventBatch::kSize);
}

TEST(a_sink_gets_the_kinds_that_it_asked_for) {
  Tables tables;
  CountingAnnotator annotator;
  EventBatch batch(tables.launches, tables.sinks, annotator);
  KeepingSink kernels, copies;
  tables.start(kernels, proton::kNeedsShadow);
  tables.start(copies);
  CHECK_EQ(tables.sinks.active_needs(), proton::kNeedsShadow | proton::kNeedsCopies);
  CHECK(tables.sinks.has_other(kernels, proton::kNeedsCopies));
  CHECK(!tables.sinks.has_other(copies, proton::kNeedsCopies));
  tables.launch(1, 44);
  const auto lock = tables.sinks.lock();
  push(batch, 1, proton::EventKind::kCopy);
  push(batch, 1);
  batch.send();
  CHECK_EQ(kernels.events.size(), 1u);
  CHECK_EQ(copies.events.size(), 2u);
}

TEST(launching_calls_go_to_sinks_with_a_timeline) {
  Tables tables;
  CountingAnnotator annotator;
  EventBatch batch(tables.launches, tables.sinks, annotator);
  KeepingSink tree, timeline;
  tables.start(tree);
  tables.start(timeline, proton::kNeedsShadow | proton::kNeedsCalls);
  tables.launch(1, 44);
  tables.cell.calls.push_back({1, proton::kUnknownContext, 0, "launch", 10, 20});
  const auto lock = tables.sinks.lock();
  tables.sinks.note_launch(1);
  batch.send_calls();
  CHECK(tree.calls.empty());
  CHECK_EQ(timeline.calls.size(), 1u);
  CHECK_EQ(timeline.calls[0].context, 44u);
}

TEST(dropped_records_are_told_to_those_that_may_miss_them) {
  Tables tables;
  KeepingSink active, paused;
  tables.start(active);
  tables.start(paused);
  tables.sinks.pause(paused, false);
  {
    const auto lock = tables.sinks.lock();
    tables.sinks.count_dropped(3);
    tables.sinks.count_dropped(2);
  }
  CHECK_EQ(active.dropped, 5u);
  CHECK_EQ(paused.dropped, 3u);
}

TEST(a_launch_without_a_record_is_lost_once_and_not_twice_where_records_were_dropped) {
  Tables tables;
  KeepingSink sink;
  tables.start(sink);
  for (const uint32_t id : {1, 2, 3}) tables.launch(id, 44);
  tables.launch(4, 44, false);  // a graph may run nothing
  tables.launches.mark_read(1);
  {
    const auto lock = tables.sinks.lock();
    tables.sinks.count_dropped(1);
  }
  const auto moment = note_moment(tables.cells);
  auto unrecorded = find_unrecorded(tables.launches, tables.sinks, moment);
  CHECK_EQ(unrecorded.ids[0].size(), 2u);
  count_unrecorded(tables.launches, tables.sinks, unrecorded, moment);
  CHECK_EQ(sink.losses[proton::losses::kUnrecorded], 1u);
  CHECK(find_unrecorded(tables.launches, tables.sinks, moment).is_empty());
}

TEST(a_launch_whose_call_has_not_returned_is_not_lost) {
  Tables tables;
  KeepingSink sink;
  tables.start(sink);
  tables.launch(1, 44);
  tables.cell.under_way.store(1);
  const auto moment = note_moment(tables.cells);
  CHECK(find_unrecorded(tables.launches, tables.sinks, moment).is_empty());
}
