/// Finds the two fields of torch's RecordFunction that have no exported getter, by looking at calls
/// whose values are known; refuses where exactly one place does not remain for each.
///
/// The caller runs the calls, all of them on one thread, which holds the GIL:
///
///     watch_numbers(); sixteen times `a * b` with gradient, other operators between; stop();
///     on each of three other threads, one after the other: id = thread_id(), y = a * b;
///       back on this thread: watch_threads(id); y.grad_fn(ones); stop();
///     fields();
///
/// A node that is called directly (`y.grad_fn`) starts no threads of the autograd engine. Calls
/// that other threads of the program make meanwhile are passed over.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>

#include "frameworks/torch/torch_library.h"

namespace proton {

/// Places in a RecordFunction, in units of 8 bytes.
struct RecordFields {
  size_t number;          // sequence number; -1: none
  size_t forward_thread;  // of a backward node: where its operator ran
};

/// One at a time: torch's callbacks have no room for whose they are.
class Calibration {
 public:
  explicit Calibration(const TorchLibrary& library);
  ~Calibration();
  Calibration(const Calibration&) = delete;
  Calibration& operator=(const Calibration&) = delete;

  void watch_numbers();
  void watch_threads(uint64_t forward_thread);
  void stop();
  uint64_t thread_id() const { return library_.thread_id(); }  // of the calling thread

  /// Throws BackendError that says why the fields are not certain.
  RecordFields fields() const;
};

}  // namespace proton
