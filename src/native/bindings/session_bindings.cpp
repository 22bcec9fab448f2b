// The `Session` class of the module.
#include "bindings/objects/bindings.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <system_error>
#include <unordered_set>

#include "base/byte_sink.h"
#include "base/clock.h"
#include "base/demangle.h"
#include "base/text.h"
#include "bindings/in_kernel/record_map.h"
#include "bindings/objects/names.h"
#include "bindings/objects/python_objects.h"
#include "bindings/objects/session_object.h"
#include "bindings/objects/values.h"
#include "bindings/rescue.h"
#include "bindings/scopes/current.h"
#include "bindings/scopes/scopes.h"
#include "files/writers.h"
#include "model/losses.h"
#include "session/samples/sample_report.h"
#include "session/scopes/process.h"
#include "session/scopes/scope_events.h"
#include "session/snapshot/phase_copy.h"
#include "session/snapshot/trace_builder.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace proton::bindings {
namespace {

[[noreturn]] void fail(ErrorKind kind, const std::string& text) { throw Error(kind, text); }

ContextKind context_kind(const std::string& name) {
  if (name == "shadow") return ContextKind::kShadow;
  if (name == "python") return ContextKind::kPython;
  if (name == "blame") return ContextKind::kBlame;
  if (name == "ops") return ContextKind::kOps;
  fail(ErrorKind::kUsage, concat("unknown context ", quote(name),
                                 "; choose one of 'blame', 'ops', 'python', 'shadow'"));
}

const char* context_name(ContextKind kind) {
  constexpr const char* kNames[] = {"shadow", "python", "blame", "ops"};
  return kNames[static_cast<size_t>(kind)];
}

DataKind data_kind(const std::string& name) {
  if (name == "tree") return DataKind::kTree;
  if (name == "trace") return DataKind::kTrace;
  fail(ErrorKind::kUsage, concat("unknown data ", quote(name), "; choose one of 'trace', 'tree'"));
}

std::string name_of(nb::str name, Session& session) {
  bool is_exact;
  std::string text = to_utf8(name.ptr(), is_exact);
  if (!is_exact) session.losses.count(losses::kInvalidText);
  return text;
}

int depth(PySession& self) {
  const Session& session = opened(self);
  Current current;
  if (session.host.context() == ContextKind::kPython) {
    return static_cast<int>(process.paths.depth(process.hooks.capture_frames(current.thread())));
  }
  return static_cast<int>(process.paths.depth(scope_path(current.thread(), current.stack())));
}

void on_kernel(PySession& self, nb::str name, int64_t start_ns, int64_t end_ns,
               const std::string& device_type, uint32_t device_id, uint64_t lane,
               nb::object metrics, std::optional<ContextId> context) {
  Session& session = opened(self);
  if (!session.host.is_active() && !context.has_value()) return;
  SampleList samples;
  if (!read_metrics(metrics.ptr(), samples)) throw nb::python_error();
  drop_values(samples);  // a kernel that is over has its numbers
  Current current;
  const ContextStack& stack = current.stack();
  const OpEntry* op = session.device.uses_launch_metadata() ? stack.op.get() : nullptr;
  const std::string given = name_of(name, session);
  KernelEvent event;
  event.name = op != nullptr && !op->name.empty() ? std::string_view(op->name) : given;
  event.start_ns = start_ns;
  event.end_ns = end_ns;
  event.device_type = device_type;
  event.device_id = device_id;
  event.lane = lane;
  if (context.has_value()) {  // of an earlier launch, which has its own metadata
    event.name = given;
    event.context = *context;
    session.device.on_events({&event, 1});
    return;
  }
  const PathId path = launch_path(current.thread(), stack, session.host.context());
  session.device.add_kernel(path, current.thread().number, event,
                            op == nullptr ? nullptr : &op->metrics, &samples);
}

/// Whether a Python callable finds a name, as it stands in files or as people read it.
std::function<bool(const std::string&)> to_filter(nb::object include) {
  if (include.is_none()) return nullptr;
  // Snapshots copy the function without the GIL.
  const std::shared_ptr<PyObject> held(include.release().ptr(), [](PyObject* object) {
    nb::gil_scoped_acquire locked;
    Py_DECREF(object);
  });
  return [held](const std::string& name) {
    const auto is_found = [&](const std::string& text) {
      const nb::object answer = nb::handle(held.get())(nb::str(text.data(), text.size()));
      const int is_true = PyObject_IsTrue(answer.ptr());
      if (is_true < 0) throw nb::python_error();
      return is_true != 0;
    };
    const std::string readable = demangle(name);
    return is_found(name) || (readable != name && is_found(readable));
  };
}

void set_sampling(PySession& self, int64_t period_cycles, int64_t window_ns, int64_t every_ns,
                  nb::object include) {
  opened(self).device.set_sampling(
      {period_cycles, window_ns, every_ns, to_filter(std::move(include))});
}

constexpr const char* kAsBytes = "surrogateescape";

nb::list missing_code(PySession& self, int phase) {
  const Session& session = opened(self);
  const auto missing = [&] {
    nb::gil_scoped_release unlocked;
    return proton::missing_code(session, phase);
  }();
  nb::list list;
  for (const auto& [module, symbol] : missing) {
    list.append(nb::make_tuple(module, to_text(symbol, kAsBytes)));
  }
  return list;
}

nb::list sampled_files(PySession& self, int phase) {
  const Session& session = opened(self);
  const auto files = [&] {
    nb::gil_scoped_release unlocked;
    return proton::sampled_files(session, phase);
  }();
  nb::list list;
  for (const std::string& file : files) list.append(to_text(file, kAsBytes));
  return list;
}

/// Of kernels only, over all phases: copies have no code that somebody wrote.
nb::list kernel_names(PySession& self) {
  const Session& session = opened(self);
  const std::vector<std::string> names = session.device.read([](const DeviceTables& tables) {
    std::vector<std::string> found;
    std::unordered_set<NameId> known;
    for (const KernelEntry& kernel : tables.kernels.all()) {
      if (kernel.kind != EventKind::kKernel || !known.insert(kernel.name).second) continue;
      found.emplace_back(tables.kernels.names.text(kernel.name));
    }
    return found;
  });
  nb::list list;
  for (const std::string& name : names) list.append(to_text(name, kAsBytes));
  return list;
}

/// Formats the phase into `out`. The GIL is held for as little of it as can be.
void write_tree(const Session& session, void (*format)(const CallTree&, ByteSink&), int phase,
                Value::Map facts, ByteSink& out) {
  PhaseCopy copy(session, phase);
  {
    nb::gil_scoped_release unlocked;
    copy.copy_device_part();
  }
  copy.copy_host_part(std::move(facts));
  nb::gil_scoped_release unlocked;  // until the tree is freed
  const CallTree tree = build_tree(std::move(copy));
  format(tree, out);
}

/// Takes the phase as plain data, then formats it into `out` without the GIL.
void write_phase(PySession& self, const std::string& format, int phase, nb::handle header,
                 ByteSink& out) {
  const Session& session = opened(self);
  Value::Map facts = to_map(header);
  if (format == "chrome_trace" || format == "perfetto") {
    TraceLog taken = build_trace(session, phase, std::move(facts));
    nb::gil_scoped_release unlocked;
    const TraceLog log = std::move(taken);  // freed without the GIL, too
    return format == "perfetto" ? write_perfetto(log, out) : write_chrome_trace(log, out);
  }
  if (format != "hatchet" && format != "hatchet_msgpack") {
    fail(ErrorKind::kUsage, concat("unknown output format ", quote(format),
                                   "; choose one of 'chrome_trace', 'hatchet', "
                                   "'hatchet_msgpack', 'perfetto'"));
  }
  write_tree(session, format == "hatchet" ? write_hatchet : write_hatchet_msgpack, phase,
             std::move(facts), out);
}

/// What the sink holds, moved and freed without the GIL: it may be many megabytes.
nb::bytes take_bytes(MemorySink& sink) {
  std::string bytes = sink.take();
  PyObject* object = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(bytes.size()));
  if (object == nullptr) throw nb::python_error();
  char* const to = PyBytes_AS_STRING(object);  // nobody else knows the object yet
  {
    nb::gil_scoped_release unlocked;
    const std::string from = std::move(bytes);
    from.copy(to, from.size());
  }
  return nb::steal<nb::bytes>(object);
}

