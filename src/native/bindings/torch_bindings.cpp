// torch as a framework: its observer, opened and calibrated step by step by proton/_torch.py, and
// what the core asks of it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <vector>

#include "bindings/objects/bindings.h"
#include "bindings/scopes/framework_context.h"
#include "bindings/scopes/modules.h"
#include "bindings/torch_context.h"
#include "frameworks/torch/calibration.h"
#include "frameworks/torch/observer.h"
#include "session/scopes/host_booking.h"
#include "session/scopes/process.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace proton::bindings {
namespace {

bool is_attached = false;

/// Whether a session that is active wants operators, or else backward work.
ObserverTier wanted_tier() {
  ObserverTier tier = ObserverTier::kOff;
  for (const HostBooking* session : process.active_sessions) {
    if (session->context() == ContextKind::kOps) return ObserverTier::kOps;
    if (is_framework(session->context())) tier = ObserverTier::kBlame;
  }
  return tier;
}

void follow_sessions() {
  if (is_attached && torch_observer.tier() != wanted_tier()) {
    torch_observer.set_tier(wanted_tier());
  }
}

void drain_operators() {
  if (!is_attached) return;
  std::vector<OperatorSum> sums = torch_observer.take_sums();
  std::ranges::sort(sums, {}, &OperatorSum::context);  // numbered as they were first seen
  for (const OperatorSum& sum : sums) {
    const PathId path = process.ranges.path(sum.context);
    for (HostBooking* session : process.active_sessions) {
      session->book_operator(path, sum.calls, sum.time_ns);
    }
  }
}

const ObserverHost host = {
    framework_here,
    [](ContextId parent, FrameKind kind, std::string_view name) noexcept {
      return process.ranges.below(parent, kind, name);
    },
    &process.epoch,
};

/// The observer on its way: a library that is open, and the search for its fields.
struct Opening {
  TorchLibrary library;
  Calibration calibration;

  explicit Opening(const std::string& path)
      : library(TorchLibrary::open(path)), calibration(library) {}
  void attach() {
    torch_observer.attach(library, calibration.fields(), host);
    is_attached = true;
    follow_sessions();
  }
};

nb::dict counts() {
  const ObserverCounts counts = torch_observer.counts();
  nb::dict result;
  result["backward_nodes"] = counts.backward_nodes;
  result["backward_by_neighbour"] = counts.backward_by_neighbour;
  result["unknown_forward"] = counts.unknown_forward;
  return result;
}

}  // namespace

void init_torch_context() {
  process.hooks.follow_sessions = follow_sessions;
  process.hooks.drain_operators = drain_operators;
}

void forget_torch() { torch_observer.reset_after_fork(); }

void add_torch(nb::module_& module) {
  nb::class_<Opening>(module, "TorchObserver")
      .def(nb::init<const std::string&>(), "path"_a)
      .def("watch_numbers", [](Opening& self) { self.calibration.watch_numbers(); })
      .def(
          "watch_node",
          [](Opening& self, uint64_t thread, uint64_t number) {
            self.calibration.watch_node(thread, number);
          },
          "forward_thread"_a, "number"_a)
      .def("stop", [](Opening& self) { self.calibration.stop(); })
      .def("thread_id", [](Opening& self) { return self.calibration.thread_id(); })
      .def("attach", &Opening::attach)
      .def_static("is_attached", [] { return is_attached; })
      .def_static("counts", counts)
      .def_static(
          "read_frames", [](bool is_wanted) { reads_frames = is_wanted; }, "is_wanted"_a)
      .def_static(
          "call_of_modules",
          [](nb::object code) {
            if (!PyCode_Check(code.ptr())) throw nb::type_error("a code object is needed");
            set_module_code(reinterpret_cast<PyCodeObject*>(code.ptr()));
          },
          "code"_a);
}

}  // namespace proton::bindings
