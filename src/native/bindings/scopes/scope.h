/// The type `proton.scope` and the functions beside it, in the raw C-API. GIL held.
#pragma once

#include <Python.h>

namespace proton::bindings {

/// Adds `Scope` and the scope functions to the module; false: a Python error is set.
bool add_scope_type(PyObject* module);
bool add_scope_functions(PyObject* module);

}  // namespace proton::bindings
