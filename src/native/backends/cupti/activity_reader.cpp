#include "backends/cupti/activity_reader.h"

#include "model/losses.h"

namespace proton::cupti {

void ActivityReader::start_clock(const ClockPair& now) {
  const auto lock = sinks_.lock();
  clock_.start(now);
}

void ActivityReader::update_clock(const ClockPair& now) {
  const auto lock = sinks_.lock();
  clock_.update(now);
}

void ActivityReader::on_completed(Context context, uint32_t stream, uint8_t* buffer, size_t size,
                                  size_t valid) noexcept {
  try {
    const auto lock = sinks_.lock();
    count_dropped_of(context, stream);
    ++stats_.buffers;
    stats_.buffer_bytes += valid;
    if (valid != 0) read_records(buffer, valid);
    batch_.send();
    batch_.send_calls();
    values_.send({});
  } catch (...) {
    const auto lock = sinks_.lock();
    batch_.clear();
    sinks_.count_loss(losses::kInternal, 1);
  }
  buffers_.give_back(buffer, size, valid);
}

void ActivityReader::count_dropped_of(Context context, uint32_t stream) {
  size_t dropped = 0;
  if (library_.dropped_records(context, stream, &dropped) != kSuccess || dropped == 0) return;
  stats_.dropped += dropped;
  sinks_.count_dropped(dropped);
}

void ActivityReader::count_incomplete(uint32_t correlation) {
  ++stats_.incomplete;
  for (const SinkTable::Entry& entry : sinks_.entries()) {
    const bool is_known = correlation != 0;  // else it may be anybody's
    if (!is_known || sinks_.wants(entry, correlation)) {
      entry.sink->on_loss(losses::kIncomplete, 1);
    }
  }
  launches_.mark_read(correlation);
}

void ActivityReader::read_records(uint8_t* buffer, size_t valid) {
  names_.start_turn();
  void* record = nullptr;
  while (library_.next_record(buffer, valid, &record) == kSuccess) {
    const KernelEvent& event = batch_.next();
    const Decoded decoded = decode(record, names_, clock_, batch_.next());
    if (decoded == Decoded::kIgnored) continue;
    if (decoded == Decoded::kIncomplete) {
      count_incomplete(event.correlation);
      continue;
    }
    if (event.kind == EventKind::kKernel && event.name == kReaderName) {  // ours, and nobody's
      values_.add_replayed_read(event);
      continue;
    }
    if (event.kind == EventKind::kKernel && event.name == kReplayCounterName) {
      launches_.mark_read(event.correlation);
      continue;
    }
    if (event.kind == EventKind::kGraph) values_.add_replayed_graph(event);
    batch_.push(decoded == Decoded::kEvent);
  }
}

int64_t ActivityReader::begin_flush() {
  const auto lock = sinks_.lock();
  return values_.begin_flush();
}

void ActivityReader::finish_flush(bool is_complete, const FinishedReads& finished) {
  const auto lock = sinks_.lock();
  count_dropped_of(nullptr, 0);
  if (is_complete) sinks_.note_complete();
  batch_.send_calls();
  values_.send(finished);
}

void ActivityReader::count_dropped() {
  const auto lock = sinks_.lock();
  count_dropped_of(nullptr, 0);
}

void ActivityReader::send_values(const FinishedReads& finished) {
  const auto lock = sinks_.lock();
  values_.send(finished);
}

ReaderStats ActivityReader::stats() {
  const auto lock = sinks_.lock();
  ReaderStats stats = stats_;
  stats.events = batch_.counts();
  stats.names = names_.size();
  stats.clock_offset_ns = clock_.offset_ns();
  stats.clock_residual_ns = clock_.residual_ns();
  return stats;
}

}  // namespace proton::cupti
