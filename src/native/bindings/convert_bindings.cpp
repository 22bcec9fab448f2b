// What reading uses of the core where it is there: readable names, traces in Perfetto's format, and
// the number of the format.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/byte_sink.h"
#include "base/demangle.h"
#include "base/short_name.h"
#include "bindings/objects/bindings.h"
#include "bindings/objects/values.h"
#include "files/format.h"
#include "files/trace_layout.h"
#include "files/writers.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace proton::bindings {

namespace {

// Kind, name, place, CTA, multiprocessor, key and title, as in LaneRow.
using LaneColumns = std::tuple<std::string, std::string, int64_t, std::string, std::string,
                               std::string, std::string>;
using PathColumns = std::tuple<std::optional<uint32_t>, std::string>;
// Kind, lane, path, start, end, metrics, attributes.
using SpanColumns =
    std::tuple<std::string, uint32_t, uint32_t, int64_t, int64_t, nb::object, uint32_t>;

/// The kind that `names` have under `name`; the last for any other.
template <typename Kind, size_t count>
Kind kind_of(const std::string_view (&names)[count], const std::string& name) {
  const auto at = std::ranges::find(names, name) - std::begin(names);
  return static_cast<Kind>(std::min<size_t>(at, count - 1));
}

MetricValue to_metric(const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value.data)) return *number;
  if (const auto* number = std::get_if<uint64_t>(&value.data)) return *number;
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  std::vector<int64_t> integers;
  std::vector<double> floats;
  for (const Value& part : std::get<Value::List>(value.data)) {
    const MetricValue number = to_metric(part);
    floats.push_back(as_double(number));
    if (const auto* integer = std::get_if<int64_t>(&number)) integers.push_back(*integer);
  }
  if (integers.size() == floats.size()) return integers;
  return floats;
}

/// A trace that Python read, as a log for the writers.
class ReadLog {
 public:
  void add_lane(LaneColumns& lane) {
    auto& [kind, name, sort_index, process, sm, key, title] = lane;
    const uint64_t number = log.lanes.size();
    log.lanes.push_back({kind_of<LaneKind>(kLaneKinds, kind), number});
    log.rows.push_back({number, std::move(name), sort_index, std::move(process), std::move(sm),
                        std::move(key), std::move(title)});
  }

  void add_path(const PathColumns& path) {
    const auto& [parent, name] = path;
    log.paths.push_back({parent.value_or(kNoPath), intern(name)});
  }

  void add_span(const SpanColumns& columns) {
    const auto& [kind, lane, path, start_ns, end_ns, metrics, attributes] = columns;
    TraceSpan span{kind_of<SpanKind>(kSpanKinds, kind), lane, path, start_ns, end_ns};
    span.attributes = attributes;
    span.first_metric = static_cast<uint32_t>(log.metrics.size());
    for (const auto& [key, value] : to_map(metrics)) {
      log.metrics.push_back({intern(key), to_metric(value)});
    }
    span.metric_count = static_cast<uint32_t>(log.metrics.size()) - span.first_metric;
    log.spans.push_back(span);
  }

  void add_flow(uint32_t source, uint32_t target, uint64_t id) {
    log.flow_ends.push_back({source, id, true});
    log.flow_ends.push_back({target, id, false});
  }

  TraceLog log;

 private:
  const std::string* intern(const std::string& text) {
    const auto [known, is_new] = strings_.try_emplace(text, nullptr);
    if (is_new) known->second = &log.strings.emplace_back(text);
    return known->second;
  }

  std::unordered_map<std::string, const std::string*> strings_;
};

nb::bytes encode_perfetto(std::vector<LaneColumns> lanes, const std::vector<PathColumns>& paths,
                          const std::vector<SpanColumns>& spans,
                          const std::vector<nb::object>& attributes,
                          const std::vector<std::tuple<uint32_t, uint32_t, uint64_t>>& flows,
                          const std::vector<std::string>& properties, nb::handle header,
                          std::string summary, int64_t zero_ns, bool has_unix_time) {
  ReadLog read;
  TraceLog& log = read.log;
  for (LaneColumns& lane : lanes) read.add_lane(lane);
  for (const PathColumns& path : paths) read.add_path(path);
  for (const SpanColumns& span : spans) read.add_span(span);
  for (const nb::object& launch : attributes) log.attributes.push_back(to_map(launch));
  for (const auto& [source, target, id] : flows) read.add_flow(source, target, id);
  std::ranges::stable_sort(log.flow_ends, {}, &FlowEnd::span);
  for (const std::string& name : properties) {
    log.summary.metric_kinds[name] = MetricKind::kProperty;
  }
  log.summary.header = to_map(header);
  log.summary_text = std::move(summary);
  log.base_unix_ns = zero_ns;
  log.has_unix_time = has_unix_time;
  MemorySink sink;
  {
    const nb::gil_scoped_release unlocked;
    write_perfetto(log, sink);
  }
  const std::string file = sink.take();
  return nb::bytes(file.data(), file.size());
}

}  // namespace

void add_convert(nb::module_& module) {
  module.attr("FORMAT_VERSION") = format::kFormatVersion;
  module.def("demangle", demangle, "name"_a);
  module.def("short_name", short_name, "name"_a);
  module.def("encode_perfetto", encode_perfetto, nb::kw_only(), "lanes"_a, "paths"_a, "spans"_a,
             "attributes"_a, "flows"_a, "properties"_a, "header"_a, "summary"_a, "zero_ns"_a,
             "has_unix_time"_a);
}

}  // namespace proton::bindings
