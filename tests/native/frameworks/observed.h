/// The observer on the fake torch, with sums and contexts as text.
#pragma once

#include <map>
#include <string>
#include <thread>

#include "fake_torch.h"
#include "frameworks/torch/calibration.h"
#include "frameworks/torch/observer.h"
#include "host.h"

namespace observed {

using proton::ObserverTier;

inline proton::TorchLibrary library() { return proton::TorchLibrary::open(FAKE_TORCH_PATH); }

/// What a caller of Calibration does; `threads` and `operators` as many as it takes.
inline void run_calls(proton::Calibration& calibration, int operators = 16, int threads = 3) {
  calibration.watch_numbers();
  for (int i = 0; i < operators; ++i) {
    fake_torch::op("aten::mul", [] { fake_torch::inner_op("aten::empty"); });
    fake_torch::op("aten::add");
  }
  calibration.stop();
  for (int i = 0; i < threads; ++i) {
    fake_torch::Node node{};
    std::thread([&] {
      fake_torch::set_next_number(1000 + 7 * static_cast<uint64_t>(i));
      node = fake_torch::op("aten::mul");
    }).join();
    calibration.watch_node(node.thread, static_cast<uint64_t>(node.number));
    fake_torch::run_node("MulBackward0", node);
    calibration.stop();
  }
}

/// The fields of the layout that the fake torch has now.
inline proton::RecordFields calibrate(int operators = 16, int threads = 3) {
  proton::Calibration calibration(library());
  run_calls(calibration, operators, threads);
  return calibration.fields();
}

/// Observes for as long as it lives, from nothing.
class Observed {
 public:
  explicit Observed(ObserverTier tier, const proton::ObserverHost& host = test_host::table) {
    fake_torch::set_layout({});
    proton::torch_observer.attach(library(), calibrate(), host);
    proton::torch_observer.set_tier(tier);
  }
  ~Observed() { proton::torch_observer.set_tier(ObserverTier::kOff); }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

  /// Path -> calls since the last time.
  std::map<std::string, uint64_t> take_calls() {
    std::map<std::string, uint64_t> calls;
    for (const proton::OperatorSum& sum : proton::torch_observer.take_sums()) {
      calls[test_host::path(sum.context)] += sum.calls;
    }
    return calls;
  }
  /// One line of paths, each with how often it was called if that was not once.
  std::string take_paths() {
    std::string text;
    for (const auto& [path, calls] : take_calls()) {
      if (!text.empty()) text += " ";
      text += path;
      if (calls != 1) text += " x" + std::to_string(calls);
    }
    return text;
  }
  std::string context() { return test_host::path(proton::torch_observer.context()); }
  proton::ObserverCounts counts() { return proton::torch_observer.counts(); }
};

}  // namespace observed
