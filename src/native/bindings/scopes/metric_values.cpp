// Metrics as users give them (a mapping of names to numbers, lists or tensors) into samples.
#include "bindings/scopes/scopes.h"

#include <cmath>

#include "backends/cupti/driver/thread_cells.h"
#include "backends/cupti/hub.h"
#include "base/error.h"
#include "base/text.h"
#include "bindings/objects/bindings.h"
#include "bindings/objects/names.h"
#include "bindings/objects/python_objects.h"
#include "model/losses.h"
#include "session/scopes/process.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace proton::bindings {
namespace {

/// A value whose reading is under way; whoever does not book it lets go of it.
struct PyDeviceValue {
  ValueId id;
  bool is_integer;  // the tensor's numbers
  uint32_t count;
  bool is_scalar;
  bool is_captured;
};

using cupti::Hub;

PyDeviceValue read_device_value(uint64_t address, uint32_t kind, uint32_t count,
                                int64_t stride_bytes, bool is_scalar, int device, uint64_t stream) {
  if (kind >= cupti::kElementKinds) {
    throw Error(ErrorKind::kUsage, concat("unknown kind of elements ", kind,
                                          "; give one from 0 to ", cupti::kElementKinds - 1));
  }
  cupti::ValueSource source;
  source.address = address;
  source.stride_bytes = stride_bytes;
  source.count = count;
  source.kind = static_cast<cupti::ElementKind>(kind);
  source.is_scalar = is_scalar;
  source.device = device;
  source.stream = reinterpret_cast<void*>(stream);
  PyDeviceValue value{0, !cupti::is_float(source.kind), count, is_scalar, false};
  nb::gil_scoped_release released;  // a full stream makes launches wait
  value.id = Hub::get().read_value(source, value.is_captured);
  return value;
}

/// Whether `object` is one; then `value` is it.
bool is_device_value(PyObject* object, PyDeviceValue& value) {
  return nb::try_cast<PyDeviceValue>(nb::handle(object), value);
}

PyObject* converter = nullptr;  // counted

constexpr const char* kRemedy = "give an int, a float or a list of them";

bool refuse(ErrorKind kind, MetricId metric, const std::string& why) {
  raise(kind, concat("metric ", quote(process.metric_names.name(metric).key), " ", why));
  return false;
}

bool read_integer(PyObject* value, MetricId metric, int64_t& number) {
  int overflow = 0;
  const long long result = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow != 0) {
    return refuse(ErrorKind::kUsage, metric, "does not fit into 64 bits; scale it down");
  }
  number = result;
  return true;
}

[[gnu::cold, gnu::noinline]] bool refuse_float(PyObject* value, MetricId metric) {
  return refuse(ErrorKind::kUsage, metric,
                concat("is ", repr(value), "; only finite numbers can be recorded"));
}

inline bool read_float(PyObject* value, MetricId metric, double& number) {
  number = PyFloat_AS_DOUBLE(value);
  return std::isfinite(number) || refuse_float(value, metric);
}

bool read_list(PyObject* value, MetricId metric, MetricValue& out) {
  const Py_ssize_t size = PySequence_Fast_GET_SIZE(value);
  if (size == 0) return refuse(ErrorKind::kUsage, metric, "is an empty list; leave it out");
  PyObject** items = PySequence_Fast_ITEMS(value);
  std::vector<int64_t> integers;
  std::vector<double> floats;
  bool has_float = false;
  for (Py_ssize_t i = 0; i < size; ++i) {
    int64_t integer = 0;
    double number = 0;
    if (PyFloat_Check(items[i])) {
      has_float = true;
      if (!read_float(items[i], metric, number)) return false;
    } else if (PyLong_Check(items[i])) {
      if (!read_integer(items[i], metric, integer)) return false;
      number = static_cast<double>(integer);
    } else {
      return refuse(ErrorKind::kMetricType, metric,
                    concat("has ", repr(items[i]), " in its list; ", kRemedy));
    }
    integers.push_back(integer);
    floats.push_back(number);
  }
  if (has_float) {
    out = std::move(floats);
  } else {
    out = std::move(integers);
  }
  return true;
}

bool is_plain(PyObject* value) {
  return PyFloat_Check(value) || PyLong_Check(value) || PyList_Check(value) ||
         PyTuple_Check(value) || PyUnicode_Check(value) || PyBytes_Check(value) || value == Py_None;
}

bool read_plain(PyObject* value, MetricId metric, MetricValue& out) {
  if (PyFloat_Check(value)) {
    double number;
    if (!read_float(value, metric, number)) return false;
    out = number;
    return true;
  }
  if (PyLong_Check(value)) {
    int64_t number;
    if (!read_integer(value, metric, number)) return false;
    out = number;
    return true;
  }
  if (PyList_Check(value) || PyTuple_Check(value)) return read_list(value, metric, out);
  const bool is_label = process.metric_names.name(metric).kind != MetricKind::kInclusive;
  if (is_label && PyUnicode_Check(value)) {
    bool is_exact;
    out = to_utf8(value, is_exact);
    if (!is_exact) process.count_loss(losses::kInvalidText);
    return true;
  }
  return refuse(
      ErrorKind::kMetricType, metric,
      concat("is ", repr(value), " of type ", quote(Py_TYPE(value)->tp_name), "; ", kRemedy));
}