nb::bytes serialize(PySession& self, const std::string& format, int phase, nb::object header) {
  MemorySink sink;
  write_phase(self, format, phase, header, sink);
  return take_bytes(sink);
}

/// A chunk of a trace's journal: what came since the last one.
nb::tuple serialize_new(PySession& self, int phase, nb::object header, TraceCursor& cursor,
                        size_t limit) {
  TraceLog taken =
      build_new_trace(opened(self), phase, to_map(header), cursor, std::max<size_t>(limit, 1));
  MemorySink sink;
  {
    nb::gil_scoped_release unlocked;
    const TraceLog log = std::move(taken);
    write_perfetto(log, sink);
  }
  return nb::make_tuple(take_bytes(sink), cursor.is_at_end);
}

void write(PySession& self, nb::str path, const std::string& format, int phase, nb::object header) {
  nb::bytes encoded = nb::steal<nb::bytes>(PyUnicode_EncodeFSDefault(path.ptr()));
  if (!encoded.is_valid()) throw nb::python_error();
  try {
    FileSink sink(std::string(encoded.c_str(), encoded.size()));
    write_phase(self, format, phase, header, sink);
    nb::gil_scoped_release unlocked;
    sink.commit();
  } catch (const std::system_error& error) {
    errno = error.code().value();
    PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path.ptr());
    throw nb::python_error();
  }
}

