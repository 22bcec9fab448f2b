/// The kinds of loss that the core itself counts; backends may add words of their own.
#pragma once

namespace proton::losses {

inline constexpr const char* kDropped = "dropped_event";           // the driver said so
inline constexpr const char* kUnknownLaunch = "unknown_launch";    // no context for a kernel
inline constexpr const char* kUnclosedScope = "unclosed_scope";    // left open below another
inline constexpr const char* kUnmatchedExit = "unmatched_exit";    // left, but not entered here
inline constexpr const char* kUnmatchedRange = "unmatched_nvtx";   // ended, but not begun here
inline constexpr const char* kUnclosedRange = "unclosed_nvtx";     // its thread ended first
inline constexpr const char* kInvalidText = "invalid_text";        // a name was not UTF-8
inline constexpr const char* kMetricConflict = "metric_conflict";  // another type than before
inline constexpr const char* kMetricOverflow = "metric_overflow";  // a sum left int64
inline constexpr const char* kBadMetric = "bad_metric";            // refused while failing anyway
inline constexpr const char* kLostValue = "lost_value";            // a tensor's, never read
inline constexpr const char* kBadTime = "bad_time";                // an event ended before it began
inline constexpr const char* kIncomplete = "incomplete_event";     // read before its work had ended
inline constexpr const char* kUnrecorded = "unrecorded_launch";    // its kernel has no record
inline constexpr const char* kLate = "late_event";  // after its phase was written or cleared
inline constexpr const char* kLaunchMetadata = "launch_metadata";  // too many distinct ones
inline constexpr const char* kStep = "step";                       // beyond those with their times
inline constexpr const char* kInternal = "internal_error";         // an exception in a callback

// Of instrumented kernels: launches whose buffers were not read, or whose times could not be put on
// the host's clock.
inline constexpr const char* kDroppedBuffers = "dropped_buffers";
inline constexpr const char* kUnplacedLaunch = "unplaced_in_kernel_launch";
inline constexpr const char* kRegionSpans = "in_kernel_spans";  // more than a timeline keeps

// Of instruction sampling. The hardware dropped samples; its buffer was full when it was read; they
// were in code that is not the program's; a context was not sampled to its end.
inline constexpr const char* kDroppedSamples = "dropped_samples";
inline constexpr const char* kSampleOverflow = "sample_buffer_overflow";
inline constexpr const char* kNonUserSamples = "non_user_samples";
inline constexpr const char* kLostSampling = "sampling_lost_context";

}  // namespace proton::losses
