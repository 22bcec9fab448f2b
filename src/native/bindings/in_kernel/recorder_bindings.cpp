// `InKernel`: the recorder of kernels that record about themselves.
#include "bindings/objects/bindings.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "backends/cuda/devices.h"
#include "backends/device_buffer/recorder/recorder.h"
#include "base/error.h"
#include "base/text.h"
#include "bindings/in_kernel/record_map.h"
#include "bindings/objects/session_object.h"
#include "bindings/objects/values.h"
#include "session/scopes/process.h"
#include "session/scopes/scope_events.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace proton::device_buffer;

namespace proton::bindings {
namespace {

struct InKernel {};

constexpr auto recorder = &Recorder::get;

void load(const std::string& cuda_path) {
  nb::gil_scoped_release unlocked;
  recorder().load(cuda_path);
  recorder().reporter().set_source(context_source());
  recorder().pool().set_disown([](bool is_ours) { return std::exchange(is_disowned, is_ours); });
}

std::vector<uint32_t> numbers_in(nb::handle mapping, const char* name) {
  std::vector<uint32_t> numbers;
  const nb::object value = mapping.attr("get")(name, nb::tuple());
  for (const nb::handle each : value) numbers.push_back(nb::cast<uint32_t>(each));
  return numbers;
}

uint32_t add_kernel(const std::string& name, uint32_t scratch_bytes, nb::handle record_map,
                    double record_cycles, double empty_cycles, bool keeps_bytes) {
  RecordingKernel kernel;
  kernel.name = name;
  kernel.regions = regions_of(record_map);
  kernel.labels = labels_of(record_map);
  kernel.clock_bits = number_in(record_map, "clock_bits", kShortClockBits);
  kernel.ring_bytes = number_in(record_map, "ring_bytes", 0);
  kernel.stream_count =
      std::max<uint32_t>(1, static_cast<uint32_t>(numbers_in(record_map, "warps").size()));
  kernel.scratch_bytes = scratch_bytes;
  kernel.cta_every = number_in(record_map, "cta_every", 1);
  kernel.ctas = numbers_in(record_map, "ctas");
  const auto text = [&](const char* key) {
    return nb::cast<std::string>(nb::str(record_map.attr("get")(key, "")));
  };
  kernel.has_mailbox = text("strategy") == "flush" && text("memory") == "global";
  kernel.cost = {record_cycles, empty_cycles, is_shifted(record_map)};
  kernel.keeps_bytes = keeps_bytes;
  if (const std::string problem = kernel.geometry(1).problem(); !problem.empty()) {
    throw Error(ErrorKind::kUsage, concat("kernel ", quote(name), ": ", problem));
  }
  return recorder().add_kernel(std::move(kernel));
}

void start(PySession& self) {
  Session& session = opened(self);
  if (recorder().reporter().has(session.device)) {
    throw Error(ErrorKind::kUsage, concat("session ", session.facts.id,
                                          " already gets records of kernels; stop it first"));
  }
  SinkOptions options;
  options.with_frames = session.host.context() != ContextKind::kShadow;
  options.with_spans = session.host.data() == DataKind::kTrace;
  options.is_active = [&session] { return session.host.is_active(); };
  options.phase = [&session] { return session.host.phase(); };
  recorder().start(session.device, std::move(options));
  self.on_detach_recorder = [&session] {
    nb::gil_scoped_release unlocked;
    recorder().stop(session.device);
  };
}

bool flush(double limit_s) {
  const int64_t limit_ns = flush_limit_ns(limit_s);
  recorder().reporter().note_phases();
  nb::gil_scoped_release unlocked;
  return recorder().flush(limit_ns);
}

/// The frames of a context, outermost first.
nb::list frames_of(ContextId context) {
  process.resolve_frames();
  const PathId path = context >= kUnknownContext ? kRootPath : process.contexts.path(context);
  const std::vector<FrameId> frames = process.paths.frames(process.ranges.path(path));
  nb::list names;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    const NameId name =
        frame->is_position() ? process.frame_texts.by_position[frame->number()] : frame->number();
    names.append(to_text(process.names.text(name)));
  }
  return names;
}

/// What launch metadata calls the kernel there; empty: nothing.
std::string renamed(const Session& session, ContextId context) {
  uint32_t id;
  if (!session.device.uses_launch_metadata()) return {};
  const Op* op = process.contexts.op(context, id);
  return op == nullptr ? std::string() : op->name;
}

nb::tuple key_tuple(const SumKey& key) {
  return nb::make_tuple(key.phase, key.kernel, key.context, key.is_captured, key.device_id);
}

nb::dict region_dict(const RegionSum& sum) {
  nb::dict dict;
  dict["region"] = sum.region;
  dict["parent"] = sum.parent == device_buffer::kNoContext ? nb::object(nb::none())
                                                           : nb::object(nb::int_(sum.parent));
  dict["count"] = sum.count;
  dict["cycles"] = sum.cycles;
  dict["ns"] = sum.time_ns;
  dict["p10"] = sum.passages.quantile(0.1);
  dict["p50"] = sum.passages.quantile(0.5);
  dict["p90"] = sum.passages.quantile(0.9);
  dict["min"] = sum.min_cycles;
  dict["max"] = sum.max_cycles;
  dict["value_count"] = sum.values.count;
  dict["value_not_finite"] = sum.values.not_finite;
  dict["value_sum"] = sum.values.sum;
  dict["value_min"] = least_of(sum.values);
  dict["value_max"] = most_of(sum.values);
  return dict;
}

nb::dict sum_dict(const Session& session, const KernelSum& sum) {
  nb::dict dict;
  const std::string other_name = renamed(session, sum.key.context);
  dict["kernel"] = sum.key.kernel;
  dict["key"] = key_tuple(sum.key);
  dict["name"] = other_name.empty() ? recorder().kernel_name(sum.key.kernel) : other_name;
  dict["context"] = frames_of(sum.key.context);
  dict["is_captured"] = sum.key.is_captured;
  dict["device_id"] = sum.key.device_id;
  dict["launches"] = sum.launches;
  dict["dropped"] = sum.dropped;
  dict["replays"] = sum.replays;
  dict["recorded_warps"] = sum.recorded_warps;
  dict["clock_ghz"] = sum.cycles_per_ns;
  dict["record_cycles"] = sum.record_cycles;
  nb::list regions;
  for (const RegionSum& region : sum.regions) regions.append(region_dict(region));
  dict["regions"] = regions;
  nb::list ctas;
  for (const CtaTime& cta : sum.ctas) {
    ctas.append(nb::make_tuple(cta.cta, cta.sm, cta.start_ns, cta.end_ns));
  }
  dict["ctas"] = ctas;
  dict["losses"] = losses_of(sum.losses);
  return dict;
}

nb::list sums(PySession& self, int phase) {
  const Session& session = opened(self);
  nb::list list;
  for (const KernelSum& sum : recorder().reporter().sums(session.device, phase)) {
    list.append(sum_dict(session, sum));
  }
  return list;
}

nb::list take_kept(PySession& self) {
  nb::list list;
  for (const KeptBuffer& kept : recorder().reporter().take_kept(opened(self).device)) {
    nb::dict dict;
    dict["kernel"] = kept.kernel;
    dict["note"] = kept.note;
    dict["grid_ctas"] = kept.grid_ctas;
    dict["phase"] = kept.key.phase;
    dict["key"] = key_tuple(kept.key);
    dict["data"] = nb::bytes(kept.bytes->data(), kept.bytes->size());
    list.append(dict);
  }
  return list;
}

/// What device maps say of each device; initialises the driver.
nb::list devices() { return to_dicts(list_devices(recorder().driver())); }

nb::dict stats() {
  const RecorderStats stats = recorder().stats();
  nb::dict dict;
  dict["launches"] = stats.launches;
  dict["captured"] = stats.captured;
  dict["decoded"] = stats.decoded;
  dict["dropped"] = stats.dropped;
  dict["pool_bytes"] = stats.pool_bytes;
  dict["in_flight"] = stats.in_flight;
  dict["decode_ns"] = stats.decode_ns;
  return dict;
}

}  // namespace

