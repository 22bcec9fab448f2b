// Samples of instructions in a session: how they come in, and what they need to be shown.
#include "model/losses.h"
#include "session/samples/sample_copy.h"
#include "session/samples/sample_report.h"
#include "session/session.h"

namespace proton {

/// Samples have no launch to belong to: they are of the phase in which they arrive.
void Session::on_samples(const SampleBatch& batch) noexcept {
  try {
    std::lock_guard lock(mutex_);
    SampleTable& table = current_->samples;
    const uint32_t device = find_device(batch.device_type, batch.device_id);
    std::vector<uint32_t> reasons;
    reasons.reserve(batch.reasons.size());
    for (const std::string& reason : batch.reasons) reasons.push_back(reasons_.intern(reason));
    std::string_view last_name;  // pcs of one function come together
    uint64_t last_module = 0;
    uint32_t function = 0;
    for (const SampledPc& pc : batch.pcs) {
      if (&pc == batch.pcs.data() || pc.module != last_module || pc.function != last_name) {
        function = table.function_of({kernel_names_.intern(pc.function), device, pc.module});
        last_name = pc.function;
        last_module = pc.module;
      }
      table.add(function, pc.pc, reasons, pc.samples, pc.latency);
    }
  } catch (...) {
    count_loss(losses::kInternal);
  }
}

void Session::book_symbol(const KernelEvent& event, int64_t time_ns, const Booked& booked,
                          Phase& phase) {
  if (event.kind != EventKind::kKernel) return;
  const auto symbol = [&] { return kernel_names_.intern(event.name); };
  const uint32_t name_id = event.name_id != 0 ? event.name_id : symbol() | kLaunchBit;
  phase.timed_symbols.add(booked.place, booked.kernel, name_id, time_ns, symbol);
}

void Session::set_sampling(SamplingFacts facts) {
  verdicts_.clear();
  std::lock_guard lock(mutex_);
  sampling_ = std::move(facts);
}

std::vector<std::pair<uint64_t, std::string>> Session::missing_code(int phase) const {
  SampleCopy copy(*this, find_phase(phase, data_));
  copy.copy_device_part();
  std::vector<std::pair<uint64_t, std::string>> missing;
  for (size_t i = 0; i < copy.code.size(); ++i) {
    if (copy.code[i] != nullptr) continue;
    const SampledFunction& function = copy.rows.functions[i];
    missing.emplace_back(function.module, copy.kernel_names[function.symbol]);
  }
  return missing;
}

std::vector<std::string> Session::sampled_files(int phase) const {
  SampleCopy copy(*this, find_phase(phase, data_));
  copy.copy_device_part();
  SampleReport report(copy, {});
  report.divide([](NameId, uint32_t, const auto&) { return std::vector<SampleContext>(1); },
                [](uint32_t, LineId, const SampleCounts&) {});
  std::vector<std::string> files;
  std::unordered_set<uint32_t> seen;
  for (const SampleLine& line : report.lines().all()) {
    if (seen.insert(line.file).second) files.push_back(report.lines().text(line.file));
  }
  return files;
}

}  // namespace proton
