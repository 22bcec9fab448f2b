#include "session/launch_contexts.h"

#include "session/process.h"

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
std::string key_of(const OpEntry& op) {
  std::string key = op.name;
  key += '\0';
  for (size_t i = 0; i < op.metrics.size(); ++i) {
    append_bytes(key, &op.metrics[i].metric, sizeof(MetricId));
    append_value(key, op.metrics.value(i));
  }
  return key;
}

}  // namespace

uint32_t LaunchContexts::intern_op(const OpEntry& op) {
  if (op.id_epoch == process.epoch) return op.id;
  auto [found, is_new] = op_index_.try_emplace(key_of(op), 0);
  if (is_new) {
    Op stored{op.name, {}};
    for (size_t i = 0; i < op.metrics.size(); ++i) {
      const MetricId metric = op.metrics[i].metric;
      stored.metrics.push_back(
          {metric, process.metric_names.name(metric).kind, op.metrics.value(i)});
    }
    found->second = static_cast<uint32_t>(ops_.push_back(std::move(stored)));
  }
  op.id = found->second;
  op.id_epoch = process.epoch;
  return op.id;
}

ContextId LaunchContexts::intern(PathId path, const OpEntry* op) {
  if (op == nullptr) return path;
  const uint32_t id = intern_op(*op);
  bool is_new;
  uint32_t* context = context_index_.find_or_add((uint64_t{path} << 32 | id) + 1, is_new);
  if (is_new) {
    try {
      *context = static_cast<uint32_t>(contexts_.push_back({path, id})) | kLaunchBit;
    } catch (const std::bad_alloc&) {  // four million of them: the path is still right
      *context = path;
    }
  }
  return *context;
}

uint32_t LaunchContexts::intern_suffix(const ContextStack& stack) {
  if (stack.state == nullptr && stack.op == nullptr) return 0;
  std::string key;
  if (stack.op != nullptr) {
    const uint32_t id = intern_op(*stack.op) + 1;
    append_bytes(key, &id, sizeof(id));
  } else {
    key.append(sizeof(uint32_t), '\0');
  }
  if (stack.state != nullptr) key.append(stack.state->name) += '\1';
  return suffix_index_.try_emplace(key, static_cast<uint32_t>(suffix_index_.size() + 1))
      .first->second;
}

void LaunchContexts::clear() {
  ops_.clear();
  contexts_.clear();
  op_index_.clear();
  suffix_index_.clear();
  context_index_.clear();
}

}  // namespace proton
