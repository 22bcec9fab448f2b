#include "backends/cupti/metric_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>

#include "backends/cupti/driver/thread_cells.h"
#include "base/error.h"
#include "base/text.h"

namespace proton::cupti {
namespace {

constexpr double kIntegerLimit = 9.2e18;

/// While it lives, callbacks on this thread know that the launch is ours.
class OwnLaunch {
 public:
  OwnLaunch(LaunchTable& launches, ValueId id) : launches_(launches), cell_(find_cell()) {
    if (cell_ == nullptr) return;
    cell_->own_value = id;
    count_ = cell_->launch_count.load(std::memory_order_relaxed);
  }
  ~OwnLaunch() {
    if (cell_ == nullptr) return;
    cell_->own_value = 0;
    if (cell_->launch_count.load(std::memory_order_relaxed) == count_) return;  // nobody told
    cell_->graphs.idle_launches.add(cell_->last_launch());
    launches_.mark_read(cell_->last_launch());
  }
  /// 0: nobody told.
  CorrelationId launch() const {
    if (cell_ == nullptr) return 0;
    const bool is_told = cell_->launch_count.load(std::memory_order_relaxed) != count_;
    return is_told ? cell_->last_launch() : 0;
  }
  OwnLaunch(const OwnLaunch&) = delete;
  OwnLaunch& operator=(const OwnLaunch&) = delete;

 private:
  LaunchTable& launches_;
  ThreadCell* cell_;
  uint64_t count_ = 0;
};

/// False: no number of that type.
bool to_integer(uint64_t bits, ElementKind kind, int64_t& number) {
  if (!is_float(kind)) {
    number = static_cast<int64_t>(bits);
    return kind != ElementKind::kUint64 || number >= 0;
  }
  const auto real = std::bit_cast<double>(bits);
  if (!(std::fabs(real) < kIntegerLimit)) return false;
  number = std::llround(real);
  return true;
}

bool to_real(uint64_t bits, ElementKind kind, double& number) {
  number = is_float(kind)                 ? std::bit_cast<double>(bits)
           : kind == ElementKind::kUint64 ? static_cast<double>(bits)
                                          : static_cast<double>(static_cast<int64_t>(bits));
  return std::isfinite(number);
}

template <typename Number, typename Convert>
bool convert_all(const std::vector<uint64_t>& elements, ElementKind kind, bool is_scalar,
                 Convert convert, MetricValue& value) {
  std::vector<Number> numbers(elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!convert(elements[i], kind, numbers[i])) return false;
  }
  if (is_scalar) {
    value = numbers.at(0);
  } else {
    value = std::move(numbers);
  }
  return true;
}

}  // namespace

ValueId MetricValues::read(const ValueSource& source, bool& is_captured) {
  if (source.count == 0 || source.count > kCountLimit) {
    throw Error(ErrorKind::kUsage, concat("a list of ", source.count, " numbers; give from 1 to ",
                                          kCountLimit, " of them"));
  }
  const ContextGuard current(library_, source.device);
  int capture = 0;
  check_cuda(library_, library_.is_capturing(source.stream, &capture), "cuStreamIsCapturing");
  is_captured = capture != 0;
  ReaderParams params{source.address,
                      source.stride_bytes,
                      0,
                      0,
                      source.count,
                      static_cast<uint32_t>(source.kind),
                      0,
                      is_captured ? 1u : 0u};
  void* function;
  {
    std::lock_guard lock(mutex_);
    ValueReader& reader = readers_.find(library_, current.context(), source.device);
    function = reader.function;
    params.ring = reader.ring_address;
    params.capacity_bits = reader.ring->capacity_bits();
    params.id = ++last_id_;
    Slot& slot = slots_[params.id];
    slot.source = source;
    slot.device_id = static_cast<uint32_t>(source.device);
    slot.is_captured = is_captured;
    // Long before the ring is full, as replays write to it too.
    cells_issued_ += is_captured ? 0 : source.count + 1;
    if (cells_issued_ > uint64_t{1} << (params.capacity_bits - 2)) drain();
  }
  void* arguments[] = {&params};
  CudaResult result;
  CorrelationId launch;
  {
    const OwnLaunch own(launches_, params.id);  // callbacks take mutex_
    result = library_.launch_kernel(function, 1, 1, 1, kReaderThreads, 1, 1, 0, source.stream,
                                    arguments, nullptr);
    launch = own.launch();
  }
  if (result != 0) {
    drop(params.id);
  } else if (!is_captured) {
    std::lock_guard lock(mutex_);
    if (const auto found = slots_.find(params.id); found != slots_.end()) {
      found->second.launch = launch;
    }
  }
  check_cuda(library_, result, "cuLaunchKernel");
  return params.id;
}

