// The extension module `proton._native`.
#include <nanobind/nanobind.h>
#include <pthread.h>

#include <string>

#include "backends/cupti/hub.h"
#include "bindings/cupti_bindings.h"
#include "bindings/current.h"
#include "bindings/errors.h"
#include "bindings/names.h"
#include "bindings/python_context.h"
#include "bindings/python_launch.h"
#include "bindings/scope.h"
#include "bindings/session_bindings.h"
#include "session/process.h"

namespace nb = nanobind;

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

}  // namespace

NB_MODULE(_native, module) {
  nb::set_leak_warnings(false);  // a script may end with sessions open; that is no leak of ours
  module.doc() = "The native core: scopes, sessions and the files they are written to.";
  process.hooks.intern = intern_name;
  process.hooks.clear_names = [] {
    clear_name_cache();
    clear_frame_tables();
  };
  init_python_context(package_folder());
  init_python_launch();
  require(init_current());
  require(add_scope_type(module.ptr()));
  require(add_scope_functions(module.ptr()));
  nb::register_exception_translator(translate);
  add_session(module);
  add_cupti(module);
  {
    Current main_thread;
  }  // the first to import is the lead until someone else starts a session
  pthread_atfork(nullptr, nullptr, [] {
    process.reset_after_fork();
    cupti::Hub::get().abandon();
  });
}

}  // namespace proton::bindings
