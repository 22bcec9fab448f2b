/// Which frames of a path a session shows. Paths are recorded whole: sessions of several kinds
/// share them, and each leaves out what is not its own when its tree or timeline is built.
#pragma once

#include "session/scopes/host_booking.h"
#include "session/scopes/path_table.h"

namespace proton {

class FrameFilter {
 public:
  explicit FrameFilter(ContextKind context) : context_(context) {}

  /// Whether there is anything to leave out.
  bool is_active() const { return is_framework(context_); }

  /// `above` is the frame that `frame` stands below; `is_library`: it is Python code that is not
  /// the program's own.
  bool hides(FrameId frame, FrameId above, bool is_library) const {
    if (!is_active()) return false;
    if (is_library) return true;
    // Without operators, the nodes of a backward pass stay: they say what ran.
    return context_ == ContextKind::kBlame && frame.kind() == FrameKind::kOperator &&
           above.kind() != FrameKind::kBackward;
  }

 private:
  ContextKind context_;
};

}  // namespace proton