void MetricValues::commit(ValueId id, const ValuePlace& place,
                          std::span<const ValueTarget> targets) {
  std::lock_guard lock(mutex_);
  const auto found = slots_.find(id);
  if (found == slots_.end()) return;
  Slot& slot = found->second;
  slot.place = place;
  slot.targets.assign(targets.begin(), targets.end());
  slot.is_committed = true;
  if (!slot.runs.empty()) touched_.push_back(id);
}

void MetricValues::drop(ValueId id) {
  std::lock_guard lock(mutex_);
  slots_.erase(id);  // what it reads is of no slot, and ignored
}

void MetricValues::add_node(ValueId id) {
  std::lock_guard lock(mutex_);
  const auto found = slots_.find(id);
  if (found == slots_.end()) return;
  found->second.had_node = true;
  ++found->second.node_count;
}

void MetricValues::remove_node(ValueId id) {
  std::lock_guard lock(mutex_);
  const auto found = slots_.find(id);
  if (found == slots_.end() || found->second.node_count == 0) return;
  if (--found->second.node_count == 0) touched_.push_back(id);
}

void MetricValues::add_replay(ValueId id, const ReplayedRead& replay) {
  std::lock_guard lock(mutex_);
  const auto found = slots_.find(id);
  if (found == slots_.end()) return;
  found->second.replays.push_back(replay);
  if (found->second.replays.size() % (2 * kReplayWindow) == 0) touched_.push_back(id);
}

void MetricValues::drain() {
  cells_issued_ = 0;
  runs_.clear();
  readers_.drain(runs_);
  for (ValueRun& run : runs_) {
    const auto found = slots_.find(run.id);
    if (found == slots_.end()) continue;
    found->second.runs.push_back(std::move(run.elements));
    if (!found->second.is_captured) touched_.push_back(run.id);
  }
}

ValueId MetricValues::newest() {
  std::lock_guard lock(mutex_);
  return last_id_;
}

bool MetricValues::is_waiting(CorrelationId until) {
  std::lock_guard lock(mutex_);
  return std::ranges::any_of(slots_, [&](const auto& entry) {
    const Slot& slot = entry.second;
    if (!slot.is_committed) return false;
    if (!slot.is_captured) return slot.launch != 0 && !is_after(slot.launch, until);
    return std::ranges::any_of(slot.replays, [&](const ReplayedRead& replay) {
      return !is_after(replay.correlation, until);
    });
  });
}

void MetricValues::collect(const FinishedReads& finished, std::vector<ArrivedValue>& arrived,
                           LostValues& lost) {
  std::lock_guard lock(mutex_);
  if (slots_.empty()) return;
  drain();
  const uint64_t dropped = readers_.take_dropped();
  lost.dropped += dropped;
  unexplained_ += dropped;
  std::vector<ValueId> touched;
  touched.swap(touched_);
  const bool are_replays_known = finished.replays_before_ns != FinishedReads::kNoReplay;
  for (const auto& [id, slot] : slots_) {
    if (id <= finished.until || (are_replays_known && !slot.replays.empty())) touched.push_back(id);
  }
  std::sort(touched.begin(), touched.end());  // properties: the last one stands
  for (const ValueId id : touched) {
    const auto found = slots_.find(id);
    if (found != slots_.end()) match(id, found->second, finished, arrived, lost);
  }
  if (finished.until != 0) unexplained_ = 0;
  known_before_ns_ = std::max(known_before_ns_, finished.replays_before_ns);
}

