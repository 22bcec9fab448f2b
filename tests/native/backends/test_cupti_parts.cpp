// Parts of the hub alone: contexts and the launch recorder on a driver of a few lambdas, the
// sampler's schedule, executables that CUPTI may trace.
#include "backends/cupti/driver/contexts.h"
#include "backends/cupti/graph_table.h"
#include "backends/cupti/launch_recorder.h"
#include "backends/cupti/sampling/sampler.h"
#include "check.h"

using namespace proton::cupti;

namespace {

int known_devices = 0;
Context synchronized = nullptr;
int synchronize_result = 0;  // of cuCtxSynchronize

/// Two devices, of which the second has an active primary context.
Library small_driver() {
  Library library;
  library.device_count = [](int* count) {
    *count = known_devices;
    return 0;
  };
  library.device = [](int* device, int index) {
    *device = index;
    return 0;
  };
  library.primary_context_state = [](int device, unsigned*, int* is_active) {
    *is_active = device == 1;
    return 0;
  };
  library.retain_primary_context = [](Context* context, int) {
    *context = reinterpret_cast<Context>(0x100);
    return 0;
  };
  library.release_primary_context = [](int) { return 0; };
  library.exchange_capture_mode = [](int*) { return 0; };
  library.current_context = [](Context* context) {
    *context = nullptr;
    return 0;
  };
  library.set_context = [](Context context) {
    if (context != nullptr) synchronized = context;
    return 0;
  };
  library.synchronize_context = [] { return synchronize_result; };
  library.error_string = [](proton::CudaResult, const char** text) {
    *text = "refused";
    return 0;
  };
  return library;
}

Context context_at(uintptr_t address) { return reinterpret_cast<Context>(address); }

void call_launch(LaunchRecorder& recorder, int site, uint32_t correlation,
                 proton::CudaResult result = 0) {
  CallbackData data{};
  data.site = site;
  data.return_value = &result;
  data.correlation_id = correlation;
  recorder.on_launch(kLaunchKernel, data);
}

/// A recorder whose launches have the context 44, while CUPTI records kernels.
struct RecorderAlone {
  Library library = small_driver();
  ContextList contexts{library};
  proton::LaunchCells cells;
  proton::LaunchTable table{cells};
  proton::SinkTable sinks{table};
  Sampler sampler{library, contexts, sinks};
  LaunchRecorder recorder{contexts, sampler};

  RecorderAlone() {
    proton::ContextSource source{};
    source.shadow = []() noexcept -> proton::ContextId { return 44; };
    recorder.set_source(source);
    recorder.table().open(false);
    recorder.table().begin_generation();
    recorder.set_captures(proton::kNeedsShadow | LaunchRecorder::kRecorded);
  }
};

}  // namespace

TEST(contexts_that_came_or_were_used_are_known_until_they_go) {
  const Library library = small_driver();
  known_devices = 0;
  ContextList contexts(library);
  CHECK(!contexts.has_any());
  contexts.add(context_at(0x10));
  contexts.note(context_at(0x20));
  contexts.note(context_at(0x20));
  contexts.note(nullptr);
  CHECK_EQ(contexts.all().size(), 2u);
  contexts.remove(context_at(0x10));
  CHECK_EQ(contexts.all().size(), 1u);
  contexts.clear();
  CHECK(contexts.all().empty());
  known_devices = 2;
  CHECK(contexts.has_any());
  CHECK_EQ(contexts.all().size(), 1u);
}

TEST(a_context_that_cannot_be_waited_for_is_a_problem_and_one_that_is_gone_is_none) {
  const Library library = small_driver();
  known_devices = 0;
  ContextList contexts(library);
  contexts.add(context_at(0x10));
  for (const int result : {0, 201, 709, 700}) {
    synchronize_result = result;
    proton::FlushProgress progress;
    contexts.wait_for_gpu(progress);
    progress.finish();
    std::vector<std::string> problems;
    std::string waits_for;
    CHECK(progress.wait(0, problems, waits_for));
    CHECK_EQ(waits_for, "a CUDA context to finish its work");
    CHECK_EQ(problems.size(), result == 700 ? 1u : 0u);
  }
  synchronize_result = 0;
  CHECK(synchronized == context_at(0x10));
}

