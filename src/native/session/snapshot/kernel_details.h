/// What is known of kernels beyond their sums: launch attributes, the theoretical occupancy that
/// follows from them, and how the times of a tree's row spread. Computed when a snapshot is made,
/// so that launches pay nothing for it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/call_tree.h"
#include "model/event.h"
#include "model/value.h"
#include "session/booking/phase.h"

namespace proton {

/// What one multiprocessor has to give: how many of the warps that it can hold a launch may fill,
/// by its block size, registers and shared memory, is its theoretical occupancy.
struct SmLimits {
  int64_t major = 0;  // of the compute capability
  int64_t max_threads = 0;
  int64_t max_blocks = 0;
  int64_t registers = 0;
  int64_t shared_bytes = 0;
  int64_t reserved_shared_bytes = 0;  // of every block, taken by the driver

  /// From the attributes of a device; none where one is missing or the device is no NVIDIA GPU.
  static std::optional<SmLimits> from(const Value::Map& attributes);
  /// The same; null: nobody described the device.
  static std::optional<SmLimits> from(const DeviceEntry* device) {
    return device == nullptr ? std::nullopt : from(device->attributes);
  }
};

/// Share of the warps, 0 to 1, to four decimals. None where the shape says too little, or where the
/// launch could not have run: then the limits are not those of its device.
std::optional<double> occupancy_of(const SmLimits& limits, const LaunchShape& shape);

/// The attributes of launches as they stand in files, as far as these are the same in all of them;
/// null limits: those of their device are unknown.
Value::Map to_attributes(const LaunchShape& shape, const SmLimits* limits, SameShape same = {});

/// The details of a tree's rows. Rows of a phase that meet in one row of the tree, because their
/// frames have equal text, are put together.
class KernelDetails {
 public:
  /// All kernels of a row ran on one device, whose limits must outlive this; null: unknown.
  void add(uint32_t row, KernelRow& kernel, const SmLimits* limits);
  std::vector<KernelDetail> take();

 private:
  /// A row of the tree, and the first of its kernels, which the others are merged into.
  struct Part {
    uint32_t row;
    const SmLimits* limits;
    KernelRow& kernel;
  };

  static KernelDetail detail_of(const Part& part);

  std::vector<Part> parts_;
  std::unordered_map<uint32_t, size_t> by_row_;
};

}  // namespace proton
