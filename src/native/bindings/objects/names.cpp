#include "bindings/objects/names.h"

#include "base/text.h"
#include "bindings/objects/python_objects.h"
#include "model/losses.h"
#include "session/scopes/process.h"

namespace proton::bindings {
namespace {

StringCache scope_names;
StringCache metric_names;

}  // namespace

void StringCache::add(PyObject* text, uint32_t value) {
  if ((used_ + 1) * 2 > slots_.size()) {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(old.empty() ? 256 : old.size() * 2, Slot{});
    for (const Slot& slot : old) {
      if (slot.text != nullptr) place(slot);
    }
  }
  place({Py_NewRef(text), hash_of(text), value});
  ++used_;
}

void StringCache::place(const Slot& slot) {
  size_t at = index_of(slot.hash);
  while (slots_[at].text != nullptr) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = slot;
}

void StringCache::clear() {
  std::vector<Slot> old = std::move(slots_);
  slots_.clear();
  used_ = 0;
  for (const Slot& slot : old) Py_XDECREF(slot.text);
}

std::string to_utf8(PyObject* text, bool& is_exact) {
  Py_ssize_t size = 0;
  is_exact = true;
  if (const char* bytes = PyUnicode_AsUTF8AndSize(text, &size)) {
    return std::string(bytes, static_cast<size_t>(size));
  }
  PyErr_Clear();
  is_exact = false;
  Reference encoded(PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"));
  if (!encoded) {
    PyErr_Clear();
    return "\xEF\xBF\xBD";
  }
  // A surrogate is ED A0..BF xx; it becomes U+FFFD, three bytes too.
  std::string result(PyBytes_AS_STRING(encoded.get()), PyBytes_GET_SIZE(encoded.get()));
  for (size_t i = 0; i + 2 < result.size(); ++i) {
    const auto second = static_cast<unsigned char>(result[i + 1]);
    if (static_cast<unsigned char>(result[i]) == 0xED && second >= 0xA0) {
      result.replace(i, 3, "\xEF\xBF\xBD");
    }
  }
  return result;
}

PyObject* exact_string(PyObject* text, const char* what) {
  if (PyUnicode_CheckExact(text)) return Py_NewRef(text);
  if (PyUnicode_Check(text)) return PyUnicode_FromObject(text);
  return PyErr_Format(PyExc_TypeError, "%s must be a string, not %s", what, Py_TYPE(text)->tp_name);
}

namespace {

[[gnu::noinline]] NameId add_name(PyObject* name) {
  bool is_exact;
  const NameId id = process.names.intern(to_utf8(name, is_exact));
  if (!is_exact) {
    process.invalid_names.resize(process.names.size());
    process.invalid_names[id] = 1;
  }
  scope_names.add(name, id);
  return id;
}

}  // namespace

NameId intern_name(void* text) {
  auto* name = static_cast<PyObject*>(text);
  const uint32_t* known = scope_names.find(name);
  return known != nullptr ? *known : add_name(name);
}

void clear_name_cache() { scope_names.clear(); }

namespace {

[[gnu::noinline]] std::optional<MetricId> add_metric_name(PyObject* name) {
  if (!PyUnicode_Check(name)) {
    raise(ErrorKind::kMetricType,
          concat("metric name ", repr(name), " is not a string; give the metric a name"));
    return std::nullopt;
  }
  Reference exact(exact_string(name, "metric name"));
  if (!exact) return std::nullopt;
  bool is_exact;
  try {
    const MetricId id = process.metric_names.intern(to_utf8(exact.get(), is_exact));
    if (!is_exact) process.count_loss(losses::kInvalidText);
    if (metric_names.find(exact.get()) == nullptr) metric_names.add(exact.get(), id);
    return id;
  } catch (const Error& error) {
    raise(error);
    return std::nullopt;
  }
}

}  // namespace

std::optional<MetricId> intern_metric_name(PyObject* name) {
  if (PyUnicode_CheckExact(name)) [[likely]] {
    if (const uint32_t* known = metric_names.find(name)) return *known;
  }
  return add_metric_name(name);
}

}  // namespace proton::bindings
