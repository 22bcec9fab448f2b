/// Numbers of Perfetto's trace protos (perfetto_trace.proto), by message; the C++ home of what
/// src/proton/files/perfetto/fields.py reads.
#pragma once

#include <cstdint>

namespace proton::perfetto {

inline constexpr uint32_t kTracePacket = 1;  // of Trace and TracePackets

namespace packet {
inline constexpr uint32_t kClockSnapshot = 6;
inline constexpr uint32_t kTimestamp = 8;
inline constexpr uint32_t kSequenceId = 10;
inline constexpr uint32_t kTrackEvent = 11;
inline constexpr uint32_t kInternedData = 12;
inline constexpr uint32_t kSequenceFlags = 13;
inline constexpr uint32_t kCompressedPackets = 50;
inline constexpr uint32_t kClockId = 58;
inline constexpr uint32_t kDefaults = 59;
inline constexpr uint32_t kTrackDescriptor = 60;
}  // namespace packet

namespace flags {
inline constexpr uint64_t kStateCleared = 1;
inline constexpr uint64_t kNeedsState = 2;
}  // namespace flags

namespace snapshot {
inline constexpr uint32_t kClocks = 1;
inline constexpr uint32_t kPrimaryClock = 2;
}  // namespace snapshot

namespace clock {
inline constexpr uint32_t kId = 1;
inline constexpr uint32_t kTimestamp = 2;
inline constexpr uint32_t kIsIncremental = 3;
}  // namespace clock

namespace clock_id {
inline constexpr uint64_t kRealtime = 1;
inline constexpr uint64_t kMonotonic = 3;
inline constexpr uint64_t kBoottime = 6;
inline constexpr uint64_t kIncremental = 64;  // the first of those that belong to a sequence
}  // namespace clock_id

namespace defaults {
inline constexpr uint32_t kTrackEvent = 11;
inline constexpr uint32_t kClockId = 58;
}  // namespace defaults

namespace track {
inline constexpr uint32_t kUuid = 1;
inline constexpr uint32_t kName = 2;
inline constexpr uint32_t kProcess = 3;
inline constexpr uint32_t kThread = 4;
inline constexpr uint32_t kParentUuid = 5;
inline constexpr uint32_t kCounter = 8;
inline constexpr uint32_t kChildOrdering = 11;
inline constexpr uint32_t kSiblingRank = 12;
inline constexpr uint64_t kExplicitOrder = 3;
}  // namespace track

namespace process {
inline constexpr uint32_t kPid = 1;
inline constexpr uint32_t kCommand = 2;
inline constexpr uint32_t kName = 6;
}  // namespace process

namespace thread {
inline constexpr uint32_t kPid = 1;
inline constexpr uint32_t kTid = 2;
inline constexpr uint32_t kName = 5;
}  // namespace thread

namespace event {
inline constexpr uint32_t kCategoryIid = 3;
inline constexpr uint32_t kAnnotation = 4;
inline constexpr uint32_t kType = 9;
inline constexpr uint32_t kNameIid = 10;
inline constexpr uint32_t kTrackUuid = 11;
inline constexpr uint32_t kName = 23;
inline constexpr uint32_t kCounterValue = 30;
inline constexpr uint32_t kDoubleCounterValue = 44;
inline constexpr uint32_t kFlowId = 47;
inline constexpr uint32_t kTerminatingFlowId = 48;
}  // namespace event

namespace event_type {
inline constexpr uint64_t kBegin = 1;
inline constexpr uint64_t kEnd = 2;
inline constexpr uint64_t kInstant = 3;
inline constexpr uint64_t kCounter = 4;
}  // namespace event_type

namespace annotation {
inline constexpr uint32_t kNameIid = 1;
inline constexpr uint32_t kBool = 2;
inline constexpr uint32_t kUint = 3;
inline constexpr uint32_t kInt = 4;
inline constexpr uint32_t kDouble = 5;
inline constexpr uint32_t kString = 6;
inline constexpr uint32_t kJson = 9;
inline constexpr uint32_t kName = 10;
inline constexpr uint32_t kDictEntry = 11;
inline constexpr uint32_t kArrayValue = 12;
inline constexpr uint32_t kStringIid = 17;
}  // namespace annotation

namespace interned {
inline constexpr uint32_t kCategories = 1;
inline constexpr uint32_t kNames = 2;
inline constexpr uint32_t kAnnotationNames = 3;
inline constexpr uint32_t kAnnotationStrings = 29;
inline constexpr uint32_t kIid = 1;  // of every interned message
inline constexpr uint32_t kText = 2;
}  // namespace interned

}  // namespace proton::perfetto
