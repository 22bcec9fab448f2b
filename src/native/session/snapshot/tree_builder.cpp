// Taking a phase of a tree session, and what both kinds of snapshot share.
#include "session/snapshot/tree_builder.h"
#include "base/error.h"
#include "base/text.h"
#include "session/snapshot/snapshot.h"

namespace proton {

std::string graph_name(uint32_t graph) { return concat("<graph ", graph, ">"); }

uint32_t SnapshotStrings::intern(std::string text) {
  if (auto found = index_.find(text); found != index_.end()) return found->second;
  const auto id = static_cast<uint32_t>(strings_.size());
  strings_.push_back(std::move(text));
  index_.emplace(strings_.back(), id);
  return id;
}

uint32_t SnapshotStrings::intern_frame(FrameId frame) {
  auto [found, is_new] = frames_.try_emplace(frame.bits(), 0);
  if (is_new) found->second = intern(process.frame_name(frame));
  return found->second;
}

CallTree build_tree(TreeCopy copy) { return TreeBuilder(copy).build(); }

CallTree Session::snapshot_tree(int phase, Value::Map header) const {
  TreeCopy copy(*this, phase);
  copy.copy_device_part();
  copy.copy_host_part(std::move(header));
  return build_tree(std::move(copy));
}

std::shared_ptr<const Phase> Session::find_phase(int phase, DataKind data) const {
  if (data != data_) {
    throw Error(ErrorKind::kDataKind,
                concat("session ", id_, " records a ",
                       data_ == DataKind::kTree ? "tree, not a trace" : "trace, not a tree",
                       "; start it with data=", data == DataKind::kTree ? "'tree'" : "'trace'"));
  }
  std::lock_guard lock(mutex_);
  if (!has_phase(phase)) {
    throw Error(ErrorKind::kPhaseNotFound, concat("session ", id_, " has no data for phase ", phase,
                                                  "; the current phase is ", current_->number));
  }
  return phases_.at(phase);
}

}  // namespace proton
