#include "backends/cupti/driver/activities.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace proton::cupti {
namespace {

constexpr const char* kDeviceType = "CUDA";

const char* copy_name(uint8_t kind) {
  static constexpr const char* kNames[] = {
      "<memcpy>",      "<memcpy HtoD>", "<memcpy DtoH>", "<memcpy HtoA>",
      "<memcpy AtoH>", "<memcpy AtoA>", "<memcpy AtoD>", "<memcpy DtoA>",
      "<memcpy DtoD>", "<memcpy HtoH>", "<memcpy PtoP>",
  };
  return kNames[kind < std::size(kNames) ? kind : 0];
}

const char* migration_name(uint32_t counter) {
  switch (counter) {
    case kBytesHtoD:
      return "<unified memory HtoD>";
    case kBytesDtoH:
      return "<unified memory DtoH>";
    case kBytesDtoD:
      return "<unified memory DtoD>";
    default:
      return nullptr;
  }
}

void set_name(KernelEvent& event, const NamePool::Name& name) {
  event.name_id = name.id;
  event.name = name.text;
}

/// What records share, as far as this kind has it. False: the work has not ended.
template <typename Record>
bool read_common(const Record& record, EventKind kind, const ClockMap& clock, KernelEvent& event) {
  event.correlation = 0;
  if constexpr (requires { record.correlation_id; }) event.correlation = record.correlation_id;
  if (record.start == 0 || record.end == 0) return false;
  event.kind = kind;
  event.start_ns = clock.to_host(record.start);
  event.end_ns = clock.to_host(record.end);
  event.lane = record.stream_id;
  event.device_type = kDeviceType;
  if constexpr (requires { record.device_id; }) event.device_id = record.device_id;
  event.graph = 0;
  if constexpr (requires { record.graph_id; }) event.graph = record.graph_id;
  event.graph_node = 0;
  if constexpr (requires { record.graph_node_id; }) event.graph_node = record.graph_node_id;
  event.bytes = 0;
  if constexpr (requires { record.bytes; }) event.bytes = static_cast<int64_t>(record.bytes);
  event.shape = {};
  event.riders = {};
  event.graph_launches = nullptr;
  return true;
}

/// A graph that was launched from the device has no launch of the host's.
template <typename Record>
Decoded asked(const Record& record) {
  return record.correlation_id == 0 && record.graph_node_id != 0 ? Decoded::kUnasked
                                                                 : Decoded::kEvent;
}

Decoded read_kernel(const KernelRecord& record, NamePool& names, const ClockMap& clock,
                    KernelEvent& event) {
  if (!read_common(record, EventKind::kKernel, clock, event)) return Decoded::kIncomplete;
  event.shape = {{record.grid_x, record.grid_y, record.grid_z},
                 {record.block_x, record.block_y, record.block_z},
                 record.registers_per_thread,
                 record.static_shared_memory,
                 record.dynamic_shared_memory};
  set_name(event, names.find(record.name));
  return asked(record);
}

/// Copies, peer copies and memsets.
template <typename Record>
Decoded read_copy(const Record& record, const char* name, NamePool& names, const ClockMap& clock,
                  KernelEvent& event) {
  if (!read_common(record, EventKind::kCopy, clock, event)) return Decoded::kIncomplete;
  set_name(event, names.find(name));
  return asked(record);
}

Decoded read_graph(const GraphRecord& record, NamePool& names, const ClockMap& clock,
                   KernelEvent& event) {
  if (!read_common(record, EventKind::kGraph, clock, event)) return Decoded::kIncomplete;
  set_name(event, names.find_graph(record.graph_id));
  return Decoded::kEvent;
}

Decoded read_migration(const UnifiedMemoryRecord& record, NamePool& names, const ClockMap& clock,
                       KernelEvent& event) {
  const char* name = migration_name(record.counter_kind);
  if (name == nullptr) return Decoded::kIgnored;
  if (!read_common(record, EventKind::kCopy, clock, event)) return Decoded::kIncomplete;
  event.device_id = record.counter_kind == kBytesDtoH ? record.source_id : record.target_id;
  event.bytes = static_cast<int64_t>(record.value);
  set_name(event, names.find(name));
  return Decoded::kUnasked;
}

}  // namespace

Decoded decode(const void* record, NamePool& names, const ClockMap& clock, KernelEvent& event) {
  switch (*static_cast<const uint32_t*>(record)) {
    case kConcurrentKernelActivity:
    case kKernelActivity:
      return read_kernel(*static_cast<const KernelRecord*>(record), names, clock, event);
    case kMemcpyActivity: {
      const auto& copy = *static_cast<const MemcpyRecord*>(record);
      return read_copy(copy, copy_name(copy.copy_kind), names, clock, event);
    }
    case kMemcpyPeerActivity:
      return read_copy(*static_cast<const MemcpyPeerRecord*>(record), "<memcpy PtoP>", names, clock,
                       event);
    case kMemsetActivity:
      return read_copy(*static_cast<const MemsetRecord*>(record), "<memset>", names, clock, event);
    case kGraphTraceActivity:
      return read_graph(*static_cast<const GraphRecord*>(record), names, clock, event);
    case kUnifiedMemoryActivity:
      return read_migration(*static_cast<const UnifiedMemoryRecord*>(record), names, clock, event);
    default:
      return Decoded::kIgnored;
  }
}

const NamePool::Name& NamePool::find_other(const char* text) {
  if (text == nullptr) text = "<unknown kernel>";
  bool is_new;
  uint32_t* at = by_pointer_.find_or_add(reinterpret_cast<uint64_t>(text), is_new);
  if (is_new || (names_[*at]->checked != turn_ && names_[*at]->text != text)) {
    const auto count = static_cast<uint32_t>(names_.size());
    names_.push_back(std::make_unique<Name>(count + 1, text));
    *at = count;
  }
  Name& name = *names_[*at];
  name.checked = turn_;
  last_text_ = text;
  last_ = &name;
  return name;
}

const NamePool::Name& NamePool::find_graph(uint32_t graph) {
  if (by_graph_.size() >= kGraphLimit && by_graph_.find(uint64_t{graph} + 1) == nullptr) {
    return find("<graph>");
  }
  bool is_new;
  uint32_t* at = by_graph_.find_or_add(uint64_t{graph} + 1, is_new);
  if (is_new) {
    *at = static_cast<uint32_t>(names_.size());
    names_.push_back(std::make_unique<Name>(*at + 1, concat("<graph ", graph, ">")));
  }
  return *names_[*at];
}

void ClockMap::start(const ClockPair& pair) {
  first_ = last_ = pair;
  drift_ = 0;
  residual_ns_ = 0;
  is_same_ = is_same();
}

void ClockMap::update(const ClockPair& pair) {
  const int64_t expected = to_host(static_cast<uint64_t>(pair.cupti_ns));
  residual_ns_ = std::max(residual_ns_, std::abs(pair.host_ns - expected));
  last_ = pair;
  is_same_ = is_same();
  const int64_t span = last_.cupti_ns - first_.cupti_ns;
  if (span < kShortestNs) return;
  drift_ = static_cast<double>(last_.offset_ns() - first_.offset_ns()) / static_cast<double>(span);
}

bool ClockMap::is_same() const {
  return std::abs(first_.offset_ns()) < kSameNs && std::abs(last_.offset_ns()) < kSameNs;
}

}  // namespace proton::cupti
