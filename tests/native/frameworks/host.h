/// A host for the observer: contexts as (parent, kind, name), and for every thread the context that
/// it says it is in.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "frameworks/torch/observer_host.h"
#include "model/ids.h"

namespace test_host {

using proton::ContextId;
using proton::FrameKind;

struct Row {
  ContextId parent;
  FrameKind kind;
  std::string name;
};

inline std::mutex mutex;
inline std::vector<Row> rows{{0, FrameKind::kRoot, ""}};
inline std::map<std::tuple<ContextId, FrameKind, std::string>, ContextId> index;
inline std::atomic<uint32_t> epoch{1};
inline std::atomic<uint64_t> asked{0};  // how often `below` was called
inline thread_local std::vector<ContextId> stack{0};

inline ContextId below(ContextId parent, FrameKind kind, std::string_view name) noexcept {
  std::lock_guard lock(mutex);
  ++asked;
  const auto [found, is_new] = index.try_emplace(std::tuple(parent, kind, std::string(name)),
                                                 static_cast<ContextId>(rows.size()));
  if (is_new) rows.push_back({parent, kind, std::string(name)});
  return found->second;
}

inline ContextId here() noexcept { return stack.back(); }

/// A frame of the calling thread, as a function of the program would be.
inline void enter(FrameKind kind, std::string_view name) noexcept {
  stack.push_back(stack.back() == proton::kNoContext ? proton::kNoContext
                                                     : below(stack.back(), kind, name));
}
inline void leave() noexcept { stack.pop_back(); }

/// `main/aten::mul/<backward>/MulBackward0`; `?`: no context.
inline std::string path(ContextId context) {
  if (context == proton::kNoContext) return "?";
  std::lock_guard lock(mutex);
  std::string text;
  for (; context != 0; context = rows.at(context).parent) {
    text = text.empty() ? rows.at(context).name : rows.at(context).name + "/" + text;
  }
  return text;
}

inline FrameKind kind(ContextId context) {
  std::lock_guard lock(mutex);
  return rows.at(context).kind;
}

inline ContextId enter_region(std::string_view name) noexcept {
  enter(FrameKind::kScope, name);
  return stack.back();
}

inline const proton::ObserverHost table{here, below, &epoch, enter_region, leave};

}  // namespace test_host
