// The device path of a session: kernels, copies, launches and losses, from any thread.
#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "model/losses.h"
#include "session/process.h"
#include "session/session.h"

namespace proton {
namespace {

uint64_t kernel_key(uint32_t number, uint32_t device, EventKind kind) {
  return (uint64_t{number} << 32 | uint64_t{device} << 8 | static_cast<uint8_t>(kind)) + 1;
}

}  // namespace

void KernelRow::add(const KernelEvent& event, int64_t duration_ns) {
  if (count == 0) {
    min_ns = max_ns = duration_ns;
    lane = event.lane;
    shape = event.shape;
  } else {
    if (spread == nullptr) {
      spread = std::make_unique<Distribution>();
      spread->add(min_ns);
    }
    spread->add(duration_ns);
    min_ns = std::min(min_ns, duration_ns);
    max_ns = std::max(max_ns, duration_ns);
    is_one_lane &= lane == event.lane;
    is_one_grid &= shape.grid == event.shape.grid;
    is_one_block &= shape.block == event.shape.block;
    is_one_binary &= shape.registers == event.shape.registers &&
                     shape.static_shared_bytes == event.shape.static_shared_bytes;
    is_one_dynamic_shared &= shape.dynamic_shared_bytes == event.shape.dynamic_shared_bytes;
  }
  count += 1;
  time_ns += duration_ns;
  bytes += event.bytes;
}

void Session::on_events(std::span<const KernelEvent> events) noexcept {
  try {
    std::lock_guard lock(mutex_);
    for (const KernelEvent& event : events) place_event(event);
  } catch (...) {
    count_loss(losses::kInternal);
  }
}

void Session::on_launches(std::span<const LaunchEvent> launches) noexcept {
  if (data_ != DataKind::kTrace) return;
  try {
    std::lock_guard lock(mutex_);
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
  Booked booked{path, intern_kernel(event.name, device_of(event), event.kind)};
  booked.launch_metrics = launch_metrics;
  booked.metrics = metrics;
  booked.has_thread = true;
  booked.thread_number = thread_number;
  book(event, booked);
}

void Session::place_event(const KernelEvent& event) {
  const ContextId named_by = event.capture == kNoContext ? event.context : event.capture;
  uint32_t op_id = 0;
  const Op* op = uses_launch_metadata() ? process.contexts.op(named_by, op_id) : nullptr;
  Booked booked{place_of(event), kernel_of(event, op, op_id)};
  booked.op = op;
  book(event, booked);
}

PathId Session::path_of_context(ContextId context) {
  return context >= kUnknownContext ? kRootPath : process.contexts.path(context);
}

PlaceId Session::place_of(const KernelEvent& event) {
  if (event.context >= kUnknownContext) count_loss_locked(losses::kUnknownLaunch, 1);
  const PathId path = path_of_context(event.context);
  if (event.capture == kNoContext) return path;
  const PathId capture =
      event.capture == kUnknownContext ? kUnknownContext : process.contexts.path(event.capture);
  return captured_place(path, capture);
}

PlaceId Session::captured_place(PathId replay, PathId capture) {
  bool is_new;
  uint32_t* at = captured_index_.find_or_add((uint64_t{replay} << 32 | capture) + 1, is_new);
  if (is_new) {
    *at = static_cast<uint32_t>(captured_places_.size()) | kLaunchBit;
    captured_places_.push_back({replay, capture});
  }
  return *at;
}

/// The phase in which a launch was made.
Phase& Session::phase_of(CorrelationId correlation) {
  if (correlation == 0 || boundaries_.empty()) return *current_;
  for (size_t i = boundaries_.size(); i-- > 0;) {
    if (static_cast<int32_t>(correlation - boundaries_[i].after) <= 0) continue;
    if (boundaries_[i].phase == current_->number) return *current_;
    if (auto found = phases_.find(boundaries_[i].phase); found != phases_.end()) {
      return *found->second;
    }
    count_loss_locked(losses::kLate, 1);
    return *current_;
  }
  if (auto found = phases_.find(boundaries_.front().phase - 1); found != phases_.end()) {
    return *found->second;
  }
  count_loss_locked(losses::kLate, 1);
  return *current_;
}

void Session::book_captured(PathId path, uint64_t node, const SampleList& metrics) {
  Rider rider{path, {}};
  for (size_t i = 0; i < metrics.size(); ++i) {
    const MetricId metric = metrics[i].metric;
    rider.metrics.push_back({metric, process.metric_names.name(metric).kind, metrics.value(i)});
  }
  std::lock_guard lock(mutex_);
  riders_[node].push_back(std::move(rider));
}

void Session::book_riders(const KernelEvent& event, Phase& phase) {
  const auto found = riders_.find(event.graph_root);
  if (found == riders_.end()) return;
  const PathId replay = path_of_context(event.context);
  for (const Rider& rider : found->second) {
    const PlaceId place = captured_place(replay, rider.path);
    for (const OpMetric& metric : rider.metrics) {
      count_booking(phase.replay_metrics.add(place, metric.metric, metric.kind, metric.value));
    }
  }
}

uint32_t Session::device_of(const KernelEvent& event) {
  char digits[16];
  const char* end = std::to_chars(digits, digits + sizeof(digits), event.device_id).ptr;
  const std::string_view id(digits, static_cast<size_t>(end - digits));
  for (size_t i = 0; i < devices_seen_.size(); ++i) {
    if (devices_seen_[i].id == id && devices_seen_[i].type == event.device_type) {
      return static_cast<uint32_t>(i);
    }
  }
  devices_seen_.push_back({std::string(event.device_type), std::string(id)});
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

uint32_t Session::kernel_of(const KernelEvent& event, const Op* op, uint32_t op_id) {
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

void Session::book(const KernelEvent& event, const Booked& booked) {
  event_count_.fetch_add(1, std::memory_order_relaxed);
  int64_t end_ns = event.end_ns;
  if (end_ns < event.start_ns) {
    count_loss_locked(losses::kBadTime, 1);
    end_ns = event.start_ns;
  }
  Phase& phase = phase_of(event.correlation);
  if (data_ == DataKind::kTrace) return book_span(event, end_ns, booked, phase);
  if (event.graph_root != 0 && !riders_.empty()) book_riders(event, phase);
  bool is_new;
  const uint64_t key = (uint64_t{booked.place} << 32 | booked.kernel) + 1;
  uint32_t* found = phase.kernel_index.find_or_add(key, is_new);
  if (is_new) {
    *found = static_cast<uint32_t>(phase.kernels.size());
    phase.kernels.push_back(
        {next_stamp_.fetch_add(1, std::memory_order_relaxed), booked.place, booked.kernel});
  }
  const uint32_t row = *found;
  phase.kernels[row].add(event, end_ns - event.start_ns);
  if (booked.op != nullptr) {
    for (const OpMetric& metric : booked.op->metrics) {
      count_booking(phase.kernel_metrics.add(row, metric.metric, metric.kind, metric.value));
    }
  }
  book_kernel_metrics(phase, row, booked.launch_metrics);
  book_kernel_metrics(phase, row, booked.metrics);
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

void Session::book_kernel_metrics(Phase& phase, uint32_t row, const SampleList* metrics) {
  for (size_t i = 0; metrics != nullptr && i < metrics->size(); ++i) {
    const MetricKind kind = process.metric_names.name((*metrics)[i].metric).kind;
    count_booking(phase.kernel_metrics.add(row, kind, *metrics, i));
  }
}

}  // namespace proton