void add_recorder(nb::module_& module) {
  nb::class_<InKernel>(module, "InKernel")
      .def_static("load", load, "cuda_path"_a)
      .def_static("is_loaded", [] { return recorder().is_loaded(); })
      .def_static("add_kernel", add_kernel, "name"_a, nb::kw_only(), "scratch_bytes"_a,
                  "record_map"_a, "record_cycles"_a = 0.0, "empty_cycles"_a = 0.0,
                  "keeps_bytes"_a = false)
      .def_static("start", start, "session"_a)
      .def_static(
          "stop", [](PySession& self) { self.detach_recorder(); }, "session"_a)
      .def_static(
          "allocate",
          [](size_t bytes, size_t alignment, uint64_t stream, bool in_host_memory) {
            return recorder().allocate(bytes, alignment, reinterpret_cast<CudaStream>(stream),
                                       in_host_memory);
          },
          "bytes"_a, "alignment"_a, "stream"_a, nb::kw_only(), "in_host_memory"_a = false)
      .def_static(
          "is_capturing",
          [](uint64_t stream) {
            int status = 0;
            const CudaDriver& driver = recorder().driver();
            const CudaResult result =
                driver.is_capturing(reinterpret_cast<CudaStream>(stream), &status);
            return result != kCudaSuccess || status != 0;
          },
          "stream"_a)
      .def_static("has_buffer", [] { return Recorder::has_buffer(); })
      .def_static(
          "set_only",
          [](PySession* session) {
            Recorder::set_only(session == nullptr ? nullptr : &opened(*session).device);
            is_disowned = session != nullptr;  // and not for other backends, either
          },
          "session"_a.none())
      .def_static("describe_device", [] { return recorder().describe_device(); })
      .def_static(
          "launched", [](uint32_t kernel, uint64_t note) { recorder().launched(kernel, note); },
          "kernel"_a, "note"_a = 0)
      .def_static("unread", [] { recorder().unread(); })
      .def_static(
          "allocate_scrap",
          [](size_t bytes, size_t alignment) { return recorder().pool().scrap(bytes, alignment); },
          "bytes"_a, "alignment"_a)
      .def_static("take_kept", take_kept, "session"_a)
      .def_static("flush", flush, "limit_s"_a)
      .def_static("sums", sums, "session"_a, "phase"_a)
      .def_static(
          "forget_phase",
          [](PySession& self, int phase) {
            recorder().reporter().forget_phase(self.core.device, phase);
          },
          "session"_a, "phase"_a)
      .def_static("devices", devices)
      .def_static("stats", stats)
      .def_static("take_problems", [] { return recorder().take_problems(); });
}

}  // namespace proton::bindings
