#include "frameworks/torch/site_table.h"

#include <iterator>

namespace proton {

SiteTable::~SiteTable() {
  for (Chunk* chunk = first_.next.load(); chunk != nullptr;) {
    Chunk* const next = chunk->next.load();
    delete chunk;
    chunk = next;
  }
}

Site& SiteTable::add(uint64_t key, bool is_first, ContextId parent, FrameKind kind,
                     const char* name, ContextId context) {
  if (last_->used.load(std::memory_order_relaxed) == std::size(last_->sites)) {
    auto* const chunk = new Chunk;
    last_->next.store(chunk, std::memory_order_release);
    last_ = chunk;
  }
  const uint32_t used = last_->used.load(std::memory_order_relaxed);
  Site& site = last_->sites[used];
  site.context = context;
  site.parent = parent;
  site.kind = kind;
  site.is_python = kind == FrameKind::kOperator && std::strstr(name, "::") == nullptr;
  const size_t size = std::strlen(name) + 1;
  if (size > sizeof site.short_name) site.long_name = std::make_unique<char[]>(size);
  char* const copy = site.long_name ? site.long_name.get() : site.short_name;
  std::memcpy(copy, name, size);
  site.name = copy;
  bool is_new;
  uint32_t* const at = index_.find_or_add(key, is_new);
  if (is_first) {
    *at = static_cast<uint32_t>(sites_.size());
    sites_.push_back(&site);
  } else {
    site.same_hash = sites_[*at]->same_hash;
    sites_[*at]->same_hash = &site;
  }
  last_->used.store(used + 1, std::memory_order_release);
  return site;
}

}  // namespace proton
