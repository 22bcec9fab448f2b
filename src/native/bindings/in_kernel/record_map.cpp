#include "bindings/in_kernel/record_map.h"

#include <nanobind/stl/string_view.h>

#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "bindings/objects/names.h"
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
void note_turns(const std::vector<nb::object>& described, std::vector<Region>& regions) {
  std::vector<std::string_view> kinds;
  for (const nb::object& region : described) kinds.push_back(kind_of(region));
  size_t at = 0;
  for (const nb::object& region : described) {
    Region& turn = regions[at];
    if (kinds[at++] != "iteration" || number_in(region, "every", 1) != 1) continue;
    const uint32_t loop = number_in(region, "parent", kNoRegion);
    if (loop >= kinds.size() || kinds[loop] != "loop") continue;
    turn.loop = loop;
    turn.most_turns = number_in(region, "cap", 0);
  }
}

/// The regions of a record map, each of them a mapping. Throws Error.
std::vector<nb::object> described_regions(nb::handle record_map) {
  if (!nb::hasattr(record_map, "get")) {
    throw Error(ErrorKind::kUsage, concat("a record map is a mapping with 'regions', not ",
                                          nb::repr(record_map).c_str()));
  }
  std::vector<nb::object> regions;
  for (const nb::handle region : record_map.attr("get")("regions", nb::tuple())) {
    if (!nb::hasattr(region, "get")) {
      throw Error(ErrorKind::kUsage, concat("record map: region ", regions.size(),
                                            " is no mapping but ", nb::repr(region).c_str()));
    }
    regions.push_back(nb::borrow(region));
  }
  return regions;
}

std::string text_in(nb::handle mapping, const char* key) {
  const nb::object text = mapping.attr("get")(key);
  bool is_exact;
  return nb::isinstance<nb::str>(text) ? to_utf8(text.ptr(), is_exact) : std::string();
}

}  // namespace

/// Starts and ends of kind `event` do not nest.
std::vector<Region> regions_of(nb::handle record_map) {
  std::vector<Region> regions;
  const std::vector<nb::object> described = described_regions(record_map);
  for (const nb::object& region : described) {
    regions.push_back({kind_of(region) == "event" ? Matching::kQueued : Matching::kNested,
                       number_in(region, "bits", 0), has_floats(region), kNoRegion, 0,
                       region.attr("get")("overlaps").is(Py_True)});
  }
  note_turns(described, regions);
  return regions;
}

std::vector<RegionLabel> labels_of(nb::handle record_map) {
  std::vector<RegionLabel> labels;
  for (const nb::object& region : described_regions(record_map)) {
    RegionLabel label{text_in(region, "name"), text_in(region, "file"), kind_of(region) == "event"};
    uint32_t line = 0;
    nb::try_cast<uint32_t>(region.attr("get")("line", 0), line);
    if (line != 0) label.source = concat(label.source, ":", line);
    labels.push_back(std::move(label));
  }
  return labels;
}

void add_in_kernel(PySession& self, const device_buffer::DecodedBuffer& decoded,
                   nb::handle record_map, nb::str kernel, const std::string& device_type,
                   uint32_t device_id, std::optional<ContextId> context, std::optional<int> phase) {
  Session& session = opened(self);
  const std::vector<RegionLabel> labels = labels_of(record_map);
  bool is_exact;
  std::string name = to_utf8(kernel.ptr(), is_exact);
  if (!is_exact) session.losses.count(losses::kInvalidText);
  const ContextId place = context.has_value() ? *context : launch_context(self);
  nb::gil_scoped_release unlocked;
  if (session.host.data() == DataKind::kTrace && !decoded.is_host_time) {
    session.losses.count(losses::kUnplacedLaunch);  // on no axis that the trace has
    return;
  }
  RecordedLaunch launch = to_recorded_launch(decoded, labels, true);
  launch.kernel = std::move(name);
  launch.context = place;
  launch.phase = phase;
  launch.device_type = device_type;
  launch.device_id = device_id;
  session.device.add_regions(std::move(launch));
}

}  // namespace proton::bindings