void clear_phase(PySession& self, int phase) {
  Session& session = opened(self);
  if (!session.host.has_phase(phase)) {
    fail(ErrorKind::kPhaseNotFound, concat("session ", session.facts.id, " has no data for phase ",
                                           phase, "; the current phase is ", session.host.phase()));
  }
  session.clear_phase(phase);
}

nb::dict count_losses(PySession& self) {
  nb::dict losses;
  for (const auto& [kind, count] : opened(self).count_losses()) {
    losses[nb::str(kind.c_str(), kind.size())] = count;
  }
  return losses;
}

/// In every active session.
void mark_step(std::optional<std::string> name) {
  if (process.active_sessions.empty()) return;
  const int64_t time_ns = now_ns();
  const std::string text = std::move(name).value_or("");
  for (HostBooking* session : process.active_sessions) session->mark_step(time_ns, text);
}

nb::list warnings_of(PySession& self) {
  nb::list lines;
  for (const std::string& line : opened(self).losses.warnings()) {
    lines.append(nb::str(line.c_str(), line.size()));
  }
  return lines;
}

}  // namespace

ContextId launch_context(PySession& self) {
  Session& session = opened(self);
  Current current;
  const ContextStack& stack = current.stack();
  const PathId path = launch_path(current.thread(), stack, session.host.context());
  return process.contexts.intern(path, stack.op.get());
}

Session& opened(PySession& session) {
  if (session.core.host.is_closed()) {
    fail(ErrorKind::kSessionNotFound,
         concat("session ", session.core.facts.id, " is not open; it was finalized"));
  }
  return session.core;
}

