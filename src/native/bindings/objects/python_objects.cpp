#include "bindings/objects/python_objects.h"

namespace proton::bindings {
namespace {

const char* class_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kSessionNotFound:
      return "SessionNotFound";
    case ErrorKind::kPhaseNotFound:
      return "PhaseNotFound";
    case ErrorKind::kScopeMismatch:
      return "ScopeMismatch";
    case ErrorKind::kMetricType:
      return "MetricTypeError";
    case ErrorKind::kDataKind:
      return "DataKindError";
    default:
      return "UsageError";
  }
}

}  // namespace

PyObject* raise(ErrorKind kind, const std::string& text) {
  Reference module(PyImport_ImportModule("proton.errors"));
  if (!module) return nullptr;
  Reference type(PyObject_GetAttrString(module.get(), class_name(kind)));
  if (!type) return nullptr;
  Reference message(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  if (message) PyErr_SetObject(type.get(), message.get());
  return nullptr;
}

PyObject* raise_unavailable(const BackendError& error) {
  Reference module(PyImport_ImportModule("proton.errors"));
  if (!module) return nullptr;
  Reference type(PyObject_GetAttrString(module.get(), "BackendUnavailable"));
  Reference arguments(Py_BuildValue("(s)", error.backend().c_str()));
  Reference keywords(
      Py_BuildValue("{s:s,s:s}", "reason", error.what(), "remedy", error.remedy().c_str()));
  if (!type || !arguments || !keywords) return nullptr;
  Reference object(PyObject_Call(type.get(), arguments.get(), keywords.get()));
  Reference code(PyLong_FromLong(error.code()));
  if (!object || !code) return nullptr;
  if (PyObject_SetAttrString(object.get(), "code", code.get()) < 0) return nullptr;
  PyErr_SetObject(type.get(), object.get());
  return nullptr;
}

std::string repr(PyObject* object) {
  Reference text(PyObject_Repr(object));
  Reference bytes(text ? PyUnicode_AsEncodedString(text.get(), "utf-8", "backslashreplace")
                       : nullptr);
  if (!bytes) {
    PyErr_Clear();
    return "?";
  }
  return std::string(PyBytes_AS_STRING(bytes.get()), PyBytes_GET_SIZE(bytes.get()));
}

}  // namespace proton::bindings
