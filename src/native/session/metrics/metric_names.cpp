#include "session/metrics/metric_names.h"

#include "base/error.h"
#include "base/text.h"

namespace proton {
namespace {

bool strip_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

ForcedType forced_type(std::string_view key) {
  if (key == "bytes") return ForcedType::kInteger;
  for (std::string_view name : {"flops", "flops8", "flops16", "flops32", "flops64"}) {
    if (key == name) return ForcedType::kFloat;
  }
  return ForcedType::kNone;
}

}  // namespace

MetricName parse_metric_name(std::string_view written) {
  std::string_view key = written;
  MetricKind kind = MetricKind::kInclusive;
  if (strip_suffix(key, "(exc)")) {
    kind = MetricKind::kExclusive;
  } else if (strip_suffix(key, "(pty)")) {
    kind = MetricKind::kProperty;
  }
  while (kind != MetricKind::kInclusive && key.ends_with(' ')) key.remove_suffix(1);
  if (key.empty()) {
    throw Error(ErrorKind::kUsage,
                concat("metric name ", quote(written), " is empty; give the metric a name"));
  }
  if (key.find('\0') != std::string_view::npos) {
    throw Error(ErrorKind::kUsage,
                "a metric name contains a NUL character; remove it from the name");
  }
  return {std::string(key), kind, forced_type(key)};
}

MetricNames::MetricNames() {
  intern("cpu_time (ns)(exc)");
  intern("calls (exc)");
}

MetricId MetricNames::intern(std::string_view written) {
  MetricName name = parse_metric_name(written);
  const std::string full = concat(name.key, "|", static_cast<int>(name.kind));
  auto [found, is_new] = by_key_.try_emplace(full, static_cast<MetricId>(names_.size()));
  if (is_new) names_.push_back(std::move(name));
  return found->second;
}

}  // namespace proton
