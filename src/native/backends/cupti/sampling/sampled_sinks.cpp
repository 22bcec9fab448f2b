#include "backends/cupti/sampling/sampled_sinks.h"

#include "base/error.h"
#include "cubin/module_store.h"

namespace proton::cupti {
namespace {

constexpr int64_t kHandOverLimitNs = 5'000'000'000;

}  // namespace

void SampledSinks::add(const EventSink& sink, const SamplingOptions& options) {
  options_.emplace_back(&sink, options);
}

void SampledSinks::remove(const EventSink& sink) {
  std::erase_if(options_, [&](const auto& entry) { return entry.first == &sink; });
}

const SamplingOptions* SampledSinks::find(const EventSink& sink) const {
  for (const auto& [known, options] : options_) {
    if (known == &sink) return &options;
  }
  return nullptr;
}

void SampledSinks::hand_over(const EventSink& sink, bool will_be_active) {
  if (find(sink) == nullptr || !sampler_.is_open()) return;
  if (!will_be_active && !sinks_.has_other(sink, kNeedsSamples)) return sampler_.close();
  sampler_.collect(kHandOverLimitNs, true);
}

void SampledSinks::open(const EventSink& sink, std::vector<std::string>& warnings) {
  const SamplingOptions* options = find(sink);
  if (options == nullptr) return;
  if (!sampler_.is_open()) {
    subscription_.note_sampled();
    return sampler_.open(*options);
  }
  if (sampler_.options() == *options) return;
  warnings.push_back(
      "another session samples with other options (period, buffer, reads or windows); they stay as "
      "they are until it ends");
}

std::string SampledSinks::collect(int64_t limit_ns, bool synchronize) {
  if (!sampler_.is_open() || sampler_.collect(limit_ns, synchronize) || !synchronize) return "";
  return "CUPTI did not hand over its newest samples in time; they come later";
}

void SampledSinks::on_module(uint32_t cbid, const ResourceData& data) {
  if (cbid == kModuleUnloadStarting) return sampler_.on_module_unload(data.context);
  const auto* module = static_cast<const ModuleData*>(data.descriptor);
  const Library& library = subscription_.library();
  if (module == nullptr || module->cubin == nullptr) return;
  CubinCrc request{sizeof(CubinCrc), module->cubin_size, module->cubin, 0};
  if (library.cubin_crc(&request) != kSuccess) return;
  cubin::ModuleStore::get().add(request.crc, {module->cubin, module->cubin_size});
}

void SampledSinks::add_cubin(std::string_view cubin, std::string_view ptx) {
  const Library& library = subscription_.library();
  if (!subscription_.is_loaded()) {
    throw BackendError("cupti", "no CUPTI is loaded that can tell which module a cubin is of",
                       "load CUPTI of CUDA 12.8 or newer first");
  }
  CubinCrc request{sizeof(CubinCrc), cubin.size(), cubin.data(), 0};
  library.check(library.cubin_crc(&request), "cuptiGetCubinCrc");
  cubin::ModuleStore::get().add(request.crc, cubin, ptx);
}

}  // namespace proton::cupti
