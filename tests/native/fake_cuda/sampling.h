/// Inside of the fake driver: sampling of program counters. Contexts are sampled while they are
/// enabled and started; what a kernel yields, a test has said by fake_sample.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "driver.h"
#include "sampling_records.h"

namespace fake {

/// What one launch of a kernel adds to one instruction.
struct SampleRule {
  uint64_t pc;
  size_t reason;  // of the table of names
  uint32_t samples, latency;
};

/// Counts by CUPTI's number of the reason.
using PcCounts = std::map<uint32_t, uint32_t>;
using PcKey = std::tuple<uint64_t, const char*, uint64_t>;  // crc, function, offset

struct ContextSampling {
  bool is_enabled = false, is_configured = false, is_started = false, is_full = false;
  bool is_busy = false;  // a call is under way
  PcBuffer* buffer = nullptr;
  uint32_t period = 0;
  size_t reason_count = 0;
  std::map<PcKey, PcCounts> pcs;
  uint64_t sample_count = 0, dropped_count = 0, non_user_count = 0;
};

struct Sampling {
  std::atomic<int> started_count{0};     // contexts; launches of none take no lock
  std::atomic<bool> was_enabled{false};  // since the last cuptiFinalize
  std::mutex mutex;
  std::map<std::string, std::vector<SampleRule>> rules;
  std::map<Context*, ContextSampling> contexts;
  std::set<std::string> names;
  std::map<std::string, bool> is_known;  // of functions that have run since: by sampling, too
  std::vector<std::unique_ptr<std::string>> cubins;
  uint32_t next_module = 1;
};
Sampling& sampling();

/// A launch of `function` ran in `context`.
void sample_launch(const Function& function, Context& context);
/// A context is about to be gone.
void expect_unsampled(Context& context);

/// Between the callbacks of a launch: no call that switches sampling may run meanwhile, or the
/// real driver hangs for ever.
class LaunchMark {
 public:
  explicit LaunchMark(uint32_t cbid);
  ~LaunchMark();
  LaunchMark(const LaunchMark&) = delete;
  LaunchMark& operator=(const LaunchMark&) = delete;

 private:
  bool is_launch_;
};

}  // namespace fake
