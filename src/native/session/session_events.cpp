// The device path of a session: kernels, copies, launches and losses, from any thread.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/text.h"
#include "model/losses.h"
#include "session/scopes/process.h"
#include "session/session.h"

namespace proton {
namespace {

uint64_t kernel_key(uint32_t number, uint32_t device, EventKind kind) {
  return (uint64_t{number} << 32 | uint64_t{device} << 8 | static_cast<uint8_t>(kind)) + 1;
}

/// Word by word: what the library offers calls memcmp for each part.
bool is_same(const LaunchShape& shape, const LaunchShape& other) {
  constexpr size_t kWords = sizeof(LaunchShape) / sizeof(uint64_t);
  static_assert(sizeof(LaunchShape) == kWords * sizeof(uint64_t) + sizeof(uint32_t));
  uint64_t words[kWords], others[kWords];
  std::memcpy(words, &shape, sizeof(words));
  std::memcpy(others, &other, sizeof(others));
  uint64_t difference = static_cast<uint32_t>(shape.dynamic_shared_bytes) ^
                        static_cast<uint32_t>(other.dynamic_shared_bytes);
  for (size_t i = 0; i < kWords; ++i) difference |= words[i] ^ others[i];
  return difference == 0;
}

}  // namespace

void KernelRow::compare(const LaunchShape& other) {
  is_one_grid &= shape.grid == other.grid;
  is_one_block &= shape.block == other.block;
  is_one_binary &=
      shape.registers == other.registers && shape.static_shared_bytes == other.static_shared_bytes;
  is_one_dynamic_shared &= shape.dynamic_shared_bytes == other.dynamic_shared_bytes;
}

void KernelRow::add(const KernelEvent& event, int64_t duration_ns) {
  if (count == 0) {
    min_ns = max_ns = duration_ns;
    lane = event.lane;
    shape = event.shape;
  } else {
    if (!spread.has_value()) spread.emplace().add(min_ns);
    spread->add(duration_ns);
    min_ns = std::min(min_ns, duration_ns);
    max_ns = std::max(max_ns, duration_ns);
    is_one_lane &= lane == event.lane;
    if (!is_same(shape, event.shape)) compare(event.shape);
  }
  count += 1;
  time_ns += duration_ns;
  bytes += event.bytes;
}

// What follows runs for every kernel; what it calls in rare cases stands further down.

PathId Session::path_of_context(ContextId context) {
  return context >= kUnknownContext ? kRootPath : process.contexts.path(context);
}

inline PlaceId Session::place_of(const KernelEvent& event) {
  if (event.context >= kUnknownContext) count_loss_locked(losses::kUnknownLaunch, 1);
  const PathId path = path_of_context(event.context);
  if (event.capture == kNoContext) return path;
  if (event.capture == kUnknownContext) return unseen_place(path, event.graph);
  return captured_place(path, process.contexts.path(event.capture));
}

inline uint32_t Session::device_of(const KernelEvent& event) {
  if (event.device_id == last_device_id_ && event.device_type.data() == last_device_type_) {
    return last_device_;
  }
  last_device_ = find_device(event.device_type, event.device_id);
  last_device_id_ = event.device_id;
  last_device_type_ = event.device_type.data();
  return last_device_;
}

inline uint32_t Session::kernel_of(const KernelEvent& event, const Op* op, uint32_t op_id) {
  const uint32_t device = device_of(event);
  const bool is_renamed = op != nullptr && !op->name.empty() && event.kind == EventKind::kKernel;
  if (!is_renamed && event.name_id == 0) return intern_kernel(event.name, device, event.kind);
  KeyIndex& index = is_renamed ? op_kernels_ : backend_kernels_;
  const uint32_t number = is_renamed ? op_id : event.name_id;
  bool is_new;
  uint32_t* kernel = index.find_or_add(kernel_key(number, device, event.kind), is_new);
  if (is_new) {
    *kernel =
        intern_kernel(is_renamed ? std::string_view(op->name) : event.name, device, event.kind);
  }
  return *kernel;
}

inline uint32_t Session::row_of(Phase& phase, PlaceId place, uint32_t kernel) {
  if (data_ == DataKind::kTrace) return 0;
  bool is_new;
  uint32_t* row = phase.kernel_index.find_or_add(pair_key(place, kernel), is_new);
  if (is_new) {
    *row = static_cast<uint32_t>(phase.kernels.size());
    phase.kernels.push_back({next_stamp_.fetch_add(1, std::memory_order_relaxed), place, kernel});
  }
  return *row;
}

inline void Session::book(const KernelEvent& event, const Booked& booked, Phase& phase) {
  ++phase.event_count;
  int64_t end_ns = event.end_ns;
  if (end_ns < event.start_ns) {
    count_loss_locked(losses::kBadTime, 1);
    end_ns = event.start_ns;
  }
  if (is_sampling()) [[unlikely]] {
    book_symbol(event, end_ns - event.start_ns, booked, phase);
  }
  if (data_ == DataKind::kTrace) return book_span(event, end_ns, booked, phase);
  if (!event.riders.empty()) book_riders(event, phase);
  const uint32_t row = booked.row;
  phase.kernels[row].add(event, end_ns - event.start_ns);
  if (booked.op != nullptr) {
    for (const OpMetric& metric : booked.op->metrics) {
      count_booking(phase.kernel_metrics.add(row, metric.metric, metric.kind, metric.value));
    }
  }
  for (const SampleList* metrics : {booked.launch_metrics, booked.metrics}) {
    if (metrics != nullptr) book_kernel_metrics(phase, row, *metrics);
  }
}

inline void Session::place_event(const KernelEvent& event, bool with_metadata) {
  const ContextId named_by = event.capture == kNoContext ? event.context : event.capture;
  uint32_t op_id = 0;
  const Op* op = nullptr;
  if (with_metadata) {
    op =
        event.graph_launches == nullptr ? process.contexts.op(named_by, op_id) : op_of_graph(event);
  }
  Phase& phase = phase_of(event.correlation);
  const PlaceId place = place_of(event);
  const uint32_t kernel = kernel_of(event, op, op_id);
  book(event, {place, kernel, row_of(phase, place, kernel), op}, phase);
}

void Session::on_events(std::span<const KernelEvent> events) noexcept {
  try {
    std::lock_guard lock(mutex_);
    const bool with_metadata = uses_launch_metadata();
    if (!events.empty()) boundaries_.follow(events.back().correlation);
    for (const KernelEvent& event : events) place_event(event, with_metadata);
    event_count_.fetch_add(events.size(), std::memory_order_relaxed);
  } catch (...) {
    count_loss(losses::kInternal);
  }
}

void Session::on_launches(std::span<const LaunchEvent> launches) noexcept {
  if (data_ != DataKind::kTrace) return;
  try {
    std::lock_guard lock(mutex_);
    if (!launches.empty()) boundaries_.follow(launches.back().correlation);
    for (const LaunchEvent& launch : launches) {
      phase_of(launch.correlation)
          .launch_spans.push_back({launch.correlation, launch.thread_number,
                                   path_of_context(launch.context), launch.function,
                                   launch.start_ns, launch.end_ns});
    }
  } catch (...) {
    count_loss(losses::kInternal);
  }
}

void Session::on_dropped(uint64_t count) noexcept { count_loss(losses::kDropped, count); }

void Session::count_loss(const std::string& kind, uint64_t count) noexcept {
  try {
    std::lock_guard lock(mutex_);
    count_loss_locked(kind, count);
  } catch (...) {  // out of memory: nothing left to say it with
  }
}

void Session::add_kernel(PathId path, uint32_t thread_number, const KernelEvent& event,
                         const SampleList* launch_metrics, const SampleList* metrics) {
  std::lock_guard lock(mutex_);
  Phase& phase = phase_of(event.correlation);
  const uint32_t kernel = intern_kernel(event.name, device_of(event), event.kind);
  Booked booked{path, kernel, row_of(phase, path, kernel)};
  booked.launch_metrics = launch_metrics;
  booked.metrics = metrics;
  booked.has_thread = true;
  booked.thread_number = thread_number;
  event_count_.fetch_add(1, std::memory_order_relaxed);
  book(event, booked, phase);
}

Session::Booked Session::locate(const KernelEvent& event, const Op* op, uint32_t op_id) {
  const PlaceId place = place_of(event);
  const uint32_t kernel = kernel_of(event, op, op_id);
  return {place, kernel, row_of(phase_of(event.correlation), place, kernel), op};
}

Session::Booked Session::locate_in(Phase& phase, const KernelEvent& event, bool is_captured) {
  uint32_t op_id = 0;
  const Op* op = uses_launch_metadata() ? process.contexts.op(event.context, op_id) : nullptr;
  const uint32_t kernel = kernel_of(event, op, op_id);
  const PlaceId place = is_captured
                            ? place_of_captured(phase, path_of_context(event.context), kernel)
                            : place_of(event);
  return {place, kernel, row_of(phase, place, kernel), op};
}

void Session::book_recorded(const RecordedLaunch& launch, KernelEvent& event, Booked booked,
                            Phase& phase) {
  for (const RecordedWarp& warp : launch.warps) {
    if (!warp.has_times) continue;
    event.start_ns = event.end_ns == 0 ? warp.start_ns : std::min(event.start_ns, warp.start_ns);
    event.end_ns = std::max(event.end_ns, warp.end_ns);
  }
  if (event.end_ns > event.start_ns) book(event, booked, phase);
}

/// The same for a launch that was not made in the current phase.
Phase& Session::phase_among(CorrelationId correlation) {
  const auto found = phases_.find(boundaries_.phase_of(correlation));
  if (found != phases_.end()) return *found->second;
  count_loss_locked(losses::kLate, 1);
  return *current_;
}

uint32_t Session::find_device(std::string_view type, uint32_t number) {
  char digits[16];
  const char* end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  const std::string_view id(digits, static_cast<size_t>(end - digits));
  for (size_t i = 0; i < devices_seen_.size(); ++i) {
    if (devices_seen_[i].id == id && devices_seen_[i].type == type) {
      return static_cast<uint32_t>(i);
    }
  }
  devices_seen_.push_back({std::string(type), std::string(id)});
  return static_cast<uint32_t>(devices_seen_.size() - 1);
}

uint32_t Session::intern_kernel(std::string_view name, uint32_t device, EventKind kind) {
  const NameId name_id = kernel_names_.intern(name);
  bool is_new;
  uint32_t* kernel = kernel_ids_.find_or_add(kernel_key(name_id, device, kind), is_new);
  if (is_new) {
    *kernel = static_cast<uint32_t>(kernels_.size());
    kernels_.push_back({name_id, device, kind});
  }
  return *kernel;
}

void Session::book_span(const KernelEvent& event, int64_t end_ns, const Booked& booked,
                        Phase& phase) {
  auto& stored = phase.kernel_span_metrics;
  const auto first = static_cast<uint32_t>(stored.size());
  if (booked.op != nullptr) {
    for (const OpMetric& metric : booked.op->metrics) {
      stored.push_back({metric.metric, metric.value});
    }
  }
  for (const SampleList* list : {booked.launch_metrics, booked.metrics}) {
    for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
      stored.push_back({(*list)[i].metric, list->value(i)});
    }
  }
  if (!event.riders.empty()) add_rider_metrics(event, phase, first);
  uint32_t shape = 0;
  if (event.shape.grid[0] != 0) {
    auto [found, is_new] =
        phase.shape_index.try_emplace(event.shape, static_cast<uint32_t>(phase.shapes.size()));
    if (is_new) phase.shapes.push_back(event.shape);
    shape = found->second;
  }
  phase.kernel_spans.push_back({booked.place, booked.kernel, event.lane, booked.thread_number,
                                booked.has_thread, event.correlation, event.start_ns, end_ns, shape,
                                first, static_cast<uint32_t>(stored.size()) - first, event.bytes});
}

void Session::count_booking(Booking booking) {
  if (booking == Booking::kBooked) return;
  count_loss_locked(
      booking == Booking::kOverflow ? losses::kMetricOverflow : losses::kMetricConflict, 1);
}

void Session::book_kernel_metrics(Phase& phase, uint32_t row, const SampleList& metrics) {
  for (size_t i = 0; i < metrics.size(); ++i) {
    const MetricKind kind = process.metric_names.name(metrics[i].metric).kind;
    count_booking(phase.kernel_metrics.add(row, kind, metrics, i));
  }
}

}  // namespace proton
