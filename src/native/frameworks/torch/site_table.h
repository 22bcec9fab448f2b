/// The operators that one thread has met: (parent, name) -> context, with calls and time of each.
///
/// The own thread alone adds and counts, without a lock. Another one may read the sums meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "base/key_index.h"
#include "model/call_tree.h"
#include "model/ids.h"

namespace proton {

/// One name below one parent. What every call reads and writes stands first, in one cache line.
struct alignas(64) Site {
  Site* next = nullptr;   // what began after it below the same parent the last time
  Site* first = nullptr;  // what began first below it the last time
  const char* name = "";
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> ticks{0};
  ContextId context = kNoContext;
  ContextId parent = kNoContext;
  FrameKind kind = FrameKind::kOperator;
  bool is_python = false;  // an autograd.Function of Python: its name has no namespace
  char short_name[64] = {};
  std::unique_ptr<char[]> long_name;
  Site* same_hash = nullptr;
  Site* recomputed = nullptr;      // of a node: what it runs again
  ContextId forward = kNoContext;  // of a node: the context of its operator
  // Of whoever takes the sums
  uint64_t taken_calls = 0;
  uint64_t taken_ticks = 0;

  bool is(ContextId other_parent, FrameKind other_kind, const char* other_name) const {
    // By content: the names of nodes and scopes are temporaries of torch's.
    return parent == other_parent && kind == other_kind && std::strcmp(name, other_name) == 0;
  }

  /// On the own thread: one writer, so no locked instruction.
  void add(uint64_t ticks_more) {
    calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    ticks.store(ticks.load(std::memory_order_relaxed) + ticks_more, std::memory_order_relaxed);
  }
};

class SiteTable {
 public:
  // On the own thread
  /// The site of `name` below `parent`; `make` gives the context of a new one.
  template <typename Make>
  Site& find_or_add(ContextId parent, FrameKind kind, const char* name, Make make) {
    const uint64_t key = hash_text(name, uint64_t{parent} << 8 | static_cast<uint8_t>(kind));
    bool is_new;
    const uint32_t* at = index_.find_or_add(key, is_new);
    if (!is_new) [[likely]] {
      for (Site* site = sites_[*at]; site != nullptr; site = site->same_hash) {
        if (site->is(parent, kind, name)) return *site;
      }
    }
    return add(key, is_new, parent, kind, name, make());
  }

  // On another thread, one at a time
  /// Calls `use` for every site that was there when it was called.
  template <typename Use>
  void each(Use use) {
    for (Chunk* chunk = &first_; chunk != nullptr;
         chunk = chunk->next.load(std::memory_order_acquire)) {
      const uint32_t used = chunk->used.load(std::memory_order_acquire);
      for (uint32_t i = 0; i < used; ++i) use(chunk->sites[i]);
    }
  }

  SiteTable() = default;
  ~SiteTable();
  SiteTable(const SiteTable&) = delete;
  SiteTable& operator=(const SiteTable&) = delete;

 private:
  struct Chunk {
    Site sites[32];
    std::atomic<uint32_t> used{0};
    std::atomic<Chunk*> next{nullptr};
  };

  Site& add(uint64_t key, bool is_first, ContextId parent, FrameKind kind, const char* name,
            ContextId context);

  KeyIndex index_;  // hash -> sites_
  std::vector<Site*> sites_;
  Chunk first_;
  Chunk* last_ = &first_;
};

}  // namespace proton