bool force_type(MetricId metric, MetricValue& value) {
  const ForcedType forced = process.metric_names.name(metric).forced;
  if (forced == ForcedType::kFloat) {
    if (auto* number = std::get_if<int64_t>(&value)) value = static_cast<double>(*number);
    if (auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      value = std::vector<double>(list->begin(), list->end());
    }
  } else if (forced == ForcedType::kInteger) {
    std::vector<int64_t> integers;
    const auto convert = [&](double number) {
      if (std::fabs(number) >= 9.2e18) {
        return refuse(ErrorKind::kUsage, metric, "does not fit into 64 bits; scale it down");
      }
      integers.push_back(std::llround(number));
      return true;
    };
    if (auto* number = std::get_if<double>(&value)) {
      if (!convert(*number)) return false;
      value = integers[0];
    } else if (auto* list = std::get_if<std::vector<double>>(&value)) {
      for (double item : *list) {
        if (!convert(item)) return false;
      }
      value = std::move(integers);
    }
  }
  return true;
}

/// A value that is still on a device, with a zero of the type that it will have.
DeviceSample to_sample(MetricId metric, const PyDeviceValue& value) {
  const ForcedType forced = process.metric_names.name(metric).forced;
  const bool is_integer =
      forced == ForcedType::kInteger || (forced == ForcedType::kNone && value.is_integer);
  MetricValue zero;
  if (value.is_scalar) {
    zero = is_integer ? MetricValue(int64_t{0}) : MetricValue(0.0);
  } else if (is_integer) {
    zero = std::vector<int64_t>(value.count);
  } else {
    zero = std::vector<double>(value.count);
  }
  return {metric, value.id, std::move(zero), value.is_captured};
}

bool read_plain_value(PyObject* value, MetricId metric, SampleList& samples) {
  MetricValue number;
  if (!read_plain(value, metric, number) || !force_type(metric, number)) return false;
  samples.add(metric, std::move(number));
  return true;
}

bool read_value(PyObject* name, PyObject* value, MetricId metric, SampleList& samples) {
  if (is_plain(value) || converter == nullptr) return read_plain_value(value, metric, samples);
  Reference function = Reference::to(converter);
  Reference converted(PyObject_CallFunctionObjArgs(function.get(), name, value, nullptr));
  if (!converted) return false;
  PyDeviceValue on_device;
  if (!is_device_value(converted.get(), on_device)) {
    return read_plain_value(converted.get(), metric, samples);
  }
  samples.add(to_sample(metric, on_device));
  return true;
}

bool read_entry(PyObject* name, PyObject* value, SampleList& samples) {
  const std::optional<MetricId> metric = intern_metric_name(name);
  if (!metric) return false;
  if (PyFloat_CheckExact(value) &&
      process.metric_names.name(*metric).forced != ForcedType::kInteger) {
    double number;
    if (!read_float(value, *metric, number)) return false;
    samples.add(*metric, number);
    return true;
  }
  return read_value(name, value, *metric, samples);
}

bool check_entry(PyObject* name, PyObject* value) {
  const std::optional<MetricId> metric = intern_metric_name(name);
  if (!metric) return false;
  double number;
  if (PyFloat_CheckExact(value)) return read_float(value, *metric, number);
  MetricValue unused;
  return !is_plain(value) || read_plain(value, *metric, unused);
}

template <typename Visit>
bool for_each_metric(PyObject* metrics, Visit visit) {
  if (metrics == nullptr || metrics == Py_None) return true;
  if (!PyDict_Check(metrics)) {
    if (!PyMapping_Check(metrics) || !PyObject_HasAttrString(metrics, "keys")) {
      raise(ErrorKind::kMetricType,
            concat("metrics ", repr(metrics), " are no mapping; give a dict of names to numbers"));
      return false;
    }
    Reference copy(PyDict_New());
    return copy && PyDict_Update(copy.get(), metrics) == 0 && for_each_metric(copy.get(), visit);
  }
  PyObject* name;
  PyObject* value;
  Py_ssize_t position = 0;
  Py_ssize_t left = PyDict_GET_SIZE(metrics);
  while (left != 0 && PyDict_Next(metrics, &position, &name, &value)) {
    if (PyFloat_CheckExact(value) || PyLong_CheckExact(value)) {
      if (!visit(name, value)) return false;
      --left;
      continue;
    }
    left = -1;  // from here on the dict may change
    // Held: a converter may change the dict.
    Reference held_name = Reference::to(name);
    Reference held_value = Reference::to(value);
    if (!visit(name, value)) return false;
  }
  return true;
}

}  // namespace

bool read_metrics(PyObject* metrics, SampleList& samples) {
  return for_each_metric(
      metrics, [&](PyObject* name, PyObject* value) { return read_entry(name, value, samples); });
}

bool check_metrics(PyObject* metrics) { return for_each_metric(metrics, check_entry); }

void set_metric_converter(PyObject* function) {
  Reference old(converter);
  converter = function == Py_None ? nullptr : Py_XNewRef(function);
}

void add_device_values(nb::module_& module) {
  process.values = {
      [](ValueId id, const ValuePlace& place, std::span<const ValueTarget> targets) {
        Hub::get().commit_value(id, place, targets);
      },
      [](ValueId id) { Hub::get().drop_value(id); },
      cupti::last_launch,
  };
  nb::class_<PyDeviceValue>(module, "DeviceValue")
      .def_static("read", read_device_value, "address"_a, "kind"_a, "count"_a, "stride_bytes"_a,
                  "is_scalar"_a, "device"_a, "stream"_a)
      .def_static("is_possible", [] { return Hub::get().reads_values(); });
}

}  // namespace proton::bindings
