// What reading uses of the core where it is there: readable names, and the number of the format.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "base/demangle.h"
#include "bindings/objects/bindings.h"
#include "files/format.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace proton::bindings {

void add_convert(nb::module_& module) {
  module.attr("FORMAT_VERSION") = format::kFormatVersion;
  module.def("demangle", demangle, "name"_a);
}

}  // namespace proton::bindings
