/// Python objects in the raw C-API: counted references, and raising the classes of proton.errors,
/// which are imported only then. GIL held.
#pragma once

#include <Python.h>

#include <string>
#include <utility>

#include "base/error.h"

namespace proton::bindings {

/// A counted reference, dropped at the end of its block.
class Reference {
 public:
  Reference() = default;
  explicit Reference(PyObject* owned) : object_(owned) {}
  Reference(Reference&& other) noexcept : object_(other.release()) {}
  Reference& operator=(Reference&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Reference() { Py_XDECREF(object_); }

  static Reference to(PyObject* borrowed) { return Reference(Py_XNewRef(borrowed)); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// Sets the Python error that `kind` stands for; returns null for `return raise(...)`.
PyObject* raise(ErrorKind kind, const std::string& text);
inline PyObject* raise(const Error& error) { return raise(error.kind(), error.what()); }

/// BackendUnavailable, with the driver's number for the error as `code`.
PyObject* raise_unavailable(const BackendError& error);

/// The text of `repr(object)`, for messages.
std::string repr(PyObject* object);

}  // namespace proton::bindings
