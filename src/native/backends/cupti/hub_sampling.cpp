// The hub's part in sampling instructions: whom samples reach, and which modules are kept.
#include <algorithm>

#include "backends/cupti/hub.h"
#include "base/error.h"
#include "base/text.h"
#include "cubin/module_store.h"

namespace proton::cupti {
namespace {

constexpr int64_t kHandOverLimitNs = 5'000'000'000;

constexpr const char* kNotLoaded = "CUPTI is not loaded; load it first";

/// Subscribes and lets go again, to see whether that is allowed.
void ignore(void*, int, uint32_t, const void*) {}

}  // namespace

/// Control held. Modules are kept from the first session that samples on, also while it pauses.
void Hub::enable_modules() {
  if (sees_modules_) return;
  for (const uint32_t cbid : {kModuleLoaded, kModuleUnloadStarting}) {
    library_.check(library_.enable_callback(1, subscriber_, kResourceDomain, cbid),
                   "cuptiEnableCallback");
  }
  sees_modules_ = true;
}

/// Control held; before a sink comes or goes: samples up to now are of those that were there.
void Hub::hand_over_samples(const SinkEntry& entry, bool will_be_active) {
  if (!entry.options.sampling || is_forked_ || !sampler_.is_open()) return;
  const bool has_others = std::any_of(sinks_.begin(), sinks_.end(), [&](const SinkEntry& other) {
    return &other != &entry && other.is_active && other.options.sampling;
  });
  if (!will_be_active && !has_others) return sampler_.close();
  sampler_.collect(kHandOverLimitNs, true);
}

/// Control held; launches pass the gate.
void Hub::open_sampling(const SamplingOptions& options, std::vector<std::string>& warnings) {
  if (!sampler_.is_open()) {
    was_sampled_ = true;
    return sampler_.open(options);
  }
  if (sampler_.options() == options) return;
  warnings.push_back(
      "another session samples with other options (period, buffer, reads or windows); they stay as "
      "they are until it ends");
}

void Hub::collect_samples(int64_t limit_ns, bool synchronize) {
  if (!sampler_.is_open() || sampler_.collect(limit_ns, synchronize)) return;
  if (synchronize) {
    problems_.push_back("CUPTI did not hand over its newest samples in time; they come later");
  }
}

std::vector<Context> Hub::all_contexts() {
  Hub& hub = get();
  const Library& library = hub.library_;
  std::vector<Context> all;
  {
    std::lock_guard lock(hub.contexts_mutex_);
    all = hub.contexts_;
  }
  int count = 0;
  if (library.device_count(&count) != 0) count = 0;
  for (int index = 0; index < count; ++index) {
    int device = 0, is_active = 0;
    unsigned flags = 0;
    Context context = nullptr;
    if (library.device(&device, index) != 0 ||
        library.primary_context_state(device, &flags, &is_active) != 0 || is_active == 0 ||
        library.retain_primary_context(&context, device) != 0) {
      continue;
    }
    if (library.release_primary_context != nullptr) library.release_primary_context(device);
    if (std::find(all.begin(), all.end(), context) == all.end()) all.push_back(context);
  }
  return all;
}

void Hub::send_samples(const SampleBatch& batch) {
  std::lock_guard decoding(get().decode_);
  for (const SinkEntry& entry : get().sinks_) {
    if (entry.is_active && entry.options.sampling) entry.sink->on_samples(batch);
  }
}

void Hub::lose_samples(const char* kind, uint64_t count) {
  std::lock_guard decoding(get().decode_);
  for (const SinkEntry& entry : get().sinks_) {
    if (entry.is_active && entry.options.sampling) entry.sink->on_loss(kind, count);
  }
}

void Hub::tell_problem() {
  if (const auto hook = get().problem_hook_.load()) hook();
}

/// A module has come, or is about to go.
void Hub::on_module(uint32_t cbid, const ResourceData& data) {
  if (cbid == kModuleUnloadStarting) return sampler_.on_module_unload(data.context);
  const auto* module = static_cast<const ModuleData*>(data.descriptor);
  if (module == nullptr || module->cubin == nullptr || library_.cubin_crc == nullptr) return;
  CubinCrc given{sizeof(CubinCrc), module->cubin_size, module->cubin, 0};
  if (library_.cubin_crc(&given) != kSuccess) return;
  cubin::ModuleStore::get().add(given.crc, {module->cubin, module->cubin_size});
}

void Hub::add_cubin(std::string_view cubin, std::string_view ptx) {
  if (!is_loaded() || library_.cubin_crc == nullptr) {
    throw BackendError("cupti", "no CUPTI is loaded that can tell which module a cubin is of",
                       "load CUPTI of CUDA 12.8 or newer first");
  }
  CubinCrc given{sizeof(CubinCrc), cubin.size(), cubin.data(), 0};
  library_.check(library_.cubin_crc(&given), "cuptiGetCubinCrc");
  cubin::ModuleStore::get().add(given.crc, cubin, ptx);
}

std::string Hub::check_sampling() {
  std::lock_guard lock(control_);
  if (!is_loaded()) return kNotLoaded;
  if (is_forked_) {
    return "this process was forked from one that had loaded CUPTI; start processes that use the "
           "GPU with the 'spawn' method";
  }
  if (!is_subscribed_) {
    Subscriber subscriber = nullptr;
    const Result result = library_.subscribe(&subscriber, ignore, nullptr);
    if (result == kMultipleSubscribers) {
      const std::string who = holder();
      return concat("another tool holds CUPTI", who.empty() ? "" : ": ", who, " (error ", result,
                    "); ", remedy_for(result));
    }
    if (result == kSuccess) library_.unsubscribe(subscriber);
  }
  return sampler_.check();
}

std::string Hub::probe_sampling() {
  std::lock_guard lock(control_);
  return is_loaded() ? sampler_.probe() : kNotLoaded;
}

}  // namespace proton::cupti
