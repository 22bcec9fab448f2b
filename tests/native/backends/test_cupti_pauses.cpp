// Sessions that pause: what was launched before a pause comes back after it, however late, and
// nothing of it goes to a later session.
#include <algorithm>

#include "check.h"
#include "gpu.h"

using proton::DataKind;
using proton::SpanKind;

namespace {

gpu::SinkOptions timeline() {
  gpu::SinkOptions options;
  options.with_launches = true;
  return options;
}

/// How many spans of a kind the session's timeline has.
int64_t count_spans(gpu::Recording& recording, SpanKind kind) {
  recording.flush();
  const std::lock_guard gil(host::gil());
  const proton::TraceLog log = recording.session().snapshot_trace(0, {});
  return std::count_if(log.spans.begin(), log.spans.end(),
                       [&](const proton::TraceSpan& span) { return span.kind == kind; });
}

}  // namespace

TEST(the_calls_of_a_timeline_survive_a_pause_before_the_end) {
  gpu::begin();
  gpu::Recording recording(timeline(), DataKind::kTrace);
  for (int i = 0; i < 5; ++i) gpu::launch("k");
  recording.set_active(false);
  CHECK_EQ(count_spans(recording, SpanKind::kKernel), 5);
  CHECK_EQ(count_spans(recording, SpanKind::kLaunch), 5);
}

TEST(calls_that_nobody_fetched_do_not_reach_the_next_session) {
  gpu::begin();
  {
    gpu::Recording recording(timeline(), DataKind::kTrace);
    for (int i = 0; i < 5; ++i) gpu::launch("old");
    recording.set_active(false);
  }
  gpu::hub().detach();  // ids begin anew
  gpu::Recording recording(timeline(), DataKind::kTrace);
  for (int i = 0; i < 3; ++i) gpu::launch("new");
  CHECK_EQ(count_spans(recording, SpanKind::kLaunch), 3);
  CHECK_EQ(count_spans(recording, SpanKind::kKernel), 3);
}

TEST(calls_go_to_the_timelines_that_were_active_then) {
  gpu::begin();
  gpu::Recording first(timeline(), DataKind::kTrace);
  gpu::launch("one");
  gpu::Recording second(timeline(), DataKind::kTrace);
  gpu::launch("both");
  first.set_active(false);
  gpu::launch("two");
  gpu::launch("two");
  second.set_active(false);
  CHECK_EQ(count_spans(first, SpanKind::kLaunch), 2);
  CHECK_EQ(count_spans(second, SpanKind::kLaunch), 3);
}
