/// Ranges of libraries (NVTX): the table of their contexts, and what one thread has open.
///
/// Ranges and scopes of one thread nest in the order of the calls. Every range has a serial number,
/// and every scope entry knows the serial of the range begun last before it: so either side can
/// tell which of the two is the inner one.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/key_index.h"
#include "base/string_table.h"
#include "model/ids.h"
#include "session/scopes/path_table.h"

namespace proton {

/// Where ranges stand: contexts as (parent context, frame), made on any thread without the GIL and
/// turned into paths under it. Operators of frameworks stand here too. One lock for all threads;
/// each thread keeps what it has seen, so that only a first use comes here.
class RangeTable {
 public:
  // Any thread
  NameId intern(std::string_view name);
  /// The context of a range below `parent`, which is a path or a range; of an operator or a marker
  /// of backward work, where `kind` says so.
  ContextId child(ContextId parent, NameId name, FrameKind kind = FrameKind::kScope);
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
    FrameId frame;  // its number is of `names_`
    PathId path;
  };
  PathId path_locked(ContextId context) const;
  void resolve_locked(size_t count);

  mutable std::mutex mutex_;
  StringTable names_;
  KeyIndex index_;         // (parent, frame) -> row
  std::vector<Row> rows_;  // parents first
  size_t resolved_ = 0;    // rows before this one have their path
  uint32_t epoch_ = 1;
};

/// A number that came with a range or mark.
struct RangePayload {
  enum class Kind : uint8_t { kNone, kInteger, kReal };
  Kind kind = Kind::kNone;
  union {
    int64_t integer = 0;
    double real;
  };
};

/// A range that begins, or a mark, as the handler of calls describes it.
struct RangeStart {
  uint32_t domain = 0;           // 0: the default one
  std::string_view domain_name;  // stands before the name: `domain:name`
  std::string_view text;
  uint32_t registered = 0;  // the number of `text`; 0: it has none
  const char* category = nullptr;
  RangePayload payload;
};

struct OpenRange {
  uint64_t serial;
  ContextId context;  // kRootPath: begun while nothing recorded; it is passed over
  ContextId frames;   // of Python at its beginning; kNoContext: not taken
  uint32_t domain;
  bool is_started;  // ended by number, not by a pop
  int level;        // within its thread and domain, from 0
  NameId name;
  const char* category;  // never freed; null: none
  int64_t start_ns;
  RangePayload payload;
};

/// A range that ended, or a mark, on its way to the sessions that keep every event.
struct RangeSpan {
  OpenRange range;
  uint32_t thread_number;
  int64_t end_ns;
  bool is_mark;
};

/// Numbers of ranges or marks of one context, added up.
struct RangeSum {
  ContextId context;
  ContextId frames;
  bool is_mark;
  RangePayload::Kind kind;
  int64_t count;
  int64_t integer;
  double real;
};

/// The ranges that one thread has open, and what it has seen of them. Filled by its own thread with
/// or without the GIL, so everything but `context` is guarded by `mutex`; who holds it never waits
/// for the GIL.
struct RangeThread {
  /// The innermost range, if no scope was entered after it; else kRootPath. Any thread reads it.
  std::atomic<ContextId> context{kRootPath};
  std::atomic<uint64_t> serial{0};  // of the range begun last; written by the own thread
  std::atomic<uint32_t> depth{0};   // how many are open
  std::atomic<uint32_t> number{0};  // of the thread, for lanes

  std::mutex mutex;
  uint64_t host_serial = 0;  // of the range begun last before the innermost scope or state
  std::vector<OpenRange> open;
  std::vector<RangeSpan> spans;
  uint32_t index = 0;  // in Ranges; never changes
  bool is_dead = false;

  /// The id of the name of `start`, through what this thread has seen.
  NameId name_of(const RangeStart& start, RangeTable& table);
  /// The context below `parent`; `is_first_use` tells whether it is the first time since `tick`.
  ContextId child(ContextId parent, NameId name, uint32_t tick, RangeTable& table,
                  bool& is_first_use);
  /// Forgets names and contexts of an earlier epoch.
  void follow_epoch(uint32_t epoch);
  void add_sum(const OpenRange& range, bool is_mark);
  std::vector<RangeSum> take_sums();

  /// The innermost range begun after number `serial` that was recorded; kRootPath: none.
  ContextId innermost_after(uint64_t serial) const;
  /// Sets `context` and `depth` anew after a change.
  void update();
  void clear();

 private:
  struct SeenName {
    std::string text;
    uint32_t domain;
    NameId id;
  };
  struct SeenChild {
    ContextId context;
    uint32_t tick;
  };
  uint32_t epoch_ = 0;
  KeyIndex name_index_;  // hash -> names_
  std::vector<SeenName> names_;
  std::vector<NameId> registered_;  // by number: id + 1
  KeyIndex child_index_;            // (parent, name) -> children_
  std::vector<SeenChild> children_;
  KeyIndex sum_index_;
  std::vector<RangeSum> sums_;
};

/// The calling thread's, or null when it never used ranges.
extern constinit thread_local RangeThread* this_ranges __attribute__((tls_model("initial-exec")));

}  // namespace proton
