// Trace logs in Perfetto's own format: protobuf, compressed.
#include "files/writers.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <variant>
#include <vector>

#include "files/format.h"
#include "files/json_encoder.h"
#include "files/packet_sink.h"
#include "files/perfetto_fields.h"
#include "files/perfetto_interning.h"
#include "files/proto_encoder.h"
#include "files/summary_writer.h"
#include "files/trace_layout.h"

namespace proton {

namespace {

using namespace perfetto;

const std::string kMetricsKey(format::kMetrics);

/// The process that the header names; 1 where it names none, as 0 is the kernel's.
uint64_t process_id(const Summary& summary) {
  for (const auto& [key, value] : summary.header) {
    const auto* pid = std::get_if<int64_t>(&value.data);
    if (key == "pid" && pid != nullptr && *pid > 0) return static_cast<uint64_t>(*pid);
  }
  return 1;
}

/// The upper half of the file's track ids. Of two processes they differ, so that their files can be
/// joined into one.
uint64_t track_base(uint64_t pid, int64_t unix_ns) {
  uint64_t hash = pid * 0x9E3779B97F4A7C15 + static_cast<uint64_t>(unix_ns);
  hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9;
  return (hash >> 33) << 32;
}

class PerfettoWriter {
 public:
  PerfettoWriter(const TraceLog& log, ByteSink& sink)
      : log_(log),
        packets_(sink),
        interning_(log),
        flows_(log),
        rows_(assign_lane_rows(log)),
        tracks_(nest_spans(log)),
        counters_(count_metrics(log)),
        clock_(log.has_unix_time ? clock_id::kRealtime : clock_id::kBoottime),
        pid_(process_id(log.summary)),
        process_uuid_(track_base(pid_, log.base_unix_ns)) {}

  void write() {
    write_clocks();
    describe_process();
    find_sm_tracks();
    for (size_t i = 0; i < tracks_.size(); ++i) describe_track(i);
    for (size_t i = 0; i < counters_.size(); ++i) describe_counter(i);
    for (size_t i = 0; i < tracks_.size(); ++i) write_track(i);
    for (size_t i = 0; i < counters_.size(); ++i) write_counter(i);
    write_summary();
    packets_.flush();
  }

 private:
  // ---- what stands on the tracks ----

  uint64_t track_uuid(size_t track) const { return process_uuid_ + 1 + track; }
  uint64_t counter_uuid(size_t counter) const { return track_uuid(tracks_.size() + counter); }
  uint64_t unix_ns(int64_t host_ns) const {
    return static_cast<uint64_t>(log_.base_unix_ns + (host_ns - log_.base_host_ns));
  }

  void add_packet() {
    packets_.add(packet_.view());
    packet_.clear();
  }

  void put_clock(uint64_t id, uint64_t timestamp, bool is_incremental = false) {
    part_.clear();
    part_.varint_field(clock::kId, id);
    part_.varint_field(clock::kTimestamp, timestamp);
    if (is_incremental) part_.varint_field(clock::kIsIncremental, 1);
    message_.bytes_field(snapshot::kClocks, part_.view());
  }

  /// Unix time is the time of the trace, where it is known: files of several processes then agree.
  void write_clocks() {
    message_.clear();
    put_clock(clock_, unix_ns(log_.base_host_ns));
    if (!log_.is_read()) {
      put_clock(clock_id::kMonotonic, static_cast<uint64_t>(log_.base_host_ns));
    }
    message_.varint_field(snapshot::kPrimaryClock, clock_);
    packet_.varint_field(packet::kSequenceId, kMainSequence);
    packet_.bytes_field(packet::kClockSnapshot, message_.view());
    add_packet();
  }

  void add_description() {
    packet_.varint_field(packet::kSequenceId, kMainSequence);
    packet_.bytes_field(packet::kTrackDescriptor, message_.view());
    add_packet();
  }

  void describe_process() {
    part_.clear();
    part_.varint_field(process::kPid, pid_);
    std::string_view name = format::kProcessName;
    for (const auto& [key, value] : log_.summary.header) {
      if (const auto* text = std::get_if<std::string>(&value.data)) {
        if (key == "session" && !text->empty()) name = *text;
      } else if (const auto* words = std::get_if<Value::List>(&value.data)) {
        if (key == "command") describe_command(*words);
      }
    }
    part_.bytes_field(process::kName, interning_.valid(name));
    message_.clear();
    message_.varint_field(track::kUuid, process_uuid_);
    message_.bytes_field(track::kProcess, part_.view());
    message_.varint_field(track::kChildOrdering, track::kExplicitOrder);
    add_description();
  }

