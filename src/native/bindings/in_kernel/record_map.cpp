#include "bindings/in_kernel/record_map.h"

#include <nanobind/stl/string_view.h>

#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "bindings/scopes/names.h"
#include "model/losses.h"

namespace nb = nanobind;
using namespace proton::device_buffer;

namespace proton::bindings {

uint32_t number_in(nb::handle mapping, const char* name, uint32_t missing) {
  const nb::object value = mapping.attr("get")(name);
  uint32_t number;
  if (value.is_none()) return missing;
  if (nb::try_cast<uint32_t>(value, number)) return number;
  throw Error(ErrorKind::kUsage, concat("record map: ", name, " must be a number of 32 bits, not ",
                                        nb::repr(value).c_str()));
}

bool is_shifted(nb::handle record_map) { return record_map.attr("get")("time_shift").is(Py_True); }

namespace {

/// Kernels compiled before floats could be recorded say no type: theirs are integers.
bool has_floats(nb::handle region) {
  const nb::object type = region.attr("get")("value_type");
  if (type.is_none()) return false;
  const auto name = nb::isinstance<nb::str>(type) ? nb::cast<std::string_view>(type) : "";
  if (name == "i32" || name == "i64") return false;
  if (name == "f32" || name == "f64") return true;
  throw Error(ErrorKind::kUsage, concat("record map: value_type must be i32, i64, f32 or f64, not ",
                                        nb::repr(type).c_str()));
}

/// Of a record map, which is JSON: its strings live as long as it does.
std::string_view kind_of(nb::handle region) {
  const nb::object kind = region.attr("get")("kind");
  return nb::isinstance<nb::str>(kind) ? nb::cast<std::string_view>(kind) : std::string_view();
}

/// Iterations fill the loop they are in, where all of them are recorded or the first ones.
void note_turns(nb::handle record_map, std::vector<Region>& regions) {
  const nb::object described = record_map.attr("get")("regions", nb::tuple());
  std::vector<std::string_view> kinds;
  for (const nb::handle region : described) kinds.push_back(kind_of(region));
  size_t at = 0;
  for (const nb::handle region : described) {
    Region& turn = regions[at];
    if (kinds[at++] != "iteration" || number_in(region, "every", 1) != 1) continue;
    const uint32_t loop = number_in(region, "parent", kNoRegion);
    if (loop >= kinds.size() || kinds[loop] != "loop") continue;
    turn.loop = loop;
    turn.most_turns = number_in(region, "cap", 0);
  }
}

}  // namespace

/// Starts and ends of kind `event` do not nest.
std::vector<Region> regions_of(nb::handle record_map) {
  std::vector<Region> regions;
  if (!nb::hasattr(record_map, "get")) {
    throw Error(ErrorKind::kUsage, concat("a record map is a mapping with 'regions', not ",
                                          nb::repr(record_map).c_str()));
  }
  for (const nb::handle region : record_map.attr("get")("regions", nb::tuple())) {
    if (!nb::hasattr(region, "get")) {
      throw Error(ErrorKind::kUsage, concat("record map: region ", regions.size(),
                                            " is no mapping but ", nb::repr(region).c_str()));
    }
    regions.push_back({kind_of(region) == "event" ? Matching::kQueued : Matching::kNested,
                       number_in(region, "bits", 0), has_floats(region)});
  }
  note_turns(record_map, regions);
  return regions;
}

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
