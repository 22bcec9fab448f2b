/// Python strings as ids of the core's tables: one probe on the string's cached hash. GIL held.
#pragma once

#include <Python.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/ids.h"

namespace proton::bindings {

/// From strings to 32-bit numbers. Keeps one string object alive per distinct text.
class StringCache {
 public:
  /// The number of `text` (an exact str), or null; then `add` it.
  const uint32_t* find(PyObject* text) {
    if (slots_.empty()) return nullptr;
    const Py_hash_t hash = hash_of(text);
    for (size_t at = index_of(hash);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.text == nullptr) return nullptr;
      if (slot.text == text) return &slot.value;
      if (slot.hash == hash && PyUnicode_Compare(slot.text, text) == 0) return &slot.value;
    }
  }
  void add(PyObject* text, uint32_t value);
  void clear();

 private:
  struct Slot {
    PyObject* text = nullptr;  // counted
    Py_hash_t hash = 0;
    uint32_t value = 0;
  };

  static Py_hash_t hash_of(PyObject* text) {
    const Py_hash_t cached = reinterpret_cast<PyASCIIObject*>(text)->hash;
    return cached != -1 ? cached : PyObject_Hash(text);
  }
  size_t index_of(Py_hash_t hash) const {
    return (static_cast<size_t>(hash) ^ static_cast<size_t>(hash) >> 20) & (slots_.size() - 1);
  }
  void place(const Slot& slot);

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

/// `text` in UTF-8, with U+FFFD for lone surrogates; `is_exact` tells whether none was found.
std::string to_utf8(PyObject* text, bool& is_exact);

/// A str, or a plain copy of an instance of a subclass; null with TypeError naming `what`.
PyObject* exact_string(PyObject* text, const char* what);

/// For HostHooks: the id of a scope's name in Process::names.
NameId intern_name(void* text);
void clear_name_cache();

/// The id of a metric's name; nothing with a Python error set if it is no good name.
std::optional<MetricId> intern_metric_name(PyObject* name);

}  // namespace proton::bindings
