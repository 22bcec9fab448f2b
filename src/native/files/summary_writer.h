/// The parts that every format shares: carried values, metrics, the device map, and our own
/// `proton` map. Templates over an encoder, so that all formats hold the same object.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "files/format.h"
#include "model/call_tree.h"
#include "model/metric.h"
#include "model/value.h"

namespace proton {

/// False for a metric with a NaN or an infinity in it: JSON has no way to write those.
inline bool is_finite(const MetricValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return std::isfinite(*number);
  if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    return std::ranges::all_of(*list, [](double number) { return std::isfinite(number); });
  }
  return true;
}

template <typename Encoder>
void write_metric_value(const MetricValue& value, Encoder& out) {
  const auto write_one = [&out](auto number) {
    if constexpr (std::is_same_v<decltype(number), double>) {
      out.number(number);
    } else {
      out.integer(number);
    }
  };
  std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::string>) {
          out.string(held);
        } else if constexpr (std::is_arithmetic_v<Held>) {
          write_one(held);
        } else {
          out.begin_list(held.size());
          for (const auto number : held) write_one(number);
          out.end_list();
        }
      },
      value);
}

/// Writes the map of `metrics`; how many were left out because they are not finite.
template <typename Encoder>
size_t write_metrics(std::span<const Metric> metrics, Encoder& out) {
  size_t skipped = 0;
  for (const Metric& metric : metrics) skipped += !is_finite(metric.value);
  out.begin_map(metrics.size() - skipped);
  for (const Metric& metric : metrics) {
    if (skipped > 0 && !is_finite(metric.value)) continue;
    out.key(*metric.key);
    write_metric_value(metric.value, out);
  }
  out.end_map();
  return skipped;
}

/// Recursive: carried values are as deep as the program that made them, not as its profile.
template <typename Encoder>
void write_value(const Value& value, Encoder& out) {
  std::visit(
      [&out](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          out.null();
        } else if constexpr (std::is_same_v<Held, bool>) {
          out.boolean(held);
        } else if constexpr (std::is_integral_v<Held>) {
          out.integer(held);
        } else if constexpr (std::is_same_v<Held, double>) {
          std::isfinite(held) ? out.number(held) : out.null();
        } else if constexpr (std::is_same_v<Held, std::string>) {
          out.string(held);
        } else if constexpr (std::is_same_v<Held, Value::List>) {
          out.begin_list(held.size());
          for (const Value& part : held) write_value(part, out);
          out.end_list();
        } else {
          out.begin_map(held.size());
          for (const auto& [name, part] : held) {
            out.key(name);
            write_value(part, out);
          }
          out.end_map();
        }
      },
      value.data);
}

/// {"CUDA": {"0": {...}}}, types and ids in the order they were seen.
template <typename Encoder>
void write_device_map(const std::vector<DeviceEntry>& devices, Encoder& out) {
  std::vector<std::string_view> types;
  for (const DeviceEntry& device : devices) {
    if (std::ranges::find(types, device.type) == types.end()) types.push_back(device.type);
  }
  out.begin_map(types.size());
  for (const std::string_view type : types) {
    const auto is_of_type = [type](const DeviceEntry& device) { return device.type == type; };
    out.key(type);
    out.begin_map(std::ranges::count_if(devices, is_of_type));
    for (const DeviceEntry& device : devices) {
      if (!is_of_type(device)) continue;
      out.key(device.id);
      write_value(Value{device.attributes}, out);
    }
    out.end_map();
  }
  out.end_map();
}

inline constexpr std::string_view kMetricKindNames[] = {"inclusive", "exclusive", "property"};

/// Counts of what was found wrong while writing, to be added to the session's own losses.
using WriteLosses = std::map<std::string_view, uint64_t>;

/// True for keys of the `proton` map that are written from the summary, not from the header.
inline bool is_own_key(std::string_view key) {
  using namespace format;
  constexpr std::array kOwn = {kFormat,   kLosses, kWarnings, kAutotune, kMetricKinds,
                               kSampling, kKinds,  kKernels,  kDevices,  kSpanTables};
  return std::ranges::find(kOwn, key) != kOwn.end();
}

/// Writes the pairs of the `proton` map but the last ones, `extra_count` of them, which the caller
/// writes next, followed by end_map.
template <typename Encoder>
void begin_summary(const Summary& summary, const WriteLosses& found, size_t extra_count,
                   Encoder& out) {
  const auto is_carried = [](const auto& pair) { return !is_own_key(pair.first); };
  std::map<std::string, uint64_t> losses = summary.losses;
  for (const auto& [kind, count] : found) {
    if (count > 0) losses[std::string(kind)] += count;
  }

  const size_t own_key_count = summary.sampling.empty() ? 5 : 6;
  out.begin_map(std::ranges::count_if(summary.header, is_carried) + own_key_count + extra_count);
  out.plain_key(format::kFormat);
  out.integer(format::kFormatVersion);
  for (const auto& [name, value] : summary.header) {
    if (is_own_key(name)) continue;
    out.key(name);
    write_value(value, out);
  }
  out.plain_key(format::kLosses);
  out.begin_map(losses.size());
  for (const auto& [kind, count] : losses) {
    out.key(kind);
    out.integer(count);
  }
  out.end_map();
  out.plain_key(format::kWarnings);
  out.begin_list(summary.warnings.size());
  for (const std::string& text : summary.warnings) out.string(text);
  out.end_list();
  out.plain_key(format::kAutotune);
  out.begin_list(summary.autotune.size());
  for (const Value& tuned : summary.autotune) write_value(tuned, out);
  out.end_list();
  out.plain_key(format::kMetricKinds);
  out.begin_map(summary.metric_kinds.size());
  for (const auto& [name, kind] : summary.metric_kinds) {
    out.key(name);
    out.plain_string(kMetricKindNames[static_cast<size_t>(kind)]);
  }
  out.end_map();
  if (!summary.sampling.empty()) {
    out.plain_key(format::kSampling);
    write_value(Value{summary.sampling}, out);
  }
}

}  // namespace proton
