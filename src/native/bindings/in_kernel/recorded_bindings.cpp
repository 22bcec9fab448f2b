#include "bindings/in_kernel/recorded_bindings.h"

#include <nanobind/stl/string_view.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "bindings/scopes/names.h"
#include "model/losses.h"

namespace nb = nanobind;

namespace proton::bindings {
namespace {

/// What spans and rows say of a region, by its id.
struct Named {
  std::string name;
  std::string source;
  bool is_event = false;
};

std::string text_in(nb::handle mapping, const char* key) {
  const nb::object found = mapping.attr("get")(key);
  bool is_exact;
  return nb::isinstance<nb::str>(found) ? to_utf8(found.ptr(), is_exact) : std::string();
}

std::vector<Named> names_of(nb::handle record_map) {
  std::vector<Named> names;
  if (!nb::hasattr(record_map, "get")) {
    throw Error(ErrorKind::kUsage, concat("a record map is a mapping with 'regions', not ",
                                          nb::repr(record_map).c_str()));
  }
  for (const nb::handle region : record_map.attr("get")("regions", nb::tuple())) {
    if (!nb::hasattr(region, "get")) {
      throw Error(ErrorKind::kUsage, concat("record map: region ", names.size(),
                                            " is no mapping but ", nb::repr(region).c_str()));
    }
    Named named{text_in(region, "name"), text_in(region, "file"),
                text_in(region, "kind") == "event"};
    uint32_t line = 0;
    nb::try_cast<uint32_t>(region.attr("get")("line", 0), line);
    if (line != 0) named.source = concat(named.source, ":", line);
    names.push_back(std::move(named));
  }
  return names;
}

RecordedLaunch to_launch(const device_buffer::DecodedBuffer& decoded,
                         const std::vector<Named>& names) {
  RecordedLaunch launch;
  launch.clock_ghz = decoded.cycles_per_ns;
  for (const device_buffer::RegionSummary& from : decoded.regions) {
    RecordedRegion region;
    if (from.region < names.size()) {
      region.name = names[from.region].name;
      region.source = names[from.region].source;
      region.is_event = names[from.region].is_event;
    }
    if (region.name.empty()) region.name = concat("<region ", from.region, ">");
    region.has_floats = from.values.is_float;
    region.parent = from.parent;
    region.cycles = from.cycles;
    region.time_ns = from.time_ns;
    launch.regions.push_back(std::move(region));
  }
  launch.warps.reserve(decoded.warps.size());
  for (const device_buffer::WarpSummary& warp : decoded.warps) {
    launch.warps.push_back(
        {warp.cta, warp.warp, warp.sm, warp.has_times, warp.start_ns, warp.end_ns});
  }
  launch.spans.reserve(decoded.spans.size());
  for (const device_buffer::PlacedSpan& span : decoded.spans) {
    launch.spans.push_back({span.context, span.warp, span.end_warp,
                            span.kind == device_buffer::RecordKind::kValue, span.start_ns,
                            span.end_ns, span.value});
  }
  return launch;
}

}  // namespace

void add_in_kernel(PySession& self, const device_buffer::DecodedBuffer& decoded,
                   nb::handle record_map, nb::str kernel, const std::string& device_type,
                   uint32_t device_id, std::optional<ContextId> context, std::optional<int> phase) {
  Session& session = opened(self);
  const std::vector<Named> names = names_of(record_map);
  bool is_exact;
  std::string name = to_utf8(kernel.ptr(), is_exact);
  if (!is_exact) session.count_loss(losses::kInvalidText);
  const ContextId place = context.has_value() ? *context : launch_context(self);
  nb::gil_scoped_release unlocked;
  if (session.data() == DataKind::kTrace && !decoded.is_host_time) {
    session.count_loss(losses::kUnplacedLaunch);  // on no axis that the trace has
    return;
  }
  RecordedLaunch launch = to_launch(decoded, names);
  launch.kernel = std::move(name);
  launch.context = place;
  launch.phase = phase;
  launch.device_type = device_type;
  launch.device_id = device_id;
  session.add_recorded(std::move(launch));
}

}  // namespace proton::bindings
