#include "session/samples/sample_copy.h"

#include <algorithm>
#include <charconv>

#include "session/scopes/process.h"

namespace proton {
namespace {

/// 90 for sm_90; 0: not known.
int64_t architecture_of(const DeviceEntry* device) {
  int64_t architecture = 0;
  if (device == nullptr) return architecture;
  for (const auto& [key, value] : device->attributes) {
    const auto* text = std::get_if<std::string>(&value.data);
    if (key != "arch" || text == nullptr) continue;
    std::from_chars(text->data(), text->data() + text->size(), architecture);
  }
  return architecture;
}

}  // namespace

void SampleCopy::copy_rows() {
  const SampleRows& from = phase_->samples.rows();
  session_.device.copy_rows(from.instructions, rows.instructions);
  session_.device.copy_rows(from.cells, rows.cells);
  session_.device.copy_rows(phase_->timed_symbols.all(), timed);
}

void SampleCopy::copy_names() {
  session_.device.read([this](const DeviceTables& tables) {
    sampling = tables.sampling;
    rows.functions = phase_->samples.rows().functions;
    kernel_names = tables.kernels.names.texts();
    kernels = tables.kernels.all();
    captured_places = tables.places.all();
    for (uint32_t i = 0; i < tables.reasons.size(); ++i) reasons.push_back(tables.reasons.text(i));
  });
  const FindCode find = process.find_code.load();
  code.resize(rows.functions.size());
  for (size_t i = 0; find != nullptr && i < code.size(); ++i) {
    code[i] = find(rows.functions[i].module, kernel_names[rows.functions[i].symbol]);
  }
}

void SampleCopy::copy_host_part() {
  for (SeenDevice& seen :
       session_.device.read([](const DeviceTables& tables) { return tables.kernels.devices(); })) {
    const int64_t architecture = architecture_of(session_.facts.find_device(seen));
    devices.push_back({std::move(seen), architecture});
  }
  is_timed_included.assign(timed.size(), true);
  if (sampling == nullptr || !sampling->facts.include || rows.instructions.empty()) return;
  for (const SampledFunction& function : rows.functions) {
    is_symbol_included[function.symbol] = sampling->includes(kernel_names[function.symbol]);
  }
  for (size_t i = 0; i < timed.size(); ++i) {
    const auto symbol = is_symbol_included.find(timed[i].symbol);
    if (symbol == is_symbol_included.end()) continue;  // not sampled
    is_timed_included[i] = symbol->second || is_included_at(timed[i]);
  }
}

/// By the name of the kernel, or of something above it.
bool SampleCopy::is_included_at(const TimedSymbol& at) const {
  if (sampling->includes(kernel_names[kernels[at.kernel].name])) return true;
  if (!is_captured(at.place)) return is_included_above(at.place);
  const CapturedPlace& captured = captured_places[at.place & ~kLaunchBit];
  return is_included_above(captured.replay) ||
         (captured.is_seen() && is_included_above(captured.capture));
}

bool SampleCopy::is_included_above(PathId path) const {
  // Taken first: the filter may run code that adds paths.
  const std::vector<FrameId> frames = process.paths.frames(process.ranges.path(path));
  return std::ranges::any_of(
      frames, [this](FrameId frame) { return sampling->includes(process.frame_name(frame)); });
}

}  // namespace proton