  void describe_command(const Value::List& words) {
    for (const Value& word : words) {
      const auto* text = std::get_if<std::string>(&word.data);
      if (text != nullptr) part_.bytes_field(process::kCommand, interning_.valid(*text));
    }
  }

  void describe_track(size_t index) {
    const Track& track = tracks_[index];
    const LaneRow& row = rows_[track.lane];
    const bool is_host = log_.lanes[track.lane].kind == LaneKind::kHost;
    if (track.is_first_of_lane) first_track_ = index;
    const uint64_t parent = row.process.empty() ? process_uuid_ : cta_uuid(row);
    message_.clear();
    message_.varint_field(track::kUuid, track_uuid(index));
    if (is_host && track.is_first_of_lane) {
      part_.clear();
      part_.varint_field(thread::kPid, pid_);
      const uint64_t id = log_.lanes[track.lane].system_id;
      part_.varint_field(thread::kTid, id != 0 ? id : row.thread_id + 1);  // 0 is the idle thread's
      part_.bytes_field(thread::kName, row.name);
      message_.bytes_field(track::kThread, part_.view());
    } else {
      message_.varint_field(track::kParentUuid, is_host ? track_uuid(first_track_) : parent);
      message_.bytes_field(track::kName, row.name);  // equal names are drawn as one row
      message_.varint_field(track::kSiblingRank, static_cast<uint64_t>(row.sort_index));
    }
    add_description();
  }

  void find_sm_tracks() {
    for (size_t i = 0; i < tracks_.size(); ++i) {
      const uint32_t lane = tracks_[i].lane;
      if (log_.lanes[lane].kind == LaneKind::kSm) {
        sm_tracks_.try_emplace(rows_[lane].name, track_uuid(i));
      }
    }
  }

  /// The track that the warps of a CTA stand below, described when first asked for: itself below
  /// that of its multiprocessor.
  uint64_t cta_uuid(const LaneRow& row) {
    const uint64_t next = counter_uuid(counters_.size() + cta_tracks_.size());
    const auto [found, is_new] = cta_tracks_.try_emplace(row.process, next);
    if (!is_new) return found->second;
    const auto sm = sm_tracks_.find(row.sm);
    message_.clear();
    message_.varint_field(track::kUuid, next);
    message_.varint_field(track::kParentUuid, sm == sm_tracks_.end() ? process_uuid_ : sm->second);
    message_.bytes_field(track::kName, interning_.valid(row.process));
    message_.varint_field(track::kSiblingRank, static_cast<uint64_t>(row.sort_index));
    message_.varint_field(track::kChildOrdering, track::kExplicitOrder);
    add_description();
    return next;
  }

  void describe_counter(size_t index) {
    message_.clear();
    message_.varint_field(track::kUuid, counter_uuid(index));
    message_.varint_field(track::kParentUuid, process_uuid_);
    message_.bytes_field(track::kName, interning_.valid(*counters_[index].name));
    message_.bytes_field(track::kCounter, {});
    message_.varint_field(track::kSiblingRank, rows_.size() + index);
    add_description();
  }

  // ---- sequences: one a track, with a clock that counts from event to event ----

  void begin_sequence(uint64_t uuid, int64_t first_ns) {
    interning_.begin_sequence();
    ++sequence_;
    last_ns_ = first_ns;
    message_.clear();
    put_clock(clock_, unix_ns(first_ns));
    put_clock(clock_id::kIncremental, unix_ns(first_ns), true);
    packet_.varint_field(packet::kSequenceId, sequence_);
    packet_.varint_field(packet::kSequenceFlags, flags::kStateCleared);
    packet_.bytes_field(packet::kClockSnapshot, message_.view());
    part_.clear();
    part_.varint_field(event::kTrackUuid, uuid);
    message_.clear();
    message_.bytes_field(defaults::kTrackEvent, part_.view());
    message_.varint_field(defaults::kClockId, clock_id::kIncremental);
    packet_.bytes_field(packet::kDefaults, message_.view());
    add_packet();
  }

  void add_event(int64_t time_ns) {
    packet_.varint_field(packet::kTimestamp, static_cast<uint64_t>(time_ns - last_ns_));
    last_ns_ = time_ns;
    packet_.varint_field(packet::kSequenceId, sequence_);
    packet_.varint_field(packet::kSequenceFlags, flags::kNeedsState);
    if (interning_.has_new()) packet_.bytes_field(packet::kInternedData, interning_.take_new());
    packet_.bytes_field(packet::kTrackEvent, event_.view());
    event_.clear();
    add_packet();
  }

