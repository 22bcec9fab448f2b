/// The samples of a phase as they stand in its tables, with the places they are divided over and
/// the code they were taken in: the part of a snapshot that needs locks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/string_table.h"
#include "model/sampled_code.h"
#include "session/booking/session.h"

namespace proton {

class SampleCopy {
 public:
  SampleCopy(const Session& session, std::shared_ptr<const DevicePhase> phase)
      : session_(session), phase_(std::move(phase)) {}

  /// First, best without the GIL: rows, then what they refer to, then the code.
  void copy_device_part() {
    copy_rows();
    copy_names();
  }
  void copy_rows();
  void copy_names();
  /// Then, under the GIL. Asks the filter about names that it has not seen: may run code of the
  /// program's, and throw what that throws.
  void copy_host_part();

  /// Of a symbol that was not timed.
  bool is_included(NameId symbol) const {
    const auto known = is_symbol_included.find(symbol);
    return known == is_symbol_included.end() || known->second;
  }
  bool is_wanted() const { return sampling != nullptr || !rows.instructions.empty(); }
  uint32_t device_of(const TimedSymbol& at) const { return kernels[at.kernel].device; }

  // device part
  std::shared_ptr<const Sampling> sampling;  // null: the session does not sample
  SampleRows rows;
  std::vector<std::shared_ptr<const SampledCode>> code;  // by function
  std::vector<std::string> reasons;
  std::vector<TimedSymbol> timed;
  StringTexts kernel_names;
  std::vector<KernelEntry> kernels;
  std::vector<CapturedPlace> captured_places;
  // host part
  struct Device {
    SeenDevice seen;
    int64_t architecture = 0;  // 0: not known
  };
  std::vector<Device> devices;
  std::vector<bool> is_timed_included;                  // by number in `timed`
  std::unordered_map<NameId, bool> is_symbol_included;  // none: there is no filter

 private:
  bool is_included_above(PathId path) const;
  bool is_included_at(const TimedSymbol& at) const;

  const Session& session_;
  std::shared_ptr<const DevicePhase> phase_;
};

}  // namespace proton