TEST(a_launch_is_noted_with_its_context_and_needs_a_record_unless_it_failed) {
  RecorderAlone alone;
  auto& table = alone.recorder.table();
  call_launch(alone.recorder, kEnterSite, 101);
  CHECK_EQ(launch_cells().under_way().size(), 1u);
  call_launch(alone.recorder, kExitSite, 101);
  CHECK(launch_cells().under_way().empty());
  CHECK_EQ(newest_correlation(), 101u);
  CHECK(table.map(false)->is_expected(101, table.generation()));
  call_launch(alone.recorder, kEnterSite, 102);
  call_launch(alone.recorder, kExitSite, 102, 1);
  CHECK(!table.map(false)->is_expected(102, table.generation()));
  CHECK_EQ(table.context_of(false, 101), 44u);
}

TEST(launches_are_only_numbered_once_nobody_notes_them) {
  RecorderAlone alone;
  alone.recorder.stop_noting();
  call_launch(alone.recorder, kEnterSite, 201);
  call_launch(alone.recorder, kExitSite, 201);
  CHECK_EQ(newest_correlation(), 201u);
  CHECK_EQ(alone.recorder.table().context_of(false, 201), proton::kUnknownContext);
  alone.recorder.set_captures(0);
  call_launch(alone.recorder, kEnterSite, 202);
  CHECK_EQ(newest_correlation(), 201u);
}

TEST(the_sampler_reads_in_steps_and_tries_again_after_longer_and_longer) {
  SamplingSchedule schedule;
  const SamplingOptions always{.drain_ns = 100};
  schedule.begin(1000, always);
  CHECK_EQ(schedule.next_ns(), 1100);
  schedule.retry(2000);
  const int64_t first = schedule.next_ns() - 2000;
  schedule.retry(2000);
  CHECK_EQ(schedule.next_ns() - 2000, 2 * first);
  schedule.go_on(3000, always, true);
  schedule.retry(3000);
  CHECK_EQ(schedule.next_ns() - 3000, first);
}

TEST(a_window_ends_in_time_and_the_next_one_begins_with_a_whole_period) {
  SamplingSchedule schedule;
  const SamplingOptions windows{.drain_ns = 1000, .window_ns = 20, .every_ns = 50};
  schedule.begin(100, windows);
  CHECK_EQ(schedule.next_ns(), 120);
  CHECK(!schedule.is_window_over(119));
  CHECK(schedule.is_window_over(120));
  schedule.go_on(310, windows, false);  // late
  CHECK_EQ(schedule.next_ns(), 350);
}

TEST(only_executables_made_while_graphs_are_traced_may_be_launched_then) {
  GraphExecs execs;
  int older = 0, newer = 0;
  CHECK(execs.allows(&older));
  execs.set_traced(true);
  execs.add(&newer);
  CHECK(execs.allows(&newer));
  CHECK(!execs.allows(&older));
  execs.remove(&newer);
  CHECK(!execs.allows(&newer));
  execs.set_traced(false);
  CHECK(execs.allows(&older));
}

TEST(idle_launches_are_those_that_became_nodes_but_not_clones) {
  IdleLaunches idle;
  int node = 0, clone = 0;
  idle.add(1, &node);
  idle.add(1, &node);  // the same launch
  CHECK_EQ(idle.count(), 1u);
  idle.add(2, &clone);
  idle.take_back(&clone);
  CHECK_EQ(idle.count(), 1u);
  idle.begin_graph(3);
  idle.add(3, &node);  // made before the graph
  CHECK_EQ(idle.count(), 1u);
}
