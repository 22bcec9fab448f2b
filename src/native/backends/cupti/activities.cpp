#include "backends/cupti/activities.h"

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

/// What all records share. False: the work has not ended.
template <typename Record>
bool read_times(const Record& record, const ClockMap& clock, KernelEvent& event) {
  if (record.start == 0 || record.end == 0) return false;
  event.start_ns = clock.to_host(record.start);
  event.end_ns = clock.to_host(record.end);
  event.lane = record.stream_id;
  event.device_type = kDeviceType;
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
  event.correlation = record.correlation_id;
  if (!read_times(record, clock, event)) return Decoded::kIncomplete;
  event.kind = EventKind::kKernel;
  event.device_id = record.device_id;
  event.graph = record.graph_id;
  event.graph_node = record.graph_node_id;
  event.bytes = 0;
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
  event.correlation = record.correlation_id;
  if (!read_times(record, clock, event)) return Decoded::kIncomplete;
  event.kind = EventKind::kCopy;
  event.device_id = record.device_id;
  event.graph = record.graph_id;
  event.graph_node = record.graph_node_id;
  event.bytes = static_cast<int64_t>(record.bytes);
  event.shape = {};
  set_name(event, names.find(name));
  return asked(record);
}

Decoded read_graph(const GraphRecord& record, NamePool& names, const ClockMap& clock,
                   KernelEvent& event) {
  event.correlation = record.correlation_id;
  if (!read_times(record, clock, event)) return Decoded::kIncomplete;
  event.kind = EventKind::kGraph;
  event.device_id = record.device_id;
  event.graph = record.graph_id;
  event.graph_node = 0;
  event.bytes = 0;
  event.shape = {};
  set_name(event, names.find_graph(record.graph_id));
  return Decoded::kEvent;
}

Decoded read_migration(const UnifiedMemoryRecord& record, NamePool& names, const ClockMap& clock,
                       KernelEvent& event) {
  const char* name = migration_name(record.counter_kind);
  if (name == nullptr) return Decoded::kIgnored;
  event.correlation = 0;
  if (!read_times(record, clock, event)) return Decoded::kIncomplete;
  event.kind = EventKind::kCopy;
  event.device_id = record.counter_kind == kBytesDtoH ? record.source_id : record.target_id;
  event.graph = 0;
  event.graph_node = 0;
  event.bytes = static_cast<int64_t>(record.value);
  event.shape = {};
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

}  // namespace proton::cupti
