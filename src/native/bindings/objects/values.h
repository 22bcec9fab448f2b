/// Python values in the core: bytes that Python lends, and JSON-like values (headers, autotune
/// records, device attributes) as the core's Value. GIL held; throws nanobind's python_error with
/// the Python error set.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/value.h"

namespace proton::bindings {

Value::Map to_map(nanobind::handle mapping);

/// A dict of each, of texts and whole numbers.
nanobind::list to_dicts(const std::vector<Value::Map>& maps);
/// Text that may be no UTF-8; `errors` as in Python's bytes.decode.
nanobind::object to_text(std::string_view bytes, const char* errors = "replace");
/// Nanoseconds of a time limit. Throws Error: it is none.
int64_t flush_limit_ns(double limit_s);

/// Copies: what Python holds does not depend on the life of what it came from.
template <typename T>
nanobind::list listed(const std::vector<T>& values) {
  nanobind::list list;
  for (const T& value : values) list.append(nanobind::cast(value, nanobind::rv_policy::copy));
  return list;
}

/// The bytes of an object with a buffer, held for as long as this lives.
class HeldBytes {
 public:
  explicit HeldBytes(nanobind::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nanobind::python_error();
  }
  HeldBytes(HeldBytes&& other) noexcept : view_(other.view_) { other.view_.obj = nullptr; }
  HeldBytes(const HeldBytes&) = delete;
  ~HeldBytes() { PyBuffer_Release(&view_); }  // does nothing where `obj` is null
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(view_.buf), static_cast<size_t>(view_.len)};
  }

 private:
  Py_buffer view_;
};

}  // namespace proton::bindings
