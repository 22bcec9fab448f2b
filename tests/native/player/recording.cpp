/// Reads a recording: entries with the answers that belong to them, and the steps to play.
#include <algorithm>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>

#include "player.h"

namespace player {
namespace {

/// Strings live as long as the process: Proton keeps pointers to names.
const std::string* keep(std::string_view text) {
  static auto& kept = *new std::deque<std::string>;
  return &kept.emplace_back(text);
}

template <typename Pointer>
void read_handle(recording::Fields& fields, Pointer& handle) {
  handle = reinterpret_cast<Pointer>(fields.varint());
}

}  // namespace

const std::string* Recording::text(uint64_t number) const {
  static const std::string* unknown = keep("");
  return number < strings_.size() ? strings_[number] : unknown;
}

int64_t Recording::fact(const std::string& name, int64_t otherwise) const {
  const auto found = facts.find(name);
  return found == facts.end() ? otherwise : std::stoll(found->second);
}

std::string Recording::load(const char* path, uint64_t limit) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::string(path) + ": cannot be read";
  std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!content.starts_with(recording::kMagic)) return std::string(path) + ": no recording";
  content.resize(std::min<uint64_t>(content.size(), limit));
  recording::Fields fields(content.data() + recording::kMagic.size(),
                           content.data() + content.size());
  while (!fields.is_at_end() && read_entry(fields)) {
  }
  make_steps();
  return "";
}

/// False: the recording ends here.
bool Recording::read_entry(recording::Fields& fields) {
  const auto kind = static_cast<recording::EntryKind>(fields.bytes(1)[0]);
  if (kind == recording::kString) {
    strings_.push_back(keep(fields.bytes(fields.varint())));
    return !fields.is_cut();
  }
  if (kind == recording::kFact) {
    const std::string* name = text(fields.varint());
    facts[*name] = *text(fields.varint());
    return !fields.is_cut();
  }
  if (kind == recording::kEnd) {
    is_complete = true;
    return false;
  }
  Entry entry;
  entry.kind = kind;
  entry.thread = static_cast<uint32_t>(fields.varint());
  switch (kind) {
    case recording::kCall: {
      const std::string* function = text(fields.varint());
      const uint64_t argument = fields.varint();
      fields.varint();  // its result
      if (*function == "cuptiGetTimestamp" && first_time == 0) first_time = argument;
      return !fields.is_cut();
    }
    case recording::kQuery:
    case recording::kDropped: {
      Query query{nullptr, 0, 0};
      if (kind == recording::kQuery) {
        query.function = text(fields.varint());
        query.handle = fields.varint();
      }
      query.answer = fields.varint();
      auto owner = std::find_if(entries.rbegin(), entries.rend(),
                                [&](const Entry& one) { return one.thread == entry.thread; });
      // A thread that does nothing but flush has no entries: what it was told holds from now on.
      if (kind == recording::kDropped && owner == entries.rend()) owner = entries.rbegin();
      if (owner != entries.rend() && !fields.is_cut()) owner->queries.push_back(query);
      return !fields.is_cut();
    }
    case recording::kDriver:
      read_driver(fields, entry);
      break;
    case recording::kResource:
      read_resource(fields, entry);
      break;
    case recording::kBuffer:
      read_buffer(fields, entry);
      break;
    case recording::kNote:
      entry.note = text(fields.varint());
      break;
    case recording::kOther:
      fields.varint();
      fields.varint();
      return !fields.is_cut();
    default:
      return false;
  }
  if (!fields.is_cut()) entries.push_back(std::move(entry));
  return !fields.is_cut();
}

void Recording::read_driver(recording::Fields& fields, Entry& entry) {
  CallbackData& data = entry.driver;
  entry.cbid = static_cast<uint32_t>(fields.varint());
  data.site = static_cast<int>(fields.varint());
  data.function_name = text(fields.varint())->c_str();
  data.correlation_id = static_cast<uint32_t>(fields.varint());
  read_handle(fields, data.context);
  data.context_uid = static_cast<uint32_t>(fields.varint());
  if (const uint64_t symbol = fields.varint(); symbol != 0) {
    data.symbol_name = text(symbol - 1)->c_str();
  }
  for (uint64_t words = fields.varint(); words > 0 && !fields.is_cut(); --words) {
    entry.words[0] = fields.varint();
  }
}

void Recording::read_resource(recording::Fields& fields, Entry& entry) {
  entry.cbid = static_cast<uint32_t>(fields.varint());
  read_handle(fields, entry.resource.context);
  read_handle(fields, entry.resource.handle);
  entry.has_graph = fields.varint() != 0;
  if (!entry.has_graph) return;
  GraphData& graph = entry.graph;
  for (void** handle : {&graph.graph, &graph.original_graph, &graph.node, &graph.original_node}) {
    read_handle(fields, *handle);
  }
  graph.node_type = static_cast<int>(fields.varint());
  read_handle(fields, graph.dependency);
  read_handle(fields, graph.graph_exec);
}

void Recording::read_buffer(recording::Fields& fields, Entry& entry) {
  fields.varint();  // whether in a flush: replays find that out themselves
  read_handle(fields, entry.context);
  entry.stream = static_cast<uint32_t>(fields.varint());
  for (uint64_t count = fields.varint(); count > 0 && !fields.is_cut(); --count) {
    std::string record(fields.bytes(fields.varint()));
    uint32_t kind = 0;
    if (record.size() < sizeof kind) return;
    std::memcpy(&kind, record.data(), sizeof kind);
    record_sizes[kind] = record.size();
    if (kind == kConcurrentKernelActivity || kind == kKernelActivity) {
      uint64_t name = 0;
      char* at = record.data() + offsetof(KernelRecord, name);
      std::memcpy(&name, at, sizeof name);
      const char* pointer = name == 0 ? nullptr : text(name - 1)->c_str();
      std::memcpy(at, &pointer, sizeof pointer);
    }
    entry.records.push_back(std::move(record));
  }
}

void Recording::make_steps() {
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    const bool is_more = !steps.empty() && entry.note == nullptr && steps.back().note == nullptr &&
                         steps.back().thread == entry.thread;
    if (is_more) {
      steps.back().last = i + 1;
    } else {
      steps.push_back({entry.thread, i, i + 1, entry.note});
    }
  }
}

}  // namespace player
