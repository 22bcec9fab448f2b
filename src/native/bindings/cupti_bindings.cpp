// The `Cupti` class of the module: the hub that reports to sessions.
#include "bindings/objects/bindings.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "backends/cuda/devices.h"
#include "backends/cupti/driver/thread_cells.h"
#include "backends/cupti/hub.h"
#include "base/error.h"
#include "base/text.h"
#include "bindings/objects/session_object.h"
#include "bindings/objects/values.h"
#include "cubin/module_store.h"
#include "session/scopes/scope_events.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace proton::bindings {
namespace {

using cupti::Hub;

/// Hub calls wait for locks and for the driver, whose callbacks may want the GIL.
template <typename Call>
auto unlocked(Call call) {
  nb::gil_scoped_release released;
  return call();
}

uint32_t load(const std::string& cupti_path, const std::string& cuda_path) {
  return unlocked([&] { return Hub::get().load(cupti_path, cuda_path); });
}

bool per_graph(const std::string& graphs) {
  if (graphs == "graph") return true;
  if (graphs == "node") return false;
  throw Error(ErrorKind::kUsage, concat("unknown value of option 'graphs' ", quote(graphs),
                                        "; choose one of 'graph', 'node'"));
}

void set_active(Session& session, bool is_active) {
  const auto warnings = unlocked([&] { return Hub::get().set_active(session.device, is_active); });
  for (const std::string& warning : warnings) session.losses.warn(warning);
}

using SamplingNumbers = std::map<std::string, int64_t>;

/// From the names of SamplingOptions; what is left out is as it is there.
cupti::SamplingOptions sampling_options(const SamplingNumbers& given) {
  constexpr int64_t kFewest = 5, kMost = 31;  // exponents that CUPTI takes
  cupti::SamplingOptions options;
  for (const auto& [name, value] : given) {
    if (value < 0) {
      throw Error(ErrorKind::kUsage, concat("sampling ", quote(name), " is below 0: ", value));
    }
    if (name == "period_exponent") {
      options.period_exponent = static_cast<uint32_t>(value);
    } else if (name == "buffer_bytes") {
      options.buffer_bytes = static_cast<size_t>(value);
    } else if (name == "drain_ns") {
      options.drain_ns = value;
    } else if (name == "window_ns") {
      options.window_ns = value;
    } else if (name == "every_ns") {
      options.every_ns = value;
    } else {
      throw Error(ErrorKind::kUsage,
                  concat("unknown number of sampling ", quote(name),
                         "; choose among 'period_exponent', 'buffer_bytes', 'drain_ns', "
                         "'window_ns', 'every_ns'"));
    }
  }
  if (options.period_exponent < kFewest || options.period_exponent > kMost) {
    throw Error(ErrorKind::kUsage, concat("sampling 'period_exponent' is ", options.period_exponent,
                                          "; give one from ", kFewest, " to ", kMost));
  }
  if (options.drain_ns == 0 || options.buffer_bytes == 0 ||
      (options.every_ns != 0) != (options.window_ns != 0) || options.window_ns > options.every_ns) {
    throw Error(ErrorKind::kUsage,
                "sampling needs 'drain_ns' and 'buffer_bytes' above 0, and of 'window_ns' and "
                "'every_ns' both or none, the window not longer");
  }
  return options;
}

void start(PySession& self, const std::string& graphs, bool copies, bool unified_memory,
           size_t buffer_bytes, size_t value_bytes, bool graph_timing,
           const std::optional<SamplingNumbers>& sampling) {
  Session& session = opened(self);
  cupti::SinkOptions options;
  options.with_frames = session.host.context() != ContextKind::kShadow;
  options.with_launches = session.host.data() == DataKind::kTrace;
  options.with_copies = copies;
  options.with_migrations = unified_memory;
  options.per_graph = per_graph(graphs);
  options.value_bytes = value_bytes;
  options.with_graph_timing = graph_timing;
  if (sampling) options.sampling = sampling_options(*sampling);
  if (unlocked([&] { return Hub::get().has(session.device); })) {
    throw Error(ErrorKind::kUsage, concat("session ", session.facts.id,
                                          " already gets CUPTI's events; stop it first"));
  }
  unlocked([&] { Hub::get().start(session.device, options, buffer_bytes); });
  session.set_launch_counter(cupti::newest_correlation);
  session.device.set_launch_tracker([](CorrelationId after, CorrelationId until, bool with_frames) {
    return Hub::get().has_launches_under_way(after, until, with_frames);
  });
  process.graphs = {cupti::captured_count,        cupti::captured_since,  cupti::metrics_node_since,
                    Hub::attach_metrics,          Hub::captured_contexts, Hub::move_contexts,
                    &cupti::lead_captured_count()};
  self.on_detach = [&session] {
    session.host.set_activity_listener(nullptr);
    session.set_launch_counter(nullptr);
    session.device.set_launch_tracker(nullptr);
    unlocked([&] { Hub::get().stop(session.device); });
  };
  session.host.set_activity_listener(
      [&session](bool is_active) { set_active(session, is_active); });
  try {
    if (session.host.is_active()) set_active(session, true);
  } catch (...) {
    self.detach();
    throw;
  }
}

bool flush(double timeout_s, bool synchronize) {
  const int64_t limit_ns = flush_limit_ns(timeout_s);
  return unlocked([&] { return Hub::get().flush(limit_ns, synchronize); });
}

void expect_loaded() {
  if (Hub::get().is_loaded()) return;
  throw BackendError("cupti", "CUPTI is not loaded", "call Cupti.load first");
}

nb::list devices() {
  expect_loaded();
  return to_dicts(unlocked([] { return list_devices(Hub::get().library()); }));
}

int driver_version() {
  expect_loaded();
  return unlocked([] { return proton::driver_version(Hub::get().library()); });
}

nb::dict stats() {
  const cupti::HubStats stats = unlocked([] { return Hub::get().stats(); });
  nb::dict entries;
  entries["kernels"] = stats.reader.events.kernels;
  entries["copies"] = stats.reader.events.copies;
  entries["graphs"] = stats.reader.events.graphs;
  entries["incomplete"] = stats.reader.incomplete;
  entries["unknown"] = stats.reader.events.unknown;
  entries["dropped"] = stats.reader.dropped;
  entries["buffers"] = stats.reader.buffers;
  entries["buffer_bytes"] = stats.reader.buffer_bytes;
  entries["buffer_count"] = stats.buffer_count;
  entries["launches"] = stats.launches;
  entries["graph_nodes"] = stats.graph_nodes;
  entries["graph_refusals"] = stats.graph_refusals;
  entries["names"] = stats.reader.names;
  entries["values"] = stats.values;
  entries["value_bytes"] = stats.value_bytes;
  entries["clock_offset_ns"] = stats.reader.clock_offset_ns;
  entries["clock_residual_ns"] = stats.reader.clock_residual_ns;
  entries["samples"] = stats.sampling.samples;
  entries["dropped_samples"] = stats.sampling.dropped;
  entries["non_user_samples"] = stats.sampling.non_user;
  entries["sample_overflows"] = stats.sampling.overflows;
  entries["sample_reads"] = stats.sampling.reads;
  entries["sample_windows"] = stats.sampling.windows;
  entries["sample_switches"] = stats.sampling.switches;
  entries["sample_switches_put_off"] = stats.sampling.put_off;
  entries["longest_launch_hold_ns"] = stats.sampling.longest_hold_ns;
  entries["sampled_contexts"] = stats.sampling.contexts;
  entries["cubins"] = cubin::ModuleStore::get().size();
  entries["is_subscribed"] = stats.is_subscribed ? 1 : 0;
  return entries;
}

std::optional<std::string> or_none(std::string why) {
  if (why.empty()) return std::nullopt;
  return why;
}

std::optional<std::string> check_sampling() {
  return or_none(unlocked([] { return Hub::get().check_sampling(); }));
}

std::optional<std::string> probe_sampling() {
  return or_none(unlocked([] { return Hub::get().probe_sampling(); }));
}

/// Never released: there may be something to tell until the process ends.
PyObject* problem_listener = nullptr;

/// On the main thread, between two of its steps.
int tell_problems(void*) {
  const auto problems = unlocked([] { return Hub::get().sampler().take_problems(); });
  if (problems.empty()) return 0;
  try {
    nb::borrow(problem_listener)(problems);
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("proton: the listener to problems of sampling");
  }
  return 0;
}

void set_problem_listener(nb::callable listener) {
  PyObject* const before = std::exchange(problem_listener, listener.release().ptr());
  Py_XDECREF(before);
  // The driver's callbacks cannot wait for the GIL: who has it may be waiting for the driver.
  Hub::get().sampler().set_problem_hook([] {
    if (Py_IsInitialized()) Py_AddPendingCall(tell_problems, nullptr);
  });
}

void keep_cubin(nb::bytes cubin, const std::string& ptx) {
  const std::string_view image(cubin.c_str(), cubin.size());
  unlocked([&] { Hub::get().sampled_sinks().add_cubin(image, ptx); });
}

struct Cupti {};

}  // namespace

