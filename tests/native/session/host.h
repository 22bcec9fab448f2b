/// A host for the core without Python: names are C strings, a mutex plays the GIL.
#pragma once

#include <mutex>
#include <string>

#include "session/booking/session.h"
#include "session/scopes/process.h"
#include "session/scopes/scope_events.h"
#include "session/snapshot/phase_copy.h"
#include "session/snapshot/trace_builder.h"

namespace host {

inline std::mutex& gil() {
  static std::mutex mutex;
  return mutex;
}

inline void install() {
  static const bool is_done = [] {
    auto& hooks = proton::process.hooks;
    hooks.intern = [](void* name) {
      return proton::process.names.intern(static_cast<const char*>(name));
    };
    hooks.holds_lock = [] { return false; };
    return true;
  }();
  (void)is_done;
}

/// The calling thread's state. GIL held.
inline proton::ThreadState& thread() {
  install();
  return proton::this_thread != nullptr ? *proton::this_thread : proton::process.threads.create();
}

inline proton::ScopeEntry& enter(const char* name, bool is_timed = false) {
  proton::ThreadState& here = thread();
  proton::ScopeEntry& entry = here.stack.push(&here, const_cast<char*>(name), nullptr);
  entry.is_timed = is_timed;
  if (proton::process.is_recording()) proton::record_enter(here, here.stack, entry);
  return entry;
}

inline void leave(const proton::SampleList& metrics = {}) {
  proton::ThreadState& here = thread();
  proton::ScopeEntry* entry = here.stack.pop();
  if (proton::process.is_recording()) {
    proton::publish(here, here.stack);
    proton::record_exit(here, *entry, metrics);
  }
  proton::drop_entry(entry);
}

/// A finished kernel "k" that starts at 100 ns.
inline proton::KernelEvent kernel(proton::ContextId context = proton::kRootPath,
                                  int64_t duration_ns = 10) {
  proton::KernelEvent event;
  event.context = context;
  event.name = "k";
  event.name_id = 1;
  event.start_ns = 100;
  event.end_ns = 100 + duration_ns;
  event.device_type = "FAKE";
  return event;
}

/// The newest phase as a save takes it: under the GIL, which is free now, for a part only.
inline proton::CallTree save(const proton::Session& session) {
  std::unique_lock lock(gil());
  proton::PhaseCopy copy(session, session.host.phase());
  lock.unlock();
  copy.copy_device_part();
  lock.lock();
  copy.copy_host_part({});
  lock.unlock();
  return proton::build_tree(std::move(copy));
}

/// One phase as a tree, all of it under the GIL, which the caller holds.
inline proton::CallTree tree(const proton::Session& session, int phase, proton::Value::Map header) {
  proton::PhaseCopy copy(session, phase);
  copy.copy_device_part();
  copy.copy_host_part(std::move(header));
  return proton::build_tree(std::move(copy));
}

/// The path below the root of a row, `a/b`.
inline std::string path_of(const proton::CallTree& tree, uint32_t row) {
  for (uint32_t parent = 0; parent < tree.nodes.size(); ++parent) {
    for (uint32_t child : tree.nodes[parent].children) {
      if (child != row) continue;
      const std::string above = path_of(tree, parent);
      return above.empty() ? *tree.nodes[row].name : above + "/" + *tree.nodes[row].name;
    }
  }
  return "";
}

/// The row of a path, or 0.
inline uint32_t row_of(const proton::CallTree& tree, const std::string& path) {
  for (uint32_t row = 1; row < tree.nodes.size(); ++row) {
    if (path_of(tree, row) == path) return row;
  }
  return 0;
}

/// A metric of a row; `int64_t{-1}` if it has none.
inline proton::MetricValue metric(const proton::CallTree& tree, uint32_t row, const char* key) {
  const proton::TreeNode& node = tree.nodes[row];
  for (uint32_t i = 0; i < node.metric_count; ++i) {
    const proton::Metric& metric = tree.metrics[node.first_metric + i];
    if (*metric.key == key) return metric.value;
  }
  return int64_t{-1};
}

}  // namespace host
