/// A sink that keeps what it was told, and launches made by hand, for tests of the vendor-neutral
/// parts of backends.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/common/event_batch.h"
#include "backends/common/sink_table.h"

namespace neutral {

class KeepingSink final : public proton::EventSink {
 public:
  void on_events(std::span<const proton::KernelEvent> given) noexcept override {
    events.insert(events.end(), given.begin(), given.end());
  }
  void on_launches(std::span<const proton::LaunchEvent> given) noexcept override {
    calls.insert(calls.end(), given.begin(), given.end());
  }
  void on_values(std::span<const proton::ValueEvent>) noexcept override {}
  void on_samples(const proton::SampleBatch&) noexcept override {}
  void on_dropped(uint64_t count) noexcept override { dropped += count; }
  void on_loss(const char* kind, uint64_t count) noexcept override { losses[kind] += count; }

  std::vector<proton::KernelEvent> events;
  std::vector<proton::LaunchEvent> calls;
  uint64_t dropped = 0;
  std::map<std::string, uint64_t> losses;
};

/// Tables with one launching thread, in their first generation.
struct Tables {
  proton::LaunchCells cells;
  proton::LaunchCell cell;
  proton::LaunchTable launches{cells};
  proton::SinkTable sinks{launches};

  Tables() {
    cells.add(cell);
    launches.open(false);
    launches.begin_generation();
  }
  /// A launch whose call has returned, and of which a record must come.
  void launch(uint32_t correlation, uint32_t context, bool is_expected = true) {
    static thread_local proton::ContextId here;
    here = context;
    proton::ContextSource source{};
    source.shadow = []() noexcept { return here; };
    launches.put(cell, correlation, proton::kNeedsShadow,
                 proton::CorrelationMap::tag(launches.generation(), is_expected), source);
    proton::LaunchTable::count(cell, correlation, launches.generation());
    cell.under_way.store(0);
  }
  void start(KeepingSink& sink, uint32_t needs = proton::kNeedsShadow | proton::kNeedsCopies) {
    sinks.add(sink, needs);
    sinks.activate(sink);
    sinks.begin(sink);
  }
};

}  // namespace neutral
