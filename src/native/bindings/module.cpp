// The extension module `proton._native`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <pthread.h>

#include <string>

#include "backends/cupti/hub.h"
#include "backends/device_buffer/recorder/recorder.h"
#include "base/termination.h"
#include "bindings/nvtx_handler.h"
#include "bindings/objects/bindings.h"
#include "bindings/objects/names.h"
#include "bindings/objects/python_objects.h"
#include "bindings/rescue.h"
#include "bindings/scopes/current.h"
#include "bindings/scopes/modules.h"
#include "bindings/scopes/python_context.h"
#include "bindings/scopes/scopes.h"
#include "bindings/torch_context.h"
#include "session/scopes/process.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace proton::bindings {
namespace {

void require(bool is_done) {
  if (!is_done) throw nb::python_error();
}

/// The folder of the proton package, with a slash: frames of files below it are our own.
std::string package_folder() {
  const nb::object package = nb::module_::import_("proton");
  const auto paths = nb::list(package.attr("__path__"));
  bool is_exact;
  return to_utf8(nb::str(nb::handle(paths[0])).ptr(), is_exact) + "/";
}

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const BackendError& error) {
    raise_unavailable(error);
  } catch (const Error& error) {
    raise(error);
  }
}

struct Termination {};

/// Signals that end the process: see base/termination.h.
void add_termination(nb::module_& module) {
  constexpr double kNsPerSecond = 1e9;
  nb::class_<Termination>(module, "Termination")
      .def_static(
          "catch_signals",
          [](double limit_s) {
            termination::install(static_cast<int64_t>(limit_s * kNsPerSecond));
          },
          nb::kw_only(), "limit_s"_a)
      .def_static(
          "rescue_after",
          [](double patience_s) {
            termination::set_rescue(write_rescue, static_cast<int64_t>(patience_s * kNsPerSecond));
          },
          "patience_s"_a)
      .def_static("stop_rescue",
                  [] {
                    nb::gil_scoped_release unlocked;
                    termination::stop_rescue();
                  })
      .def_static("answer",
                  [] {
                    nb::gil_scoped_release unlocked;
                    return termination::answer();
                  })
      .def_static("caught", termination::caught_signal)
      .def_static("release_signals", termination::uninstall)
      .def_static("catches", termination::is_installed, "signal"_a)
      .def_static(
          "wait",
          [](double timeout_s) {
            nb::gil_scoped_release unlocked;
            return termination::wait(static_cast<int64_t>(timeout_s * kNsPerSecond));
          },
          "timeout_s"_a)
      .def_static("wake", termination::wake)
      .def_static("end_process", [](int signal) { termination::end(signal); }, "signal"_a);
}

struct Nvtx {};

void add_nvtx(nb::module_& module) {
  nb::class_<Nvtx>(module, "Nvtx")
      .def_static("load", load_nvtx, "path"_a)
      .def_static("listen", listen_to_nvtx, "is_listening"_a)
      .def_static("module_count", count_nvtx_modules);
}

}  // namespace

NB_MODULE(_native, module) {
  nb::set_leak_warnings(false);  // a script may end with sessions open; that is no leak of ours
  module.doc() = "The native core: scopes, sessions and the files they are written to.";
  process.hooks.intern = intern_name;
  process.hooks.clear_names = [] {
    clear_name_cache();
    clear_frame_tables();
    clear_modules();
  };
  init_python_context(package_folder());
  init_python_launch();
  init_framework_context();
  init_torch_context();
  require(init_current());
  require(add_scope_type(module.ptr()));
  require(add_scope_functions(module.ptr()));
  nb::register_exception_translator(translate);
  add_session(module);
  add_cupti(module);
  add_termination(module);
  add_device_values(module);
  add_nvtx(module);
  add_torch(module);
  add_columns(module);
  add_convert(module);
  add_cubin(module);
  add_device_buffer(module);
  add_device_memory(module);
  add_read(module);
  add_recorder(module);
  {
    Current main_thread;
  }  // the first to import is the lead until someone else starts a session
  pthread_atfork(nullptr, nullptr, [] {
    if (termination::is_rescuing()) return;  // its child writes what the process has
    forget_nvtx();
    forget_lead_frames();
    forget_torch();
    process.reset_after_fork();
    cupti::Hub::get().abandon();
    device_buffer::Recorder::get().abandon();
    termination::reset_after_fork();
  });
}

}  // namespace proton::bindings
