/// Metrics as users give them (a mapping of names to numbers, lists or tensors) into samples.
/// GIL held.
#pragma once

#include <Python.h>

#include "session/metrics/metric_table.h"

namespace proton::bindings {

/// Appends one sample per entry of `metrics` (a mapping, None or null). False: a Python error is
/// set, and `samples` holds those before the bad one.
bool read_metrics(PyObject* metrics, SampleList& samples);

/// Whether what can be judged without converting tensors is good; false: a Python error is set.
bool check_metrics(PyObject* metrics);

/// `function(name, value)` for values that are no number or list; null: none.
void set_metric_converter(PyObject* function);

}  // namespace proton::bindings
