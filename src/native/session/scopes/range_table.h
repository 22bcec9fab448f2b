/// Where ranges of libraries (NVTX) stand: contexts as (parent context, name), made on any thread
/// without the GIL and turned into paths under it. One lock for all threads; each thread keeps what
/// it has seen (range_thread.h), so that only a first sight comes here.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/key_index.h"
#include "base/string_table.h"
#include "model/ids.h"

namespace proton {

class RangeTable {
 public:
  // Any thread
  NameId intern(std::string_view name);
  /// The context of a range below `parent`, which is a path or a range.
  ContextId child(ContextId parent, NameId name);
  /// Counts clearings: ids of an earlier one are void.
  uint32_t epoch() const;

  // Under the GIL
  /// The path of a range, made on first demand; of any other context, itself.
  PathId path(ContextId context);
  /// Makes all paths, so that what was sized by the path table fits them.
  void resolve_all();
  std::string text(NameId name);
  void clear();

  /// In a forked child: another thread may have held the lock.
  void reset_after_fork() noexcept;

 private:
  struct Row {
    ContextId parent;
    NameId name;
    PathId path;
  };
  PathId path_locked(ContextId context) const;
  void resolve_locked(size_t count);

  mutable std::mutex mutex_;
  StringTable names_;
  KeyIndex index_;         // (parent, name) -> row
  std::vector<Row> rows_;  // parents first
  size_t resolved_ = 0;    // rows before this one have their path
  uint32_t epoch_ = 1;
};

}  // namespace proton
