#include "session/samples/sample_copy.h"

#include <algorithm>
#include <charconv>

#include "session/scopes/process.h"
#include "session/snapshot/slices.h"

namespace proton {

void SampleCopy::copy_device_part() {
  std::mutex& mutex = session_->mutex_;
  {
    std::lock_guard lock(mutex);
    facts = session_->sampling_;
  }
  const SampleRows& from = phase_->samples.rows();
  copy_in_slices(mutex, from.instructions, rows.instructions);
  copy_in_slices(mutex, from.cells, rows.cells);
  copy_in_slices(mutex, phase_->timed_symbols.all(), timed);
  {
    std::lock_guard lock(mutex);
    rows.functions = from.functions;
    kernel_names = session_->kernel_names_.texts();
    kernel_kinds = session_->kernels_;
    for (uint32_t i = 0; i < session_->reasons_.size(); ++i) {
      reasons.push_back(session_->reasons_.text(i));
    }
  }
  const FindCode find = process.find_code.load();
  code.resize(rows.functions.size());
  for (size_t i = 0; find != nullptr && i < code.size(); ++i) {
    code[i] = find(rows.functions[i].module, kernel_names[rows.functions[i].symbol]);
  }
}

void SampleCopy::copy_host_part() {
  {
    std::lock_guard lock(session_->mutex_);
    for (const auto& seen : session_->devices_seen_) {
      Device device{seen.type, seen.id};
      if (const DeviceEntry* described = session_->described_locked(seen)) {
        for (const auto& [key, value] : described->attributes) {
          const auto* text = std::get_if<std::string>(&value.data);
          if (key != "arch" || text == nullptr) continue;
          std::from_chars(text->data(), text->data() + text->size(), device.architecture);
        }
      }
      devices.push_back(std::move(device));
    }
  }
  is_timed_included.assign(timed.size(), true);
  if (!facts.has_value() || !facts->include || rows.instructions.empty()) return;
  std::vector<CapturedPlace> captured_places;
  {
    std::lock_guard lock(session_->mutex_);
    captured_places = session_->captured_places_;
  }
  for (const SampledFunction& function : rows.functions) {
    is_symbol_included[function.symbol] = is_found(kernel_names[function.symbol]);
  }
  for (size_t i = 0; i < timed.size(); ++i) {
    const auto symbol = is_symbol_included.find(timed[i].symbol);
    if (symbol == is_symbol_included.end()) continue;  // not sampled
    bool is_included = symbol->second || is_found(kernel_names[kernel_kinds[timed[i].kernel].name]);
    if ((timed[i].place & kLaunchBit) == 0) {
      is_included = is_included || is_found_above(timed[i].place);
    } else {
      const CapturedPlace& captured = captured_places[timed[i].place & ~kLaunchBit];
      is_included = is_included || is_found_above(captured.replay) ||
                    (captured.is_seen() && is_found_above(captured.capture));
    }
    is_timed_included[i] = is_included;
  }
}

bool SampleCopy::is_found_above(PathId path) {
  path = process.ranges.path(path);
  if (path >= process.paths.size()) path = kRootPath;
  std::vector<FrameId> frames;  // taken first: the filter may run code that adds paths
  for (; path != kRootPath; path = process.paths.parent(path)) {
    frames.push_back(process.paths.frame(path));
  }
  return std::ranges::any_of(frames,
                             [this](FrameId frame) { return is_found(process.frame_name(frame)); });
}

bool SampleCopy::is_found(const std::string& name) {
  auto& verdicts = session_->verdicts_;
  if (const auto known = verdicts.find(name); known != verdicts.end()) return known->second;
  const bool is_included = facts->include(name);
  verdicts.insert_or_assign(name, is_included);
  return is_included;
}

}  // namespace proton
