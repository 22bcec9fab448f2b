#include "backends/cupti/needs.h"

#include <algorithm>

#include "base/text.h"

namespace proton::cupti {

uint32_t needs_of(const SinkOptions& options) {
  uint32_t needs = options.with_frames ? kNeedsPython : kNeedsShadow;
  if (options.with_launches) needs |= kNeedsCalls;
  if (options.with_graph_timing) needs |= kNeedsGraphTimes;
  if (options.sampling) needs |= kNeedsSamples;
  if (options.with_copies) needs |= kNeedsCopies;
  if (options.with_migrations) needs |= kNeedsMigrations;
  if (!options.per_graph) needs |= kNeedsNodes;
  return needs;
}

void Needs::update(uint32_t needs, Change change, Warnings& warnings) {
  const bool is_any = needs != 0;
  const bool copies = (needs & kNeedsCopies) != 0;
  if ((needs & ~launches_.captures() & kNeedsSamples) != 0) gate_.begin();
  // Once CUPTI has sampled, code that first runs while kernels are not timed is nobody's for it.
  const bool is_paused = !is_any && subscription_.was_sampled() && change != Change::kLastGoing;
  uint32_t captures =
      is_paused ? LaunchRecorder::kCountOnly : needs & LaunchRecorder::kCapturedNeeds;
  if (is_any && is_enabled(kConcurrentKernelActivity)) captures |= LaunchRecorder::kRecorded;
  if (is_any || is_paused) {
    launches_.set_captures(captures);
  } else {
    launches_.stop_noting();
    launches_.table().mark_under_way_optional();
  }
  // CUPTI shall record nothing whose call it does not tell: calls come first, and go last.
  if (is_any || is_paused) enable_launches(true);
  if (copies) enable_copies(true);
  enable_kind(kConcurrentKernelActivity, is_any || is_paused, change, warnings);
  if (is_any) launches_.set_captures(captures | LaunchRecorder::kRecorded);
  const bool per_graph = is_any && (needs & kNeedsNodes) == 0;
  graphs_.set_traced(per_graph);
  enable_kind(kGraphTraceActivity, per_graph, change, warnings);
  for (const uint32_t kind : {kMemcpyActivity, kMemsetActivity}) {
    enable_kind(kind, copies, change, warnings);
  }
  enable_peer_copies(copies, change, warnings);
  enable_migrations((needs & kNeedsMigrations) != 0, change, warnings);
  enable_copies(copies);
  enable_launches(is_any || is_paused);
  if (!is_any && !is_paused) {
    launches_.table().mark_under_way_optional();  // those that came while we switched off
    launches_.set_captures(0);
  }
}

Result Needs::enable_callback(bool is_wanted, int domain, uint32_t cbid) {
  return library().enable_callback(is_wanted ? 1 : 0, subscription_.subscriber(), domain, cbid);
}

void Needs::enable_modules() {
  if (sees_modules_) return;
  for (const uint32_t cbid : {kModuleLoaded, kModuleUnloadStarting}) {
    library().check(enable_callback(true, kResourceDomain, cbid), "cuptiEnableCallback");
  }
  sees_modules_ = true;
}

void Needs::clear() {
  sees_launches_ = sees_copies_ = sees_modules_ = false;
  enabled_kinds_.clear();
  may_lack_peers_.store(false, std::memory_order_relaxed);
  launches_.set_captures(0);
}

bool Needs::is_enabled(uint32_t kind) const {
  return std::find(enabled_kinds_.begin(), enabled_kinds_.end(), kind) != enabled_kinds_.end();
}

/// A session is of no use without kernels; the other kinds are worth a warning. Another tool may
/// have switched off what we had switched on: an activation does it again.
void Needs::enable_kind(uint32_t kind, bool is_wanted, Change change, Warnings& warnings) {
  const bool is_on = is_enabled(kind);
  if (!is_wanted) {
    if (is_on) library().disable_activity(kind);
    std::erase(enabled_kinds_, kind);
    return;
  }
  if (is_on && change != Change::kActivation) return;
  const Result result = library().enable_activity(kind);
  if (result == kSuccess) {
    if (!is_on) enabled_kinds_.push_back(kind);
  } else if (kind == kConcurrentKernelActivity) {
    library().check(result, "cuptiActivityEnable");
  } else {
    warnings.push_back(concat("CUPTI does not report activities of kind ", kind, ": ",
                              library().describe(result)));
  }
}

void Needs::enable_launches(bool is_wanted) {
  if (is_wanted == sees_launches_) return;
  // For a while nobody told of launches and graphs.
  if (is_wanted) change_logs([](NodeLog& log) { log.interrupt(); });
  for (const uint32_t cbid : kLaunchCallbacks) {
    const Result result = enable_callback(is_wanted, kDriverDomain, cbid);
    // Others may be refused by a library that is older than the function.
    if (is_wanted && cbid == kLaunchKernel) library().check(result, "cuptiEnableCallback");
  }
  for (const uint32_t cbid :
       {kGraphCreated, kGraphNodeCreateStarting, kGraphNodeCreated, kGraphNodeCloned,
        kGraphNodeUpdated, kGraphNodeDestroyStarting, kGraphDestroyStarting,
        kGraphExecCreateStarting, kGraphExecCreated, kGraphExecDestroyStarting}) {
    // Refused where the library is older than the callback.
    enable_callback(is_wanted, kResourceDomain, cbid);
  }
  sees_launches_ = is_wanted;
}

void Needs::enable_copies(bool is_wanted) {
  if (is_wanted == sees_copies_) return;
  for (const auto [first, last] : kCopyCallbacks) {
    for (uint32_t cbid = first; cbid <= last; ++cbid) {
      // Refused where the library is older than the function: then nobody can call it either.
      enable_callback(is_wanted, kDriverDomain, cbid);
    }
  }
  sees_copies_ = is_wanted;
}

/// Copies between devices, where there are several: while CUPTI reports them, launching a graph
/// takes a quarter of a microsecond more for each of its nodes. A program that has not initialised
/// the driver yet cannot say how many there are, and may have several.
void Needs::enable_peer_copies(bool is_wanted, Change change, Warnings& warnings) {
  int count = 0;
  const bool is_known = library().device_count(&count) == 0;
  enable_kind(kMemcpyPeerActivity, is_wanted && (!is_known || count > 1), change, warnings);
  may_lack_peers_.store(is_wanted && !is_known, std::memory_order_relaxed);
}

bool Needs::count_peers() {
  int count = 0;
  if (library().device_count(&count) != 0) return false;
  if (!may_lack_peers_.exchange(false, std::memory_order_relaxed) || count > 1) return true;
  library().disable_activity(kMemcpyPeerActivity);
  std::erase(enabled_kinds_, uint32_t{kMemcpyPeerActivity});
  return true;
}

/// Pages that move by themselves. The driver counts them device by device, once it is initialised.
void Needs::enable_migrations(bool is_wanted, Change change, Warnings& warnings) {
  if (is_wanted && !is_enabled(kUnifiedMemoryActivity)) {
    if (std::string why_not = configure_migrations(); !why_not.empty()) {
      warnings.push_back(concat("migrations of unified memory are not recorded: ", why_not));
      return;
    }
  }
  enable_kind(kUnifiedMemoryActivity, is_wanted, change, warnings);
}

/// Why not, or "".
std::string Needs::configure_migrations() {
  int count = 0;
  CudaResult result = library().init(0);
  if (result == 0) result = library().device_count(&count);
  if (result != 0) return concat("the devices are not known: ", library().describe_cuda(result));
  std::vector<UnifiedMemoryConfig> configs;
  for (int device = 0; device < count; ++device) {
    for (const uint32_t kind : {kBytesHtoD, kBytesDtoH, kBytesDtoD}) {
      if (kind == kBytesDtoD && count == 1) continue;  // there is nowhere to go
      configs.push_back({1, kind, static_cast<uint32_t>(device), 1});
    }
  }
  const Result refusal =
      library().configure_unified_memory(configs.data(), static_cast<uint32_t>(configs.size()));
  if (refusal == kSuccess) return "";
  return concat("cuptiActivityConfigureUnifiedMemoryCounter failed with ",
                library().describe(refusal),
                "; it needs devices that reach each other's memory, or one that "
                "CUDA_VISIBLE_DEVICES picks");
}

}  // namespace proton::cupti
