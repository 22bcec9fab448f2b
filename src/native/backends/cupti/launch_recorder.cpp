#include "backends/cupti/launch_recorder.h"

#include <array>

#include "base/clock.h"

namespace proton::cupti {

namespace {

/// Launches must not run beside a switch of sampling; copies may.
constexpr auto kIsLaunch = [] {
  std::array<bool, 1024> is_launch{};
  for (const uint32_t cbid : kLaunchCallbacks) is_launch[cbid] = true;
  return is_launch;
}();

/// Calls that run one kernel at least. What a graph runs is not known here.
constexpr auto kRunsKernel = [] {
  std::array<bool, 1024> runs_kernel = kIsLaunch;
  runs_kernel[kGraphLaunch] = runs_kernel[kGraphLaunchPerThread] = false;
  return runs_kernel;
}();

}  // namespace

// Two functions, because the common way out needs no registers saved.
void LaunchRecorder::on_launch(uint32_t cbid, const CallbackData& data) noexcept {
  const uint32_t captures = captures_.load(std::memory_order_relaxed);
  if (captures == 0) return;
  if (data.site == kEnterSite) [[likely]] {
    return enter(cbid, data, captures);
  }
  ThreadCell* cell = this_cell;
  if (cell == nullptr) return;
  cell->under_way.store(0, std::memory_order_release);
  const bool has_failed = *static_cast<const CudaResult*>(data.return_value) != 0;
  if (has_failed || (captures & (kNeedsCalls | kNeedsSamples)) != 0) {
    leave(data, captures, has_failed);
  }
}

void LaunchRecorder::enter(uint32_t cbid, const CallbackData& data, uint32_t captures) noexcept {
  const uint32_t correlation = data.correlation_id;
  const uint32_t generation = captures >> kGenerationShift;
  // Without a branch, which costs as much as all the rest.
  const bool is_expected = (captures / kRecorded & kRunsKernel[cbid % kRunsKernel.size()]) != 0;
  const uint64_t tag = CorrelationMap::tag(generation, is_expected);
  ThreadCell* cell = find_cell();
  if (cell == nullptr) return;
  table_.put(*cell, correlation, captures, tag, source_);
  if ((captures & ~captures_.load(std::memory_order_relaxed) & kRecorded) != 0) [[unlikely]] {
    table_.mark_optional(correlation, captures);  // switched off before we were seen to launch
  }
  sweeper_.on_launch(correlation);
  LaunchTable::count(*cell, correlation, generation);
  if (cell->context != data.context) [[unlikely]] {
    cell->context = data.context;
    contexts_.note(data.context);
  }
  if ((captures & kNeedsSamples) != 0 && kIsLaunch[cbid % kIsLaunch.size()]) {
    if (cell->sampled_context.load(std::memory_order_relaxed) != data.context) [[unlikely]] {
      cell->sampled_context.store(data.context, std::memory_order_relaxed);
      sampler_.on_context_used(data.context);
    }
    sampler_.gate().enter(*cell);  // last: who waits here has booked its launch
  }
  if ((captures & kNeedsCalls) != 0) cell->start_ns = now_ns();
}

void LaunchRecorder::leave(const CallbackData& data, uint32_t captures, bool has_failed) noexcept {
  ThreadCell* cell = this_cell;
  if (has_failed) table_.mark_read(data.correlation_id);
  if ((captures & kNeedsSamples) != 0) SamplingGate::leave(*cell);
  if ((captures & kNeedsCalls) == 0 || cell->start_ns == 0) return;
  if (cell->own_value != 0) {  // a launch of ours is nobody's
    cell->start_ns = 0;
    return;
  }
  try {
    std::lock_guard lock(cell->mutex);
    cell->calls.push_back({data.correlation_id, kUnknownContext, source_.thread_number(),
                           data.function_name == nullptr ? "launch" : data.function_name,
                           cell->start_ns, now_ns()});
  } catch (...) {  // out of memory: the kernel is still booked, only its call is not shown
  }
  cell->start_ns = 0;
}

}  // namespace proton::cupti
