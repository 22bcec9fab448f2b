/// How long each kernel ran at each place, by the symbol that the device knows it by: what its
/// samples are divided by. Kept by sessions that sample. Not locked.
#pragma once

#include <cstdint>
#include <vector>

#include "base/key_index.h"
#include "model/ids.h"

namespace proton {

struct TimedSymbol {
  uint32_t place;   // a PlaceId
  uint32_t kernel;  // of the session's kernels: the name that launch metadata may have given
  NameId symbol;    // of the session's kernel names
  int64_t time_ns = 0;
};

class TimedSymbols {
 public:
  /// `name_id` tells symbols apart; `symbol` is asked for those that are new at this place.
  template <typename Symbol>  // NameId()
  void add(uint32_t place, uint32_t kernel, uint32_t name_id, int64_t time_ns, Symbol symbol) {
    bool is_new;
    uint32_t* group = groups_.find_or_add(pair_key(place, kernel), is_new);
    if (is_new) *group = group_count_++;
    uint32_t* at = index_.find_or_add(pair_key(*group, name_id), is_new);
    if (is_new) {
      *at = static_cast<uint32_t>(all_.size());
      all_.push_back({place, kernel, symbol()});
    }
    all_[*at].time_ns += time_ns;
  }

  const std::vector<TimedSymbol>& all() const { return all_; }

 private:
  KeyIndex groups_;  // (place, kernel)
  uint32_t group_count_ = 0;
  KeyIndex index_;  // (group, name id) -> all_
  std::vector<TimedSymbol> all_;
};

}  // namespace proton
