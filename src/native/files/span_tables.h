/// What the spans of a chrome trace have besides, as columns: launch attributes, and what launches
/// are called. On the events themselves they would be half of the file, and other viewers show
/// little of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "files/format.h"
#include "files/json_encoder.h"
#include "files/summary_writer.h"
#include "model/trace_log.h"

namespace proton {

/// True for spans whose attributes stand in the tables.
inline bool has_row(SpanKind kind) {
  return kind == SpanKind::kKernel || kind == SpanKind::kCopy || kind == SpanKind::kGraph ||
         kind == SpanKind::kLaunch;
}

class SpanTables {
 public:
  explicit SpanTables(const TraceLog& log) : log_(log), attribute_numbers_(log.attributes.size()) {}

  /// The next span of the file for which `has_row` holds.
  void add(const TraceSpan& span) {
    attributes_of_.push_back(number_of_attributes(span.attributes));
    if (span.kind == SpanKind::kLaunch) {
      names_of_.push_back(number_of_name(log_.paths[span.path].name));
    }
  }

  bool is_empty() const { return attributes_of_.empty(); }

  void write(JsonEncoder& out) const {
    out.begin_map(0);
    out.plain_key(format::kAttributes);
    out.begin_list(0);
    for (const uint32_t index : attributes_) write_value(Value{log_.attributes[index]}, out);
    out.end_list();
    write_column(format::kAttributesOf, attributes_of_, out);
    out.plain_key(format::kNames);
    out.begin_list(0);
    for (const std::string* name : names_) out.string(*name);
    out.end_list();
    write_column(format::kNamesOf, names_of_, out);
    out.end_map();
  }

 private:
  static void write_column(std::string_view key, const std::vector<uint32_t>& numbers,
                           JsonEncoder& out) {
    out.plain_key(key);
    out.begin_list(0);
    for (const uint32_t number : numbers) out.integer(number);
    out.end_list();
  }

  /// From 1 on in the order of their first span; 0: none.
  uint32_t number_of_attributes(uint32_t index) {
    if (index == 0) return 0;
    uint32_t& number = attribute_numbers_[index];
    if (number == 0) {
      attributes_.push_back(index);
      number = static_cast<uint32_t>(attributes_.size());
    }
    return number;
  }

  uint32_t number_of_name(const std::string* name) {
    const auto [found, is_new] =
        name_numbers_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return found->second;
  }

  const TraceLog& log_;
  std::vector<uint32_t> attributes_;  // indices into the log's
  std::vector<uint32_t> attribute_numbers_;
  std::vector<uint32_t> attributes_of_;
  std::vector<const std::string*> names_;
  std::vector<uint32_t> names_of_;
  std::unordered_map<const std::string*, uint32_t> name_numbers_;
};

}  // namespace proton
