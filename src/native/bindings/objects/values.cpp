#include "bindings/objects/values.h"

#include <nanobind/stl/string.h>

#include "base/error.h"
#include "base/text.h"
#include "bindings/objects/names.h"
#include "bindings/objects/python_objects.h"

namespace nb = nanobind;

namespace proton::bindings {
namespace {

constexpr int kDepthLimit = 100;

[[noreturn]] void refuse(const std::string& text) {
  raise(ErrorKind::kUsage, text);
  throw nb::python_error();
}

std::string text_of(nb::handle text) {
  bool is_exact;
  return to_utf8(text.ptr(), is_exact);
}

Value convert(nb::handle object, int depth);

Value::Map convert_map(nb::handle mapping, int depth) {
  Value::Map map;
  const nb::dict dict =
      nb::isinstance<nb::dict>(mapping)
          ? nb::borrow<nb::dict>(mapping)
          : nb::borrow<nb::dict>(nb::module_::import_("builtins").attr("dict")(mapping));
  for (auto [key, value] : dict) {
    const nb::object text =
        nb::isinstance<nb::str>(key) ? nb::borrow(key) : nb::object(nb::str(key));
    map.emplace_back(text_of(text), convert(value, depth + 1));
  }
  return map;
}

Value convert_integer(nb::handle object) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow != 0) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(object.ptr());
    if (!PyErr_Occurred()) return {uint64_t{large}};
    PyErr_Clear();
    const double rounded = PyLong_AsDouble(object.ptr());
    if (!PyErr_Occurred()) return {rounded};
    PyErr_Clear();  // beyond a double too: its digits are all that is left
    return {text_of(nb::str(object))};
  }
  return {static_cast<int64_t>(number)};
}

Value convert(nb::handle object, int depth) {
  if (depth > kDepthLimit) refuse("a header value nests more than 100 levels deep; flatten it");
  if (object.is_none()) return {};
  if (PyBool_Check(object.ptr())) return {object.ptr() == Py_True};
  if (PyLong_Check(object.ptr())) return convert_integer(object);
  if (PyFloat_Check(object.ptr())) return {PyFloat_AS_DOUBLE(object.ptr())};
  if (PyUnicode_Check(object.ptr())) return {text_of(object)};
  if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    Value::List list;
    for (nb::handle item : nb::borrow<nb::sequence>(object)) {
      list.push_back(convert(item, depth + 1));
    }
    return {std::move(list)};
  }
  if (PyMapping_Check(object.ptr())) return {convert_map(object, depth)};
  refuse(concat("header value ", repr(object.ptr()),
                " is not plain; give None, numbers, strings, lists and dicts"));
}

}  // namespace

Value::Map to_map(nb::handle mapping) { return convert_map(mapping, 0); }

nb::list to_dicts(const std::vector<Value::Map>& maps) {
  nb::list list;
  for (const Value::Map& map : maps) {
    nb::dict entry;
    for (const auto& [key, value] : map) {
      if (const auto* text = std::get_if<std::string>(&value.data)) entry[key.c_str()] = *text;
      if (const auto* number = std::get_if<int64_t>(&value.data)) entry[key.c_str()] = *number;
    }
    list.append(entry);
  }
  return list;
}

nb::object to_text(std::string_view bytes, const char* errors) {
  const auto size = static_cast<Py_ssize_t>(bytes.size());
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), size, errors));
}

int64_t flush_limit_ns(double limit_s) {
  if (!(limit_s > 0) || limit_s > 1e9) {
    throw Error(ErrorKind::kUsage, "a flush needs a time limit above 0 and below 1e9 seconds");
  }
  return static_cast<int64_t>(limit_s * 1e9);
}

}  // namespace proton::bindings
