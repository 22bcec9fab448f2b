/// What CUPTI is asked for: as much as the active sinks need, switched on and off as they come and
/// go, and nothing when there are none. Callers hold the hub's control lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/cupti/driver/subscription.h"
#include "backends/cupti/graph_table.h"
#include "backends/cupti/launch_recorder.h"
#include "backends/cupti/sampling/sampler.h"

namespace proton::cupti {

/// What a sink asks for.
struct SinkOptions {
  bool with_frames = false;        // contexts are Python frames, not scopes
  bool with_launches = false;      // also wants the launching calls, for a timeline
  bool with_copies = true;         // copies and memsets
  bool with_migrations = false;    // of unified memory
  bool per_graph = false;          // one event a replay is enough
  bool with_graph_timing = false;  // tells on stderr how long each launch of a graph took
  size_t value_bytes = 0;          // for metric values on their way from a device; 0: as we like
  std::optional<SamplingOptions> sampling = std::nullopt;  // none: kernels are timed only
};

/// As bits of Need.
uint32_t needs_of(const SinkOptions& options);

class Needs {
 public:
  enum class Change { kActivation, kPause, kLastGoing };
  using Warnings = std::vector<std::string>;

  Needs(const Subscription& subscription, LaunchRecorder& launches, GraphTable& graphs,
        SamplingGate& gate)
      : subscription_(subscription), launches_(launches), graphs_(graphs), gate_(gate) {}

  /// `needs` are bits of Need; 0: no sink is active. Throws BackendError where kernels cannot be
  /// timed; whatever else is refused is a warning.
  void update(uint32_t needs, Change change, Warnings& warnings);

  /// Modules are told from now on, also while sinks pause. Throws BackendError.
  void enable_modules();

  /// Copies between devices are on, and the devices not counted yet. Any thread.
  bool may_lack_peers() const { return may_lack_peers_.load(std::memory_order_relaxed); }
  /// Ends peer copies where the driver, initialised meanwhile, has one device. False: it still
  /// cannot say.
  bool count_peers();

  /// With the subscription everything went.
  void clear();

 private:
  const Library& library() const { return subscription_.library(); }
  bool is_enabled(uint32_t kind) const;
  void enable_kind(uint32_t kind, bool is_wanted, Change change, Warnings& warnings);
  Result enable_callback(bool is_wanted, int domain, uint32_t cbid);
  void enable_launches(bool is_wanted);
  void enable_copies(bool is_wanted);
  void enable_peer_copies(bool is_wanted, Change change, Warnings& warnings);
  void enable_migrations(bool is_wanted, Change change, Warnings& warnings);
  std::string configure_migrations();

  const Subscription& subscription_;
  LaunchRecorder& launches_;
  GraphTable& graphs_;
  SamplingGate& gate_;
  bool sees_launches_ = false;
  bool sees_copies_ = false;
  bool sees_modules_ = false;
  std::vector<uint32_t> enabled_kinds_;
  std::atomic<bool> may_lack_peers_{false};
};

}  // namespace proton::cupti
