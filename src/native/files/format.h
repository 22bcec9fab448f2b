/// Names and constants of the files we write; the C++ home of the format that
/// src/proton/files/encoding/schema.py reads. Keys of values are the model's own (metric names,
/// losses).
#pragma once

#include <cstdint>
#include <string_view>

namespace proton::format {

/// Raised when a reader of the previous number would misread a file.
inline constexpr int64_t kFormatVersion = 1;

// Hatchet: JSON and msgpack.
inline constexpr std::string_view kFrame = "frame";
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kType = "type";
inline constexpr std::string_view kFrameType = "function";
inline constexpr std::string_view kMetrics = "metrics";
inline constexpr std::string_view kChildren = "children";

// Our own key: on the root node of a tree, at the top of a trace.
inline constexpr std::string_view kProton = "proton";
inline constexpr std::string_view kFormat = "format";
inline constexpr std::string_view kLosses = "losses";
inline constexpr std::string_view kWarnings = "warnings";
inline constexpr std::string_view kAutotune = "autotune";
inline constexpr std::string_view kMetricKinds = "metric_kinds";
inline constexpr std::string_view kSampling = "sampling";
inline constexpr std::string_view kKinds = "kinds";      // trees: one FrameKind letter a node
inline constexpr std::string_view kKernels = "kernels";  // trees: spread and launch of rows
inline constexpr std::string_view kEntries = "entries";  // trees: how often scopes were entered
inline constexpr std::string_view kDevices = "devices";  // traces: the device map

// Losses that are found while writing.
inline constexpr std::string_view kNonFiniteMetric = "non_finite_metric";
inline constexpr std::string_view kInvalidText = "invalid_text";
inline constexpr std::string_view kNegativeDuration = "negative_duration";
inline constexpr std::string_view kClippedSpan = "clipped_span";  // too many overlapped

// Perfetto: what our reader needs besides, an annotation beside `proton`'s.
inline constexpr std::string_view kProtonTables = "proton_tables";

// Chrome trace.
inline constexpr std::string_view kDisplayTimeUnit = "displayTimeUnit";
inline constexpr std::string_view kMicroseconds = "us";
inline constexpr std::string_view kNanoseconds = "ns";
inline constexpr std::string_view kBaseTime = "baseTimeNanoseconds";
inline constexpr std::string_view kTraceEvents = "traceEvents";
inline constexpr std::string_view kProcessName = "Trace";
inline constexpr std::string_view kCallStack = "call_stack";
inline constexpr std::string_view kScopeId = "scope_id";
// What spans have besides, in columns of the `proton` map.
inline constexpr std::string_view kSpanTables = "spans";
inline constexpr std::string_view kAttributes = "attributes";
inline constexpr std::string_view kAttributesOf = "attributes_of";
inline constexpr std::string_view kNames = "names";
inline constexpr std::string_view kNamesOf = "names_of";
inline constexpr int64_t kProcessId = 0;
// Thread ids: CPU thread n is n, the first device's graph lanes, streams and multiprocessors follow
// these bases. Warps have texts.
inline constexpr uint64_t kGraphLaneBase = 100'000;
inline constexpr uint64_t kStreamLaneBase = 200'000;
inline constexpr uint64_t kSmLaneBase = 300'000;
inline constexpr uint64_t kDeviceLaneStride = 1'000'000;  // between one device's ids and the next's
inline constexpr uint64_t kSpareLaneBase = 2'000'000'000;  // ids for lanes whose own is taken

}  // namespace proton::format
