#include "backends/device_buffer/recorder/reporter.h"

#include <algorithm>
#include <utility>

#include "backends/device_buffer/recorder/buffer_pool.h"
#include "base/text.h"
#include "model/losses.h"

namespace proton::device_buffer {
namespace {

constexpr const char* kDeviceType = "CUDA";
constexpr size_t kMostKeptBytes = size_t{256} << 20;

SumKey key_in(const Launch& launch, const Destination& destination, int phase) {
  return {phase, launch.kernel_number, destination.context, launch.is_captured,
          static_cast<uint32_t>(launch.memory->device)};
}

/// Replays of graphs belong to the phase that they are read in.
SumKey key_of(const Launch& launch, const Destination& destination) {
  return key_in(launch, destination,
                launch.is_captured ? destination.target->flush_phase.load() : destination.phase);
}

/// Calls `tell` for every session of the launch that has not ended, under its mutex.
template <typename Tell>
void tell_each(const Launch& launch, Tell tell) {
  for (const Destination& destination : launch.destinations) {
    const std::lock_guard telling(destination.target->mutex);
    if (destination.target->sink != nullptr) tell(destination, *destination.target);
  }
}

}  // namespace

RecordedLaunch to_recorded_launch(const DecodedBuffer& decoded, std::span<const RegionLabel> labels,
                                  bool with_warps) {
  RecordedLaunch launch;
  launch.device_type = kDeviceType;
  launch.clock_ghz = decoded.cycles_per_ns;
  for (const RegionSummary& from : decoded.regions) {
    RecordedRegion region;
    if (from.region < labels.size()) {
      region.name = labels[from.region].name;
      region.source = labels[from.region].source;
      region.is_event = labels[from.region].is_event;
    }
    if (region.name.empty()) region.name = concat("<region ", from.region, ">");
    region.has_floats = from.values.is_float;
    region.parent = from.parent;
    region.cycles = from.cycles;
    region.time_ns = from.time_ns;
    launch.regions.push_back(std::move(region));
  }
  launch.warps.reserve(with_warps ? decoded.warps.size() : 1);
  for (const WarpSummary& warp : decoded.warps) {
    RecordedWarp recorded = warp;
    recorded.has_times &= decoded.is_host_time;
    if (with_warps || launch.warps.empty()) {
      launch.warps.push_back(recorded);
    } else {
      ++launch.more_warps;
      launch.warps[0].widen(recorded);
    }
  }
  launch.spans = decoded.spans;
  return launch;
}

void Reporter::add(EventSink& sink, SinkOptions options) {
  auto target = std::make_shared<Target>();
  target->sink = &sink;
  target->options = std::move(options);
  std::lock_guard lock(mutex_);
  targets_.push_back(std::move(target));
  if (targets_.size() == 1) problems_.restart();
}

std::shared_ptr<Target> Reporter::find(const EventSink& sink) {
  std::lock_guard lock(mutex_);
  for (const auto& target : targets_) {
    if (target->sink == &sink) return target;
  }
  return nullptr;
}

bool Reporter::remove(EventSink& sink) {
  const std::shared_ptr<Target> target = find(sink);
  if (target == nullptr) return false;
  {
    std::lock_guard lock(mutex_);
    if (std::erase(targets_, target) == 0) return false;
    if (targets_.empty()) ++era_;
  }
  std::lock_guard telling(target->mutex);
  target->sink = nullptr;
  return true;
}

bool Reporter::has(const EventSink& sink) { return find(sink) != nullptr; }

std::optional<uint64_t> Reporter::era() {
  std::lock_guard lock(mutex_);
  return targets_.empty() ? std::nullopt : std::optional(era_);
}

std::optional<std::vector<Destination>> Reporter::destinations(uint64_t era,
                                                               const EventSink* only) {
  std::lock_guard lock(mutex_);
  if (era != era_) return std::nullopt;
  std::vector<Destination> destinations;
  for (const auto& target : targets_) {
    if (!target->options.is_active() || (only != nullptr && target->sink != only)) continue;
    const ContextId context = target->options.with_frames ? source_.python() : source_.shadow();
    destinations.push_back({target, context, target->options.phase()});
  }
  return destinations;
}

bool Reporter::count_unread(uint64_t era) {
  std::lock_guard lock(mutex_);
  if (era != era_) return false;
  for (const auto& target : targets_) {
    // Whoever stops leaves `targets_` first: the sink is still there.
    if (target->options.is_active()) target->sink->on_loss(losses::kDroppedBuffers, 1);
  }
  ++counts.dropped;
  return true;
}

void Reporter::note_phases() {
  std::lock_guard lock(mutex_);
  for (const auto& target : targets_) target->flush_phase.store(target->options.phase());
}

std::vector<KernelSum> Reporter::sums(const EventSink& sink, int phase) {
  const auto target = find(sink);
  return target == nullptr ? std::vector<KernelSum>() : target->book.sums(phase);
}

void Reporter::forget_phase(const EventSink& sink, int phase) {
  if (const auto target = find(sink)) target->book.forget_phase(phase);
}

std::vector<KeptBuffer> Reporter::take_kept(const EventSink& sink) {
  const auto target = find(sink);
  if (target == nullptr) return {};
  std::lock_guard telling(target->mutex);
  target->kept_bytes = 0;
  return std::exchange(target->kept, {});
}

bool Reporter::is_wanted(const Launch& launch) {
  bool is_wanted = false;
  tell_each(launch, [&](const Destination&, Target&) { is_wanted = true; });
  return is_wanted;
}

bool Reporter::wants_spans(const Launch& launch) {
  return std::ranges::any_of(launch.destinations, [](const Destination& destination) {
    return destination.target->options.with_spans;
  });
}

void Reporter::report(const Launch& launch, const DecodedBuffer& decoded) {
  RecordedLaunch recorded = to_recorded_launch(decoded, launch.kernel->labels, wants_spans(launch));
  recorded.kernel = launch.kernel->name;
  recorded.device_id = static_cast<uint32_t>(launch.memory->device);
  recorded.lane = launch.lane;
  recorded.is_captured = launch.is_captured;
  tell_each(launch, [&](const Destination& destination, Target& target) {
    const SumKey key = key_of(launch, destination);
    recorded.context = destination.context;
    recorded.phase = key.phase;
    target.book.add(key, launch.kernel->cost.cycles, decoded);
    if (target.options.with_spans && !decoded.is_host_time) {
      target.sink->on_loss(losses::kUnplacedLaunch, 1);  // on no axis that a trace has
    } else {
      target.sink->on_recorded(recorded);
    }
  });
}

void Reporter::keep(const Launch& launch) {
  const auto bytes = std::make_shared<const std::vector<std::byte>>(
      launch.bytes_read, launch.bytes_read + launch.bytes);
  tell_each(launch, [&](const Destination& destination, Target& target) {
    if (target.kept_bytes + bytes->size() > kMostKeptBytes && !target.kept.empty()) {
      target.sink->on_loss(losses::kDroppedBuffers, 1);
      return;
    }
    target.kept.push_back(
        {launch.kernel_number, launch.note, launch.grid_ctas, key_of(launch, destination), bytes});
    target.kept_bytes += bytes->size();
  });
}

void Reporter::drop(const Launch& launch, const std::string& reason) {
  if (launch.kernel == nullptr) return;  // nobody was to know of it
  tell_each(launch, [&](const Destination& destination, Target& target) {
    target.book.drop(key_of(launch, destination));
    target.sink->on_loss(losses::kDroppedBuffers, 1);
  });
  ++counts.dropped;
  problems_.note(concat("records of a launch could not be read: ", reason));
}

void Reporter::book_drop(const Launch& launch, bool at_launch) {
  for (const Destination& destination : launch.destinations) {
    destination.target->book.drop(at_launch ? key_in(launch, destination, destination.phase)
                                            : key_of(launch, destination));
  }
}

void Reporter::book_replays(const Launch& launch, uint64_t replays) {
  for (const Destination& destination : launch.destinations) {
    destination.target->book.add_replays(key_of(launch, destination), replays);
  }
}

}  // namespace proton::device_buffer
