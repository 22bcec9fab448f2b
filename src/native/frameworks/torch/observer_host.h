/// What the observer of torch asks of whoever records, and how much it shall observe.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "model/call_tree.h"
#include "model/ids.h"

namespace proton {

/// What the observer asks of whoever records. All are called on any thread, with or without the
/// GIL, and none throws.
struct ObserverHost {
  /// Frames, modules, scopes and state of the calling thread, without operators.
  ContextId (*here)() noexcept;
  /// The context of a name below `parent`. The observer remembers what it was told, so that a
  /// thread asks once for each pair.
  ContextId (*below)(ContextId parent, FrameKind kind, std::string_view name) noexcept;
  /// Grows when contexts are made void; the observer forgets those of before.
  const std::atomic<uint32_t>* epoch;
  /// A region that the program names (record_function) begins on the calling thread: its context,
  /// with `here` below it until `leave`. kNoContext: the host does not keep it. Null: it keeps
  /// none.
  ContextId (*enter)(std::string_view name) noexcept = nullptr;
  void (*leave)() noexcept = nullptr;
};

enum class ObserverTier : uint8_t { kOff, kBlame, kOps };

}  // namespace proton