void add_cupti(nb::module_& module) {
  Hub::get().set_source(context_source());
  process.find_code = find_sampled_code;
  nb::class_<Cupti>(module, "Cupti")
      .def_static("load", load, "cupti_path"_a, "cuda_path"_a = "libcuda.so.1")
      .def_static("is_loaded", [] { return Hub::get().is_loaded(); })
      .def_static("start", start, "session"_a, nb::kw_only(), "graphs"_a = "node",
                  "copies"_a = true, "unified_memory"_a = false, "buffer_bytes"_a = 0,
                  "value_bytes"_a = 0, "graph_timing"_a = false, "sampling"_a = nb::none())
      .def_static("enable_hw_trace",
                  [] { return unlocked([] { return Hub::get().enable_hw_trace(); }); })
      .def_static("flush", flush, "timeout_s"_a = 10.0, nb::kw_only(), "synchronize"_a = true)
      .def_static("take_problems",
                  [] { return unlocked([] { return Hub::get().take_problems(); }); })
      .def_static("set_problem_listener", set_problem_listener, "listener"_a)
      .def_static("check_sampling", check_sampling)
      .def_static("probe_sampling", probe_sampling)
      .def_static("has_contexts", [] { return unlocked([] { return Hub::get().has_contexts(); }); })
      .def_static("add_cubin", keep_cubin, "cubin"_a, "ptx"_a = "")
      .def_static(
          "stop", [](PySession& self) { self.detach(); }, "session"_a)
      .def_static("detach", [] { return unlocked([] { return Hub::get().detach(); }); })
      .def_static("devices", devices)
      .def_static("driver_version", driver_version)
      .def_static("stats", stats);
}

}  // namespace proton::bindings
