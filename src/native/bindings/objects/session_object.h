/// The object behind Python's `Session`, for the bindings of backends. GIL held.
#pragma once

#include <cstdint>
#include <functional>

#include "session/booking/session.h"

namespace proton::bindings {

struct PySession;

/// Nothing is written for the session any more (rescue.h).
void forget_rescue(const PySession& session);

/// A core session and what only Python asks about it.
struct PySession {
  PySession(int64_t id, ContextKind context, DataKind data) : core(id, context, data) {}
  ~PySession() {
    forget_rescue(*this);
    detach_recorder();
    detach();
  }

  /// Has the backend that reports to the session let go of it.
  void detach() {
    auto leave = std::move(on_detach);
    on_detach = nullptr;
    if (leave) leave();
  }

  /// The same for the recorder of kernels, which may report beside another backend.
  void detach_recorder() {
    auto leave = std::move(on_detach_recorder);
    on_detach_recorder = nullptr;
    if (leave) leave();
  }

  Session core;
  std::function<void()> on_detach;  // set by a native backend
  std::function<void()> on_detach_recorder;
};

/// The core session, or Error: it was finalized.
Session& opened(PySession& session);

/// A number for where the caller's launches belong now.
ContextId launch_context(PySession& self);

}  // namespace proton::bindings