  void write_track(size_t index) {
    const Track& track = tracks_[index];
    begin_sequence(track_uuid(index), log_.spans[track.spans.front()].start_ns);
    std::vector<int64_t> open;  // ends, innermost last
    const auto close_until = [&](int64_t time_ns) {
      for (; !open.empty() && open.back() <= time_ns; open.pop_back()) {
        event_.varint_field(event::kType, event_type::kEnd);
        add_event(open.back());
      }
    };
    for (const uint32_t at : track.spans) {
      const TraceSpan& span = log_.spans[at];
      close_until(span.start_ns);
      int64_t end_ns = end_of(span);
      negative_count_ += span.end_ns < span.start_ns;
      if (!open.empty() && end_ns > open.back()) {
        end_ns = open.back();
        ++clipped_count_;
      }
      const bool is_moment = span.kind == SpanKind::kMark;
      add_span(at, is_moment ? event_type::kInstant : event_type::kBegin);
      if (!is_moment) open.push_back(end_ns);
    }
    close_until(INT64_MAX);
  }

  void add_span(uint32_t index, uint64_t type) {
    const TraceSpan& span = log_.spans[index];
    const bool has_path = log_.paths[span.path].parent != kNoPath;
    event_.varint_field(event::kType, type);
    if (has_path) {
      event_.varint_field(event::kNameIid, interning_.name(span.path));
    } else {
      event_.bytes_field(event::kName, interning_.valid(*log_.paths[span.path].name));
    }
    event_.varint_field(event::kCategoryIid, interning_.category(span.kind));
    if (has_path && log_.lanes[span.lane].kind != LaneKind::kHost) {  // host lanes nest by it
      part_.clear();
      part_.varint_field(annotation::kNameIid, interning_.call_stack_name());
      part_.varint_field(annotation::kStringIid, interning_.call_stack(span.path));
      event_.bytes_field(event::kAnnotation, part_.view());
    }
    if (span.attributes != 0) event_.append(interning_.attributes(span.attributes));
    if (span.metric_count > 0) put_metrics(span);
    if (flows_.contains(span)) put_flow(span.flow_id, span.is_flow_source);
    for (const FlowEnd& end : std::ranges::equal_range(log_.flow_ends, index, {}, &FlowEnd::span)) {
      put_flow(end.flow_id, end.is_source);
    }
    add_event(span.start_ns);
  }

  void put_flow(uint64_t id, bool is_source) {
    event_.fixed64_field(is_source ? event::kFlowId : event::kTerminatingFlowId,
                         process_uuid_ + id);
  }

  void put_metrics(const TraceSpan& span) {
    message_.clear();
    message_.varint_field(annotation::kNameIid, interning_.annotation_name(kMetricsKey));
    for (uint32_t i = 0; i < span.metric_count; ++i) {
      const Metric& metric = log_.metrics[span.first_metric + i];
      if (!is_finite(metric.value)) {
        ++non_finite_count_;
        continue;
      }
      part_.clear();
      part_.varint_field(annotation::kNameIid, interning_.annotation_name(*metric.key));
      std::visit([this](const auto& held) { put_value(held); }, metric.value);
      message_.bytes_field(annotation::kDictEntry, part_.view());
    }
    event_.bytes_field(event::kAnnotation, message_.view());
  }

  template <typename Held>
  void put_value(const Held& held) {
    if constexpr (std::is_arithmetic_v<Held>) {
      put_number(held, part_);
    } else if constexpr (std::is_same_v<Held, std::string>) {
      part_.bytes_field(annotation::kString, interning_.valid(held));
    } else {
      ProtoEncoder one;
      for (const auto number : held) {
        one.clear();
        put_number(number, one);
        part_.bytes_field(annotation::kArrayValue, one.view());
      }
    }
  }

  void write_counter(size_t index) {
    const Counter& counter = counters_[index];
    begin_sequence(counter_uuid(index), counter.samples.front().time_ns);
    for (const CounterSample& sample : counter.samples) {
      event_.varint_field(event::kType, event_type::kCounter);
      if (const auto* whole = std::get_if<int64_t>(&sample.total)) {
        event_.varint_field(event::kCounterValue, static_cast<uint64_t>(*whole));
      } else {
        event_.double_field(event::kDoubleCounterValue, as_double(sample.total));
      }
      add_event(sample.time_ns);
    }
  }

  // ---- what our own reader needs besides, on an event that people may look at ----

