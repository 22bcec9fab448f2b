/// What we use of torch's library: functions found by name in the process, without torch's headers
/// and without linking it. Only a torch that the program has loaded is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace proton {

/// What to do about a torch that does not fit.
inline constexpr const char* kOtherTorch = "use a version of torch that Proton was tested with";

/// torch's at::RecordFunction: one call of an operator. Its layout is torch's own.
struct RecordFunction;

/// torch's RecordFunctionCallback: two functions, a probability, a flag for each kind of scope and
/// further flags. torch takes it by value and reads as much of it as its version has, so the flags
/// go on in zeroes.
struct RecordCallback {
  /// torch's smart pointer to an object of ours, of which there is none. It has a destructor, so
  /// that compilers return it as they return torch's.
  struct Object {
    void* none = nullptr;
    ~Object() {}
  };
  using Start = Object (*)(const RecordFunction* function);
  using End = void (*)(const RecordFunction* function, void* object);

  Start start;
  End end;
  double probability = 1.0;
  bool flags[48] = {};
};

/// Kinds of scopes: places in RecordCallback::flags.
enum class RecordScope : uint8_t { kFunction = 0, kBackward = 1, kScript = 2, kUser = 7 };

/// Functions of libtorch_cpu.
struct TorchLibrary {
  uint64_t (*add_callback)(RecordCallback callback);
  void (*disable_callback)(uint64_t handle);
  void (*reenable_callback)(uint64_t handle);
  const char* (*name)(const RecordFunction* function);
  uint64_t (*thread_id)();
  uint64_t (*next_number)();  // that the calling thread's next node gets

  // Where torch lacks one of these, what it answers is not known.
  bool (*is_grad_enabled)();
  int (*graph_task)();  // of the backward pass that the calling thread works for; -1: none
  bool (*is_async)(const RecordFunction* function);

  /// `path` of libtorch_cpu. Throws BackendError where it is not loaded or lacks a function.
  static TorchLibrary open(const std::string& path);
};

/// Places in a RecordFunction, in units of 8 bytes.
struct RecordFields {
  size_t number;          // sequence number; -1: none
  size_t forward_thread;  // of a backward node: where its operator ran
};

}  // namespace proton
