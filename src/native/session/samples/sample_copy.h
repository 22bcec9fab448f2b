/// The samples of a phase as they stand in its tables, with the places they are divided over and
/// the code they were taken in: the part of a snapshot that needs locks. Private to session/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/string_table.h"
#include "session/booking/sampling.h"
#include "session/session.h"

namespace proton {

/// Stands above kernels that were sampled but never timed: those of a graph that is one event, and
/// those that ran when the session began or ended.
inline constexpr const char* kSampledUntimed = "<sampled without a timed launch>";

class SampleCopy {
 public:
  SampleCopy(const Session& session, std::shared_ptr<const Phase> phase)
      : session_(&session), phase_(std::move(phase)) {}

  /// First, as TreeCopy's. Finds code, too.
  void copy_device_part();
  /// Then, under the GIL. Asks the filter about names that it has not seen: may run code of the
  /// program's, and throw what that throws.
  void copy_host_part();

  /// Of a symbol that was not timed.
  bool is_included(NameId symbol) const {
    const auto verdict = is_symbol_included.find(symbol);
    return verdict == is_symbol_included.end() || verdict->second;
  }
  bool is_wanted() const { return facts.has_value() || !rows.instructions.empty(); }
  uint32_t device_of(const TimedSymbol& at) const { return kernel_kinds[at.kernel].device; }

  std::optional<SamplingFacts> facts;
  SampleRows rows;
  std::vector<std::shared_ptr<const SampledCode>> code;  // by function
  std::vector<std::string> reasons;
  StringTexts kernel_names;
  std::vector<Session::Kernel> kernel_kinds;
  std::vector<TimedSymbol> timed;
  std::vector<bool> is_timed_included;                  // by number in `timed`
  std::unordered_map<NameId, bool> is_symbol_included;  // none: there is no filter
  struct Device {
    std::string type;
    std::string id;
    int64_t architecture = 0;  // 0: not known
  };
  std::vector<Device> devices;

 private:
  bool is_found(const std::string& name);
  bool is_found_above(PathId path);

  const Session* session_;
  std::shared_ptr<const Phase> phase_;
};

}  // namespace proton