  void put_text(std::string_view name, uint32_t field, std::string_view text) {
    part_.clear();
    part_.bytes_field(annotation::kName, name);
    part_.bytes_field(field, text);
    event_.bytes_field(event::kAnnotation, part_.view());
  }

  std::string summary() const {
    if (log_.is_read()) return log_.summary_text;
    const WriteLosses found = {{format::kNonFiniteMetric, non_finite_count_},
                               {format::kNegativeDuration, negative_count_},
                               {format::kClippedSpan, clipped_count_},
                               {format::kInvalidText, interning_.invalid_text_count()}};
    return json_text([&](JsonEncoder& out) {
      begin_summary(log_.summary, found, 1, out);
      out.plain_key(format::kDevices);
      write_device_map(log_.summary.devices, out);
      out.end_map();
    });
  }

  void write_summary() {
    event_.varint_field(event::kType, event_type::kInstant);
    event_.varint_field(event::kTrackUuid, process_uuid_);
    event_.bytes_field(event::kName, format::kProton);
    put_text(format::kProton, annotation::kJson, summary());
    put_text(format::kProtonTables, annotation::kString,
             json_text([this](JsonEncoder& out) { write_tables(out); }));
    packet_.varint_field(packet::kTimestamp, unix_ns(first_ns()));
    packet_.varint_field(packet::kClockId, clock_);
    packet_.varint_field(packet::kSequenceId, kMainSequence);
    packet_.bytes_field(packet::kTrackEvent, event_.view());
    add_packet();
  }

  int64_t first_ns() const {
    int64_t first = log_.base_host_ns;
    for (const TraceSpan& span : log_.spans) first = std::min(first, span.start_ns);
    return first;
  }

  /// Base time, lanes, the lane of each track, and every path as its parent and name: as JSON.
  void write_tables(JsonEncoder& out) const {
    out.begin_map(0);
    if (log_.has_unix_time && !log_.spans.empty()) {
      out.pair(format::kBaseTime, log_.base_unix_ns);
    }
    out.pair("zero_ns", log_.base_unix_ns);
    out.plain_key("lanes");
    out.begin_list(0);
    for (size_t i = 0; i < rows_.size(); ++i) {
      out.begin_list(4);
      out.string(rows_[i].key);
      out.string(rows_[i].title);
      out.plain_string(kLaneKinds[static_cast<size_t>(log_.lanes[i].kind)]);
      out.integer(rows_[i].sort_index);
      out.end_list();
    }
    out.end_list();
    out.plain_key("tracks");
    out.begin_list(0);
    for (const Track& track : tracks_) out.integer(track.lane);
    out.end_list();
    write_paths(out);
    out.end_map();
  }

  void write_paths(JsonEncoder& out) const {
    std::unordered_map<const std::string*, size_t> numbers;
    std::vector<const std::string*> names;
    out.plain_key("paths");
    out.begin_list(0);
    for (const TracePath& path : log_.paths) {
      const auto [found, is_new] = numbers.try_emplace(path.name, names.size());
      if (is_new) names.push_back(path.name);
      out.integer(path.parent == kNoPath ? 0 : path.parent);
      out.integer(found->second);
    }
    out.end_list();
    out.plain_key(format::kNames);
    out.begin_list(0);
    for (const std::string* name : names) out.string(*name);
    out.end_list();
  }

  static constexpr uint64_t kMainSequence = 1;

  const TraceLog& log_;
  PacketSink packets_;
  PerfettoInterning interning_;
  PairedFlows flows_;
  std::vector<LaneRow> rows_;
  std::vector<Track> tracks_;
  std::vector<Counter> counters_;
  const uint64_t clock_;
  const uint64_t pid_;
  const uint64_t process_uuid_;
  std::unordered_map<std::string_view, uint64_t> sm_tracks_;   // by name -> uuid
  std::unordered_map<std::string_view, uint64_t> cta_tracks_;  // by name -> uuid
  size_t first_track_ = 0;  // of the lane whose tracks are being described
  uint64_t sequence_ = kMainSequence;
  int64_t last_ns_ = 0;
  ProtoEncoder packet_;   // the packet being built
  ProtoEncoder event_;    // its track event
  ProtoEncoder message_;  // a message in either
  ProtoEncoder part_;     // a message in that
  uint64_t non_finite_count_ = 0;
  uint64_t negative_count_ = 0;
  uint64_t clipped_count_ = 0;
};

}  // namespace

void write_perfetto(const TraceLog& log, ByteSink& out) { PerfettoWriter(log, out).write(); }

}  // namespace proton