void add_session(nb::module_& module) {
  nb::class_<TraceCursor>(module, "TraceCursor").def(nb::init<>());
  nb::class_<PySession>(module, "Session")
      .def(
          "__init__",
          [](PySession* self, int64_t id, const std::string& context, const std::string& data) {
            new (self) PySession(id, context_kind(context), data_kind(data));
          },
          "id"_a, nb::kw_only(), "context"_a, "data"_a)
      .def_prop_ro("id", [](PySession& self) { return self.core.facts.id; })
      .def_prop_rw(
          "uses_launch_metadata",
          [](PySession& self) { return self.core.device.uses_launch_metadata(); },
          [](PySession& self, bool is_used) { self.core.device.use_launch_metadata(is_used); })
      .def_prop_rw(
          "has_kernel_times", [](PySession& self) { return self.core.device.has_kernel_times(); },
          [](PySession& self, bool are_there) { self.core.device.set_kernel_times(are_there); })
      .def_prop_ro("is_active", [](PySession& self) { return opened(self).host.is_active(); })
      .def_prop_ro("context",
                   [](PySession& self) { return context_name(opened(self).host.context()); })
      .def_prop_ro("data",
                   [](PySession& self) {
                     return opened(self).host.data() == DataKind::kTree ? "tree" : "trace";
                   })
      .def_prop_ro("phase", [](PySession& self) { return opened(self).host.phase(); })
      .def_prop_ro("losses", count_losses)
      .def_prop_ro("warnings", warnings_of)
      .def_prop_ro("unseen_graphs",
                   [](PySession& self) {
                     const Session& session = opened(self);
                     nb::gil_scoped_release unlocked;
                     return session.device.read(
                         [](const DeviceTables& tables) { return tables.places.unseen_graphs(); });
                   })
      .def_prop_ro("event_count", [](PySession& self) { return opened(self).device.event_count(); })
      .def_prop_ro("is_empty", [](PySession& self) { return opened(self).is_empty(); })
      .def("activate", [](PySession& self) { opened(self).host.activate(); })
      .def("deactivate", [](PySession& self) { opened(self).host.deactivate(); })
      .def("close",
           [](PySession& self) {
             opened(self);
             forget_rescue(self);
             self.detach_recorder();
             self.detach();
             self.core.host.close();
           })
      .def("depth", depth)
      .def("advance_phase", [](PySession& self) { return opened(self).advance_phase(); })
      .def(
          "has_phase",
          [](PySession& self, int phase) { return opened(self).host.has_phase(phase); }, "phase"_a)
      .def(
          "seal_phase", [](PySession& self, int phase) { opened(self).device.seal_phase(phase); },
          "phase"_a)
      .def("clear_phase", clear_phase, "phase"_a)
      .def(
          "change_count",
          [](PySession& self, int phase) { return opened(self).change_count(phase); }, "phase"_a)
      .def(
          "is_settled",
          [](PySession& self, int phase) {
            const Session& session = opened(self);
            nb::gil_scoped_release unlocked;
            return session.device.is_complete(phase);
          },
          "phase"_a)
      .def("on_kernel", on_kernel, "name"_a, "start_ns"_a, "end_ns"_a, nb::kw_only(),
           "device_type"_a, "device_id"_a, "lane"_a = 0, "metrics"_a = nb::none(),
           "context"_a = nb::none())
      .def("launch_context", launch_context)
      .def("add_in_kernel", add_in_kernel, "decoded"_a, "record_map"_a, nb::kw_only(), "kernel"_a,
           "device_type"_a, "device_id"_a, "context"_a = nb::none(), "phase"_a = nb::none())
      .def(
          "add_device",
          [](PySession& self, const std::string& type, uint32_t id, nb::object attributes) {
            opened(self).facts.add_device(type, std::to_string(id), to_map(attributes));
          },
          "device_type"_a, "device_id"_a, "attributes"_a)
      .def(
          "add_autotune",
          [](PySession& self, nb::object record) {
            opened(self).facts.add_autotune({to_map(record)});
          },
          "record"_a)
      .def("set_sampling", set_sampling, nb::kw_only(), "period_cycles"_a, "window_ns"_a = 0,
           "every_ns"_a = 0, "include"_a = nb::none())
      .def("missing_code", missing_code, "phase"_a)
      .def("sampled_files", sampled_files, "phase"_a)
      .def("kernel_names", kernel_names)
      .def(
          "count_loss",
          [](PySession& self, const std::string& kind, uint64_t count) {
            opened(self).losses.count(kind, count);
          },
          "kind"_a, "count"_a = 1)
      .def(
          "warn",
          [](PySession& self, nb::str text) { opened(self).losses.warn(name_of(text, self.core)); },
          "text"_a)
      .def("serialize", serialize, "format"_a, "phase"_a, "header"_a)
      .def("serialize_new", serialize_new, "phase"_a, "header"_a, "cursor"_a, nb::kw_only(),
           "limit"_a)
      .def(
          "prepare_rescue",
          [](PySession& self, std::string path, std::string facts, nb::object header,
             std::string part_stem, std::string spare_stem, std::string part_suffix,
             std::string part_format, std::vector<int> written) {
            prepare_rescue(self, std::move(path), std::move(facts), std::move(header),
                           {std::move(part_stem), std::move(spare_stem), std::move(part_suffix),
                            std::move(part_format), std::move(written)});
          },
          nb::kw_only(), "path"_a, "facts"_a, "header"_a, "part_stem"_a, "spare_stem"_a,
          "part_suffix"_a, "part_format"_a, "written"_a)
      .def("write", write, "path"_a, "format"_a, "phase"_a, "header"_a);
  module.def("step", mark_step, "name"_a = nb::none());
}

}  // namespace proton::bindings