void MetricValues::match(ValueId id, Slot& slot, const FinishedReads& finished,
                         std::vector<ArrivedValue>& arrived, LostValues& lost) {
  if (!slot.is_committed) return;
  if (slot.is_captured) return match_replays(id, slot, finished, arrived, lost);
  if (!slot.runs.empty()) {
    take_run(id, slot, nullptr, arrived, lost);
  } else if (id > finished.until) {
    return;
  } else if (unexplained_ > 0) {
    --unexplained_;
  } else {
    ++lost.dropped;  // its context is gone
  }
  slots_.erase(id);
}

void MetricValues::match_replays(ValueId id, Slot& slot, const FinishedReads& finished,
                                 std::vector<ArrivedValue>& arrived, LostValues& lost) {
  const bool is_finished = id <= finished.until;
  auto& replays = slot.replays;
  std::sort(replays.begin(), replays.end(),
            [](const ReplayedRead& a, const ReplayedRead& b) { return a.start_ns < b.start_ns; });
  const auto count_before = [&](int64_t time_ns) {
    const auto end = std::ranges::lower_bound(replays, time_ns, {}, &ReplayedRead::start_ns);
    return static_cast<size_t>(end - replays.begin());
  };
  size_t settled = replays.size() - std::min(replays.size(), is_finished ? 0 : kReplayWindow);
  settled = std::max(settled, count_before(finished.replays_before_ns));
  size_t used = 0;
  while (used < settled && !slot.runs.empty()) {
    take_run(id, slot, &replays[used++], arrived, lost);
  }
  used = std::max(used, count_before(known_before_ns_));
  replays.erase(replays.begin(), replays.begin() + static_cast<ptrdiff_t>(used));
  if (!is_finished) return;
  while (!slot.runs.empty()) take_run(id, slot, nullptr, arrived, lost);
  replays.clear();
  if (slot.had_node && slot.node_count == 0) slots_.erase(id);
}

void MetricValues::take_run(ValueId id, Slot& slot, const ReplayedRead* replay,
                            std::vector<ArrivedValue>& arrived, LostValues& lost) {
  ArrivedValue one{id,
                   slot.place,
                   slot.device_id,
                   {},
                   slot.targets,
                   slot.is_captured,
                   replay != nullptr,
                   replay == nullptr ? ReplayedRead() : *replay};
  if (convert(slot, slot.runs.front(), one.value)) {
    arrived.push_back(std::move(one));
  } else {
    ++lost.bad;
  }
  slot.runs.pop_front();
}

bool MetricValues::convert(const Slot& slot, const std::vector<uint64_t>& elements,
                           MetricValue& value) {
  const ValueSource& source = slot.source;
  return slot.place.is_integer
             ? convert_all<int64_t>(elements, source.kind, source.is_scalar, to_integer, value)
             : convert_all<double>(elements, source.kind, source.is_scalar, to_real, value);
}

void MetricValues::set_open(bool is_open) {
  std::lock_guard lock(mutex_);
  readers_.set_open(is_open);
}

bool MetricValues::has_captured() {
  std::lock_guard lock(mutex_);
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const auto& entry) { return entry.second.is_captured; });
}

void MetricValues::set_buffer_bytes(size_t bytes) {
  std::lock_guard lock(mutex_);
  constexpr size_t kLeast = sizeof(RingCell) * 4 * kCountLimit;
  constexpr size_t kMost = size_t{1} << 30;
  if (bytes == 0) return readers_.set_capacity_bits(ValueReaders::kDefaultBits);
  const size_t cells = std::clamp(bytes, kLeast, kMost) / sizeof(RingCell);
  readers_.set_capacity_bits(static_cast<uint32_t>(std::bit_width(cells) - 1));
}

size_t MetricValues::buffer_bytes() {
  std::lock_guard lock(mutex_);
  return sizeof(RingCell) << readers_.capacity_bits();
}

void MetricValues::forget(const EventSink& sink) {
  std::lock_guard lock(mutex_);
  for (auto& [id, slot] : slots_) {
    std::erase_if(slot.targets, [&](const ValueTarget& target) { return target.sink == &sink; });
  }
}

void MetricValues::clear() {
  std::lock_guard lock(mutex_);
  slots_.clear();
  touched_.clear();
}

size_t MetricValues::size() {
  std::lock_guard lock(mutex_);
  return slots_.size();
}

void MetricValues::reset_after_fork() { new (&mutex_) std::mutex; }

}  // namespace proton::cupti
