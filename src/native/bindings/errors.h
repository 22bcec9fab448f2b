/// Raising the classes of proton.errors, which are imported only then. GIL held.
#pragma once

#include <Python.h>

#include <string>

#include "base/error.h"

namespace proton::bindings {

/// Sets the Python error that `kind` stands for; returns null for `return raise(...)`.
PyObject* raise(ErrorKind kind, const std::string& text);
inline PyObject* raise(const Error& error) { return raise(error.kind(), error.what()); }

/// BackendUnavailable, with the driver's number for the error as `code`.
PyObject* raise_unavailable(const BackendError& error);

/// The text of `repr(object)`, for messages.
std::string repr(PyObject* object);

}  // namespace proton::bindings
