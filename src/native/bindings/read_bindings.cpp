// Readers of large traces, for Python's readers: columns in place of an object for every span.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/objects/bindings.h"
#include "files/event_scanner.h"
#include "files/file_text.h"
#include "files/packet_scanner.h"
#include "files/scanned_flow.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace proton::bindings {

namespace {

std::string_view view(const nb::bytes& bytes) {
  return {static_cast<const char*>(bytes.data()), bytes.size()};
}

nb::bytes to_bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

/// Numbers as the bytes of an array.
template <typename Number>
nb::bytes column(const std::vector<Number>& numbers) {
  return nb::bytes(numbers.data(), numbers.size() * sizeof(Number));
}

template <typename Number>
nb::bytes flow_column(const std::vector<ScannedFlow>& flows, Number ScannedFlow::* field) {
  std::vector<Number> found;
  found.reserve(flows.size());
  for (const ScannedFlow& flow : flows) found.push_back(flow.*field);
  return column(found);
}

nb::list to_list(const std::vector<std::string_view>& texts) {
  nb::list found;
  for (const std::string_view text : texts) found.append(to_bytes(text));
  return found;
}

/// The columns that both kinds of traces end in.
template <typename Columns>
nb::dict span_columns(const Columns& found) {
  nb::dict columns;
  columns["shape"] = column(found.shape);
  columns["lane"] = column(found.lane);
  columns["start_ns"] = column(found.start_ns);
  columns["duration_ns"] = column(found.duration_ns);
  columns["source"] = flow_column(found.flows, &ScannedFlow::source);
  columns["target"] = flow_column(found.flows, &ScannedFlow::target);
  columns["flow_id"] = flow_column(found.flows, &ScannedFlow::id);
  return columns;
}

std::optional<size_t> scan_packets(PacketScanner& scanner, const nb::bytes& block, size_t at) {
  const std::string_view text = view(block);
  const nb::gil_scoped_release unlocked;
  return scanner.scan(text, at);
}

nb::list shapes_of(const PacketScanner& scanner) {
  nb::list found;
  for (const SpanShape& shape : scanner.shapes) {
    found.append(nb::make_tuple(shape.sequence, shape.name_iid, shape.category_iid, shape.literal,
                                shape.annotations));
  }
  return found;
}

nb::object text_of(const PacketScanner& scanner, uint32_t sequence, uint8_t kind, uint64_t iid) {
  const auto found = scanner.text(sequence, static_cast<PacketScanner::Text>(kind & 3), iid);
  return found ? nb::object(to_bytes(*found)) : nb::none();
}

nb::dict order_spans(const PacketScanner& scanner, int64_t zero_ns,
                     const std::vector<uint32_t>& lanes, const std::vector<uint32_t>& ranks) {
  PacketScanner::Ordered found;
  {
    const nb::gil_scoped_release unlocked;
    found = scanner.ordered(zero_ns, lanes, ranks);
  }
  nb::dict columns = span_columns(found);
  columns["lanes"] = nb::cast(found.lanes);
  return columns;
}

std::optional<int64_t> first_start(const PacketScanner& scanner) {
  if (scanner.start_ns.empty()) return std::nullopt;
  return *std::ranges::min_element(scanner.start_ns);
}

void add_packet_scanner(nb::module_& module) {
  nb::class_<PacketScanner>(module, "PacketScanner")
      .def(nb::init<>())
      .def(
          "begin_sequence",
          [](PacketScanner& scanner, uint64_t id, uint64_t track, bool has_counter_track,
             bool is_incremental, int64_t last_ns, int64_t offset_ns) {
            return scanner.begin_sequence(
                id, {track, has_counter_track, is_incremental, last_ns, offset_ns});
          },
          nb::kw_only(), "id"_a, "track"_a, "has_counter_track"_a, "is_incremental"_a, "last_ns"_a,
          "offset_ns"_a)
      .def("scan", scan_packets, "block"_a, "at"_a)
      .def("shapes", shapes_of)
      .def("literals",
           [](const PacketScanner& scanner) { return to_list(scanner.literals.texts()); })
      .def("annotations",
           [](const PacketScanner& scanner) { return to_list(scanner.annotations.texts()); })
      .def("text", text_of, "sequence"_a, "kind"_a, "iid"_a)
      .def("first_ns", first_start)
      .def("skipped",
           [](const PacketScanner& scanner) {
             return std::tuple(scanner.other_types, scanner.lone_ends, scanner.unclosed_count());
           })
      .def("spans", order_spans, nb::kw_only(), "zero_ns"_a, "lanes"_a, "ranks"_a);
}

nb::list some_texts(const EventScanner& scanner, uint8_t part, size_t first, size_t count) {
  const std::array parts = {&scanner.heads, &scanner.arguments, &scanner.stacks};
  if (part >= parts.size()) throw nb::value_error("no such part of events");
  nb::list found;
  const std::vector<std::string_view>& texts = parts[part]->texts();
  for (size_t at = first; at < texts.size() && at - first < count; ++at) {
    found.append(to_bytes(texts[at]));
  }
  return found;
}

nb::tuple shape_columns(const EventScanner& scanner) {
  std::array<std::vector<uint32_t>, 3> parts;
  for (const EventScanner::Shape& shape : scanner.shapes) {
    parts[0].push_back(shape.head);
    parts[1].push_back(shape.arguments);
    parts[2].push_back(shape.stack);
  }
  return nb::make_tuple(column(parts[0]), column(parts[1]), column(parts[2]));
}

bool scan_events(EventScanner& scanner, const nb::bytes& text) {
  const std::string_view whole = view(text);
  const nb::gil_scoped_release unlocked;
  return scanner.scan(whole);
}

bool scan_event_file(EventScanner& scanner, const std::string& path) {
  const nb::gil_scoped_release unlocked;
  std::optional<FileText> text = FileText::read(path);
  return text && scanner.scan(text->view(), [&](size_t place) { text->release_before(place); });
}

using RoleColumns = std::tuple<uint8_t, uint32_t, uint32_t>;

nb::object bind_events(const EventScanner& scanner, const std::vector<RoleColumns>& roles) {
  std::vector<EventRole> given;
  given.reserve(roles.size());
  for (const auto& [kind, row, category] : roles) {
    given.push_back({static_cast<EventRole::Kind>(kind), row, category});
  }
  if (given.size() != scanner.shapes.size()) throw nb::value_error("a role for every shape");
  std::optional<EventScanner::Bound> found;
  {
    const nb::gil_scoped_release unlocked;
    found = scanner.bind(given);
  }
  if (!found) return nb::none();
  nb::dict columns = span_columns(*found);
  columns["rows"] = nb::cast(found->rows);
  columns["negative"] = found->negative;
  columns["unbound"] = found->unbound;
  columns["shift_us"] = found->shift_us;
  return columns;
}

void add_event_scanner(nb::module_& module) {
  nb::class_<EventScanner>(module, "EventScanner")
      .def(nb::init<>())
      .def("scan", scan_events, "text"_a)
      .def("scan_file", scan_event_file, "path"_a)
      .def("outside", [](const EventScanner& scanner) { return to_bytes(scanner.outside); })
      .def("texts", some_texts, "part"_a, "first"_a, "count"_a)
      .def("shapes", shape_columns)
      .def("counts", [](const EventScanner& scanner) { return column(scanner.count); })
      .def("lasts", [](const EventScanner& scanner) { return column(scanner.last); })
      .def("bind", bind_events, "roles"_a);
}

}  // namespace

void add_read(nb::module_& module) {
  add_packet_scanner(module);
  add_event_scanner(module);
}

}  // namespace proton::bindings
