#include "bindings/nvtx_bindings.h"

#include <nanobind/stl/string.h>

#include "bindings/nvtx_handler.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace proton::bindings {
namespace {

struct Nvtx {};

}  // namespace

void add_nvtx(nb::module_& module) {
  nb::class_<Nvtx>(module, "Nvtx")
      .def_static("load", load_nvtx, "path"_a)
      .def_static("listen", listen_to_nvtx, "is_listening"_a)
      .def_static("module_count", count_nvtx_modules);
}

}  // namespace proton::bindings
