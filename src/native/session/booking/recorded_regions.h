/// Regions of instrumented kernels in a tree session: rows below the rows of kernels. Guarded like
/// the device part of phases.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/key_index.h"
#include "base/string_table.h"
#include "model/recorded_launch.h"

namespace proton {

/// A region below a kernel, over all launches. Numbers are without those of regions inside it, so
/// that they add up.
struct RegionRow {
  uint32_t kernel_row;
  uint32_t parent;  // another RegionRow, an earlier one; or kNoRegion
  NameId name;
  double cycles = 0;             // a whole number only on file: corrections leave fractions
  double normalized_cycles = 0;  // over the warps of its launch
  double time_ns = 0;
};

class RegionTable {
 public:
  const std::vector<RegionRow>& rows() const { return rows_; }

  void add(uint32_t kernel_row, const RecordedLaunch& launch, StringTable& names) {
    std::vector<double> own_cycles(launch.regions.size());
    std::vector<double> own_ns(launch.regions.size());
    for (size_t i = 0; i < launch.regions.size(); ++i) {
      own_cycles[i] += launch.regions[i].cycles;
      own_ns[i] += launch.regions[i].time_ns;
      if (const uint32_t parent = parent_of(launch, i); parent != kNoRegion) {
        own_cycles[parent] -= launch.regions[i].cycles;
        own_ns[parent] -= launch.regions[i].time_ns;
      }
    }
    const double warp_count =
        std::max<double>(1, static_cast<double>(launch.warps.size() + launch.more_warps));
    std::vector<uint32_t> here;
    for (size_t i = 0; i < launch.regions.size(); ++i) {
      const RecordedRegion& region = launch.regions[i];
      const uint32_t parent = parent_of(launch, i);
      here.push_back(row_of(kernel_row, parent == kNoRegion ? kNoRegion : here[parent],
                            names.intern(region.name)));
      RegionRow& row = rows_[here.back()];
      const double cycles = std::max(0.0, own_cycles[i]);  // corrections may leave less than none
      row.cycles += cycles;
      row.normalized_cycles += cycles / warp_count;
      row.time_ns += std::max(0.0, own_ns[i]);
    }
  }

 private:
  /// An event is no part of the region it began in: it may outlast it.
  static uint32_t parent_of(const RecordedLaunch& launch, size_t index) {
    const RecordedRegion& region = launch.regions[index];
    return region.is_event || region.parent >= index ? kNoRegion : region.parent;
  }

  uint32_t row_of(uint32_t kernel_row, uint32_t parent, NameId name) {
    const bool is_outermost = parent == kNoRegion;
    KeyIndex& index = is_outermost ? below_kernels_ : below_regions_;
    return index.row_of(pair_key(is_outermost ? kernel_row : parent, name), rows_,
                        [&] { return RegionRow{kernel_row, parent, name}; });
  }

  std::vector<RegionRow> rows_;
  KeyIndex below_kernels_;  // (row of a kernel, name) -> row
  KeyIndex below_regions_;  // (row, name) -> row
};

}  // namespace proton
