/// Whom samples of instructions reach, with which options, and which modules are kept so that they
/// can be read. Callers hold the hub's control lock, but for callbacks and cubins.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/common/sink_table.h"
#include "backends/cupti/driver/subscription.h"
#include "backends/cupti/sampling/sampler.h"

namespace proton::cupti {

class SampledSinks {
 public:
  SampledSinks(Subscription& subscription, Sampler& sampler, SinkTable& sinks)
      : subscription_(subscription), sampler_(sampler), sinks_(sinks) {}

  void add(const EventSink& sink, const SamplingOptions& options);
  void remove(const EventSink& sink);

  /// Before a sink comes or goes: samples up to now are of those that were there.
  void hand_over(const EventSink& sink, bool will_be_active);
  /// For a sink that has come; launches pass the gate. Throws BackendError.
  void open(const EventSink& sink, std::vector<std::string>& warnings);
  /// "", or a line for the user.
  std::string collect(int64_t limit_ns, bool synchronize);

  /// In a callback: a module has come, or is about to go.
  void on_module(uint32_t cbid, const ResourceData& data);
  /// A cubin of a module that may have been loaded before anybody sampled, and the PTX it was made
  /// of where it is at hand. Any thread. Throws BackendError.
  void add_cubin(std::string_view cubin, std::string_view ptx);

 private:
  const SamplingOptions* find(const EventSink& sink) const;

  Subscription& subscription_;
  Sampler& sampler_;
  SinkTable& sinks_;
  std::vector<std::pair<const EventSink*, SamplingOptions>> options_;
};

}  // namespace proton::cupti
