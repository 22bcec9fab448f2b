#include "cubin/module_store.h"

#include <new>
#include <utility>

namespace proton::cubin {

ModuleStore& ModuleStore::get() {
  static ModuleStore& store = *new ModuleStore;
  return store;
}

bool ModuleStore::add(uint64_t crc, std::string_view image, std::string_view ptx) {
  std::lock_guard lock(mutex_);
  const auto found = modules_.find(crc);
  if (found != modules_.end() && (found->second.has_ptx || ptx.empty())) return false;
  const size_t size = image.size() + ptx.size();
  if (size > kByteLimit - byte_count_) return false;
  const auto* bytes = reinterpret_cast<const std::byte*>(image.data());
  Module module;
  module.image.assign(bytes, bytes + image.size());
  module.ptx = ptx;
  module.has_ptx = !ptx.empty();
  module.byte_count = size;
  Module& kept = modules_[crc];
  byte_count_ += size;
  byte_count_ -= kept.byte_count;
  kept = std::move(module);
  return true;
}

std::shared_ptr<const Cubin> ModuleStore::find(uint64_t crc) {
  std::lock_guard lock(mutex_);
  const auto found = modules_.find(crc);
  if (found == modules_.end()) return nullptr;
  Module& module = found->second;
  if (!module.is_parsed) {
    module.cubin = Cubin::parse(std::exchange(module.image, {}), module.ptx).cubin;
    module.ptx = {};
    module.is_parsed = true;
  }
  return module.cubin;
}

size_t ModuleStore::size() {
  std::lock_guard lock(mutex_);
  return modules_.size();
}

void ModuleStore::reset_after_fork() { new (&mutex_) std::mutex; }

}  // namespace proton::cubin
