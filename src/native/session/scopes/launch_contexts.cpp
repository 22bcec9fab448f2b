#include "session/scopes/launch_contexts.h"

#include "model/losses.h"
#include "session/scopes/process.h"

namespace proton {
namespace {

void append_bytes(std::string& out, const void* data, size_t size) {
  out.append(static_cast<const char*>(data), size);
}

void append_value(std::string& out, const MetricValue& value) {
  out += static_cast<char>(value.index());
  std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_arithmetic_v<Held>) {
          append_bytes(out, &held, sizeof(held));
        } else {
          const size_t size = held.size();
          append_bytes(out, &size, sizeof(size));
          append_bytes(out, held.data(), size * sizeof(held[0]));
        }
      },
      value);
}

/// Everything that tells one op from another.
std::string bytes_of(const OpEntry& op) {
  std::string key = op.name;
  key += '\0';
  for (size_t i = 0; i < op.metrics.size(); ++i) {
    append_bytes(key, &op.metrics[i].metric, sizeof(MetricId));
    append_value(key, op.metrics.value(i));
  }
  return key;
}

}  // namespace

std::vector<OpMetric> to_op_metrics(const SampleList& samples) {
  std::vector<OpMetric> metrics;
  for (size_t i = 0; i < samples.size(); ++i) {
    const MetricId metric = samples[i].metric;
    metrics.push_back({metric, process.metric_names.name(metric).kind, samples.value(i)});
  }
  return metrics;
}

const uint32_t* LaunchContexts::find_op(const OpEntry& op) const {
  if (op.id_epoch == process.epoch) return &op.id;
  const auto found = op_index_.find(bytes_of(op));
  return found == op_index_.end() ? nullptr : &found->second;
}

uint32_t LaunchContexts::intern_op(const OpEntry& op) {
  if (op.id_epoch == process.epoch) return op.id;
  auto [found, is_new] = op_index_.try_emplace(bytes_of(op), 0);
  if (is_new) {
    found->second = add_op({op.name, to_op_metrics(op.metrics)});
  }
  op.id = found->second;
  op.id_epoch = process.epoch;
  return op.id;
}

ContextId LaunchContexts::intern(PathId path, const OpEntry* op) {
  if (op == nullptr) return path;
  if (!has_room()) [[unlikely]] {  // what is known stands, and the tables grow no further
    const uint32_t* known = nullptr;
    if (const uint32_t* id = find_op(*op)) known = context_index_.find(pair_key(path, *id));
    if (known == nullptr) process.count_loss(losses::kLaunchMetadata);
    return known == nullptr ? path : *known;
  }
  return intern(path, intern_op(*op));
}

ContextId LaunchContexts::intern(PathId path, uint32_t id) {
  bool is_new;
  uint32_t* context = context_index_.find_or_add(pair_key(path, id), is_new);
  if (is_new) *context = static_cast<uint32_t>(contexts_.push_back({path, id})) | kLaunchBit;
  return *context;
}

uint32_t LaunchContexts::intern_suffix(const ContextStack& stack) {
  if (stack.state == nullptr && stack.op == nullptr) return 0;
  std::string key;
  uint32_t op = 0;
  if (stack.op != nullptr && has_room()) op = intern_op(*stack.op) + 1;
  append_bytes(key, &op, sizeof(op));
  if (stack.state != nullptr) key.append(stack.state->name) += '\1';
  const auto next = static_cast<uint32_t>(suffix_states_.size());
  const auto [found, is_new] = suffix_index_.try_emplace(key, next);
  if (is_new) suffix_states_.push_back(stack.state == nullptr ? "" : stack.state->name);
  return found->second;
}

ContextId LaunchContexts::pair(ContextId framework, ContextId python) noexcept {
  if (framework == python || framework >= kUnknownContext) return framework;
  std::lock_guard lock(pair_mutex_);
  try {
    if (!pairs_.has_room()) return framework;
    bool is_new;
    uint32_t* at = pair_index_.find_or_add(pair_key(framework, python), is_new);
    if (is_new) *at = static_cast<uint32_t>(pairs_.push_back({framework, python}));
    return *at | kLaunchBit | kRangeBit;
  } catch (...) {  // out of memory
    return framework;
  }
}

void LaunchContexts::clear() {
  {
    std::lock_guard lock(pair_mutex_);
    pairs_.clear();
    pair_index_.clear();
  }
  ops_.clear();
  contexts_.clear();
  op_index_.clear();
  suffix_index_.clear();
  suffix_states_.assign(1, "");
  context_index_.clear();
}

}  // namespace proton
