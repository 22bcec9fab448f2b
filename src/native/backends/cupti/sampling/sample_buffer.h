/// CUPTI's structures for samples of program counters, and their reading: numbers of reasons become
/// the short names that sinks know, and the two counts of a reason come together.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cupti/driver/library.h"
#include "model/sample.h"

namespace proton::cupti {

/// A buffer that CUPTI fills; it may keep the address, so it never moves.
class SampleBuffer {
 public:
  SampleBuffer(size_t capacity, size_t reason_count);
  SampleBuffer(const SampleBuffer&) = delete;
  SampleBuffer& operator=(const SampleBuffer&) = delete;

  PcBuffer& raw() { return buffer_; }
  /// As CUPTI expects it before it writes.
  void clear();
  std::span<const PcRecord> records() const;

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<PcRecord[], Free> records_;
  std::unique_ptr<StallCount[], Free> counts_;
  PcBuffer buffer_{};
};

/// The reasons of all devices seen so far: those of a later device may add names, at the end.
class ReasonTable {
 public:
  /// What CUPTI's numbers for reasons mean on one context's device.
  struct Numbers {
    std::vector<uint32_t> all;  // to be handed to CUPTI
    struct Meaning {
      uint32_t reason = UINT32_MAX;  // of `names`; UINT32_MAX: none
      bool is_latency = false;
    };
    std::vector<Meaning> meanings;  // by CUPTI's number
  };

  /// Asks CUPTI for the reasons of a context; throws BackendError, also where there are none.
  Numbers read(const Library& library, Context context);

  const std::vector<std::string>& names() const { return names_; }

 private:
  uint32_t number_of(std::string_view name);
  std::vector<std::string> names_;
};

/// Calls `send` with everything in the buffer but samples of our own kernels, in batches.
void send_records(std::span<const PcRecord> records, const ReasonTable::Numbers& numbers,
                  std::span<const std::string> reasons, uint32_t device_id,
                  const std::function<void(const SampleBatch&)>& send);

/// The samples of the program's kernels, or of our own, of any reason.
uint64_t count_samples(std::span<const PcRecord> records, const ReasonTable::Numbers& numbers,
                       bool of_own);

/// Throws BackendError where device 0 cannot be sampled. Initialises the driver and makes a context
/// for it, which is the thread's current one meanwhile.
void try_sampling(const Library& library);

}  // namespace proton::cupti
