/// Modules with a cubin, whose kernels can be sampled: told to the profiler when they come and go.
#include "fake_cuda.h"
#include "sampling.h"

namespace fake {
namespace {

struct CubinModule {
  uint32_t id;
  Context* context;
  const std::string* cubin;
  uint64_t crc;
};

void tell_module(uint32_t cbid, const CubinModule& module) {
  if (!is_enabled(kResourceDomain, cbid)) return;
  ModuleData described{module.id, module.cubin->size(), module.cubin->data()};
  const ResourceData data{module.context, nullptr, &described};
  ++local().resource_callback_depth;
  call_back(kResourceDomain, cbid, &data);
  --local().resource_callback_depth;
}

}  // namespace
}  // namespace fake

using namespace fake;

FAKE_VISIBLE void* fake_module_load(const void* cubin, uint64_t bytes) {
  auto* module = new CubinModule;
  module->context = &current_context();
  module->crc = fake_cubin_crc(cubin, bytes);
  {
    Sampling& all = sampling();
    const std::lock_guard lock(all.mutex);
    module->id = all.next_module++;
    all.cubins.push_back(std::make_unique<std::string>(static_cast<const char*>(cubin), bytes));
    module->cubin = all.cubins.back().get();
  }
  tell_module(kModuleLoaded, *module);
  return module;
}

FAKE_VISIBLE void* fake_module_function(void* module, const char* name, uint64_t duration_ns) {
  const uint64_t crc = static_cast<CubinModule*>(module)->crc;
  Function* function = intern_function(name, duration_ns, crc);
  return function;
}

FAKE_VISIBLE void fake_module_unload(void* module) {
  auto* one = static_cast<CubinModule*>(module);
  tell_module(kModuleUnloadStarting, *one);
  {
    Sampling& all = sampling();
    const std::lock_guard lock(all.mutex);
    const auto found = all.contexts.find(one->context);
    bool is_pending = false;
    if (found != all.contexts.end()) {
      for (const auto& [key, counts] : found->second.pcs)
        is_pending |= std::get<0>(key) == one->crc;
    }
    if (is_pending) violate("a module was unloaded before its samples were read");
  }
  delete one;
}
