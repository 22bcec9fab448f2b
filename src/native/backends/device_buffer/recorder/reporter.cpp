// From the bytes of a launch to what its sessions are told.
#include <algorithm>
#include <cstring>

#include "backends/device_buffer/recorder/recorder.h"
#include "base/clock.h"
#include "base/text.h"
#include "model/losses.h"

namespace proton::device_buffer {
namespace {

constexpr const char* kDeviceType = "CUDA";
constexpr CudaResult kInvalidValue = 1;
constexpr size_t kMany = 8;  // launches that wait to be decoded

/// Bytes of its ring that some warp has used, or the whole ring.
uint32_t most_written(const std::byte* buffer, const Geometry& geometry) {
  uint32_t most = 0;
  for (uint64_t slot = 0; slot < geometry.slot_count(); ++slot) {
    Header header;
    std::memcpy(&header, buffer + geometry.header_offset(slot), sizeof(header));
    if (header.magic == kMagic) most = std::max(most, header.written_bytes);
  }
  return std::min(most, geometry.ring_bytes);
}

/// What of a decoded buffer a session is told, but where it belongs.
RecordedLaunch to_launch(const DecodedBuffer& decoded, const RecordingKernel& kernel,
                         bool with_warps) {
  RecordedLaunch launch;
  launch.kernel = kernel.name;
  launch.device_type = kDeviceType;
  launch.clock_ghz = decoded.cycles_per_ns;
  for (const RegionSummary& from : decoded.regions) {
    RecordedRegion region;
    region.name = kernel.region_names[from.region];
    region.source = kernel.region_sources[from.region];
    region.is_event = kernel.regions[from.region].matching == Matching::kQueued;
    region.has_floats = from.values.is_float;
    region.parent = from.parent;
    region.cycles = from.cycles;
    region.time_ns = from.time_ns;
    launch.regions.push_back(std::move(region));
  }
  launch.warps.reserve(with_warps ? decoded.warps.size() : 1);
  for (const WarpSummary& warp : decoded.warps) {
    const RecordedWarp told{warp.cta,      warp.warp,
                            warp.sm,       warp.has_times && decoded.is_host_time,
                            warp.start_ns, warp.end_ns};
    if (with_warps || launch.warps.empty()) {
      launch.warps.push_back(told);
    } else {
      ++launch.more_warps;
      launch.warps[0].widen(told);
    }
  }
  launch.spans.reserve(decoded.spans.size());
  for (const PlacedSpan& span : decoded.spans) {
    launch.spans.push_back({span.context, span.warp, span.end_warp, span.kind == RecordKind::kValue,
                            span.start_ns, span.end_ns, span.value});
  }
  return launch;
}

}  // namespace

/// Replays of graphs belong to the phase that they are read in.
SumKey Recorder::key_of(const Launch& launch, const Destination& destination) {
  const int phase = launch.is_captured ? destination.target->flush_phase.load() : destination.phase;
  return {phase, launch.kernel_number, destination.context, launch.is_captured,
          static_cast<uint32_t>(launch.state->device)};
}

/// Whether the buffer is as large as its kernel says. False: it is dropped, and nobody's any more.
bool Recorder::has_room(Launch& launch) {
  if (launch.kernel->geometry(launch.grid_ctas).size_bytes() <= launch.bytes) return true;
  drop(launch, kInvalidValue);
  launch.kernel = nullptr;
  return false;
}

/// With some help where there are many, so that launches are not read slower than they are made;
/// then clocks are fitted roughly whatever that costs them. `again` gets those of which too little
/// was copied; from now on more is.
void Recorder::decode_all(std::span<LaunchPointer> launches, std::vector<LaunchPointer>& again) {
  const bool is_late = launches.size() >= kMany;
  std::atomic<size_t> next{0};
  const auto work = [&](Decoder& decoder) {
    for (size_t at = next++; at < launches.size(); at = next++) {
      Launch& launch = *launches[at];
      if (launch.kernel == nullptr) continue;
      launch.most_written = most_written(launch.bytes_read, launch.geometry);
      if (launch.most_written <= launch.geometry.kept_bytes()) {
        decode_and_report(launch, decoder, is_late);
      }
    }
  };
  const size_t cores = std::max(1u, std::thread::hardware_concurrency() / 4);
  std::vector<std::thread> helpers;
  for (size_t i = 1; is_late && i < std::min(cores, decoders_.size()); ++i) {
    helpers.emplace_back(work, std::ref(decoders_[i]));
  }
  work(decoders_[0]);
  for (std::thread& helper : helpers) helper.join();
  for (LaunchPointer& launch : launches) {
    if (launch->kernel == nullptr || launch->block->host != nullptr) continue;
    uint32_t& expected = expected_[launch->kernel_number];
    const uint32_t used = launch->most_written;
    expected = expected == UINT32_MAX ? used : std::max(expected, used);
    if (used > launch->geometry.kept_bytes()) again.push_back(std::move(launch));
  }
}

void Recorder::decode_and_report(Launch& launch, Decoder& decoder, bool is_late) {
  const RecordingKernel& kernel = *launch.kernel;
  const Geometry& geometry = launch.geometry;
  const std::span<const std::byte> bytes(launch.bytes_read, geometry.size_bytes());
  const int64_t started_ns = now_ns();
  DecodeOptions options;
  options.clock_bits = kernel.clock_bits;
  options.cost = kernel.cost;
  options.nominal_cycles_per_ns = launch.state->cycles_per_ns;
  options.expected_warps = kernel.expected_warps(launch.grid_ctas);
  options.host_offset = &launch.state->host_offset;
  if (!launch.is_captured) options.kernel = {launch.start_ns, launch.end_ns};
  options.keeps_spans = std::ranges::any_of(
      launch.destinations, [](const Destination& each) { return each.target->options.with_spans; });
  options.with_quantiles = false;
  options.fit = options.keeps_spans ? ClockFit::kExact
                : is_late           ? ClockFit::kRough
                                    : ClockFit::kQuick;
  std::vector<std::span<const std::byte>> drained(launch.drained.begin(), launch.drained.end());
  try {
    const DecodedBuffer& decoded =
        decoder.decode(bytes, geometry, kernel.regions, options, drained);
    if (decoded.cycles_per_ns > 0) launch.state->cycles_per_ns = decoded.cycles_per_ns;
    report(launch, decoded);
    if (kernel.keeps_bytes) keep(launch);
  } catch (const std::exception& error) {
    std::lock_guard lock(mutex_);
    note_problem(concat("records of kernel ", quote(kernel.name), ": ", error.what()));
    for (const Destination& each : launch.destinations) {
      each.target->book.drop(key_of(launch, each));
    }
  }
  std::lock_guard lock(mutex_);
  ++stats_.decoded;
  stats_.decode_ns += static_cast<uint64_t>(now_ns() - started_ns);
}

void Recorder::report(const Launch& launch, const DecodedBuffer& decoded) {
  const RecordingKernel& kernel = *launch.kernel;
  const bool with_warps = std::ranges::any_of(
      launch.destinations, [](const Destination& each) { return each.target->options.with_spans; });
  RecordedLaunch told = to_launch(decoded, kernel, with_warps);
  told.device_id = static_cast<uint32_t>(launch.state->device);
  told.lane = launch.lane;
  told.is_captured = launch.is_captured;
  for (const Destination& each : launch.destinations) {
    const std::lock_guard telling(each.target->mutex);
    if (each.target->sink == nullptr) continue;
    told.context = each.context;
    const SumKey key = key_of(launch, each);
    told.phase = key.phase;
    each.target->book.add(key, kernel.cost.cycles, decoded);
    if (each.target->options.with_spans && !decoded.is_host_time) {
      each.target->sink->on_loss(losses::kUnplacedLaunch, 1);  // on no axis that a trace has
      continue;
    }
    each.target->sink->on_recorded(told);
  }
}

/// For each session; beyond a limit that nobody waits at, it is lost.
void Recorder::keep(const Launch& launch) {
  constexpr size_t kMostBytes = size_t{256} << 20;
  const auto bytes = std::make_shared<const std::vector<std::byte>>(
      launch.bytes_read, launch.bytes_read + launch.bytes);
  for (const Destination& each : launch.destinations) {
    const std::lock_guard telling(each.target->mutex);
    if (each.target->sink == nullptr) continue;
    if (each.target->kept_bytes + bytes->size() > kMostBytes && !each.target->kept.empty()) {
      each.target->sink->on_loss(losses::kDroppedBuffers, 1);
      continue;
    }
    each.target->kept.push_back(
        {launch.kernel_number, launch.note, launch.grid_ctas, key_of(launch, each), bytes});
    each.target->kept_bytes += bytes->size();
  }
}

void Recorder::drop(const Launch& launch, CudaResult result) {
  if (launch.kernel == nullptr) return;  // nobody was to know of it
  for (const Destination& each : launch.destinations) {
    const std::lock_guard telling(each.target->mutex);
    if (each.target->sink == nullptr) continue;
    each.target->book.drop(key_of(launch, each));
    each.target->sink->on_loss(losses::kDroppedBuffers, 1);
  }
  std::lock_guard lock(mutex_);
  ++stats_.dropped;
  note_problem(concat("records of a launch could not be read: ", result == kTimeout
                                                                     ? "copying them took too long"
                                                                     : driver_.describe(result)));
}

}  // namespace proton::device_buffer
