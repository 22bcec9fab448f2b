// Clocks that differ: CUPTI's counts from 1970 and drifts, kernels must lie on the host's. The
// timestamp callback, by which CUPTI would stamp records with the host's clock, is asked for once a
// process: first it is refused here, and a later session gets it.
#include <thread>

#include "check.h"
#include "gpu.h"

namespace {

/// How far from the launch the kernel of a new session seems to be, and its length.
void check_alignment(int64_t tolerance_ns) {
  gpu::SinkOptions options;
  options.with_launches = true;
  gpu::Recording recording(options, proton::DataKind::kTrace);
  void* const stream = FAKE(fake_stream_create)();  // one that is free, by whatever clock
  int64_t before = 0;
  int64_t after = 0;
  for (int i = 0; i < 5; ++i) {
    before = proton::now_ns();
    gpu::launch("k", 1'000'000, stream);
    after = proton::now_ns();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    recording.flush();  // every flush compares the clocks anew
  }
  const std::lock_guard gil(host::gil());
  const proton::TraceLog log = proton::build_trace(recording.session(), 0, {});
  int64_t last_start_ns = 0;
  int found = 0;
  for (const proton::TraceSpan& span : log.spans) {
    if (span.kind != proton::SpanKind::kKernel) continue;
    ++found;
    last_start_ns = std::max(last_start_ns, span.start_ns);
    const int64_t length_ns = span.end_ns - span.start_ns;
    CHECK(length_ns > 990'000 && length_ns < 1'010'000);
  }
  CHECK_EQ(found, 5);
  CHECK(last_start_ns >= before - tolerance_ns);
  CHECK(last_start_ns <= after + tolerance_ns);
}

}  // namespace

TEST(a_clock_that_counts_otherwise_is_aligned) {
  gpu::begin();
  FAKE(fake_set_failure)("cuptiActivityRegisterTimestampCallback", 11, 0, -1);
  gpu::set("clock_offset_ns", 123'456'789'000);
  check_alignment(200'000);
}

TEST(a_clock_that_drifts_is_aligned) {
  gpu::begin();
  FAKE(fake_set_failure)("cuptiActivityRegisterTimestampCallback", 11, 0, -1);
  gpu::set("clock_drift_ppb", 1'000'000);  // a millisecond a second
  check_alignment(200'000);
}

TEST(with_the_timestamp_callback_records_are_on_the_hosts_clock) {
  gpu::begin();
  gpu::set("clock_offset_ns", 123'456'789'000);
  check_alignment(200'000);
  CHECK_EQ(gpu::counter("cuptiActivityRegisterTimestampCallback"), 1);
  check_alignment(200'000);
  CHECK_EQ(gpu::counter("cuptiActivityRegisterTimestampCallback"), 1);
}
