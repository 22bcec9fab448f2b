/// Finds the two fields of torch's RecordFunction that have no exported getter, by looking at calls
/// whose values are known; refuses where exactly one place does not remain for each.
///
/// The caller runs the calls, all of them on one thread, which holds the GIL:
///
///     watch_numbers(); sixteen times `a * b` with gradient, other operators between; stop();
///     on each of three other threads, one after the other: id = thread_id(), y = a * b;
///       number = y.grad_fn._sequence_nr();
///       back on this thread: watch_node(id, number); y.grad_fn(ones); stop();
///     fields();
///
/// A node that is called directly (`y.grad_fn`) starts no threads of the autograd engine. Calls
/// that other threads of the program make meanwhile are passed over.
#pragma once

#include <pthread.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <set>

#include "frameworks/torch/torch_library.h"

namespace proton {

/// One at a time, while the observer is off: torch's callbacks have no room for whose they are.
class Calibration {
 public:
  explicit Calibration(const TorchLibrary& library);
  ~Calibration();
  Calibration(const Calibration&) = delete;
  Calibration& operator=(const Calibration&) = delete;

  void watch_numbers();
  void watch_node(uint64_t forward_thread, uint64_t number);
  void stop();
  uint64_t thread_id() const { return library_.thread_id(); }  // of the calling thread

  /// Throws BackendError that says why the fields are not certain.
  RecordFields fields() const;

 private:
  static constexpr size_t kPlaces = 64;
  using Places = std::bitset<kPlaces>;
  static constexpr size_t kFewestOperators = 8;
  static constexpr size_t kFewestThreads = 3;

  static void on_start(const RecordFunction* function, RecordScope scope);
  void look_at(const RecordFunction* function, RecordScope scope);
  /// Of `places`, those that hold `value`.
  static Places holding(const RecordFunction* function, uint64_t value, Places places);
  static size_t only_place(const Places& places, const char* what);

  const TorchLibrary library_;
  pthread_t thread_{};  // that runs the calls
  uint64_t forward_thread_ = 0;
  uint64_t node_number_ = 0;
  std::set<uint64_t> numbers_;  // that operators had
  std::set<uint64_t> threads_;  // that nodes came from
  Places number_places_{~0ull};
  Places thread_places_{~0ull};
};

}  // namespace proton
