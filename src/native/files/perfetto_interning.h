/// Texts of a Perfetto trace that events name by number. Numbers hold for the whole file, but every
/// packet sequence has to say those it uses once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/demangle.h"
#include "files/perfetto_fields.h"
#include "files/proto_encoder.h"
#include "model/trace_log.h"

namespace proton {

/// A number as the value of an annotation.
template <typename Number>
void put_number(Number number, ProtoEncoder& out) {
  using namespace perfetto;
  if constexpr (std::is_same_v<Number, double>) {
    out.double_field(annotation::kDouble, number);
  } else {
    const bool is_signed = std::is_same_v<Number, int64_t>;
    out.varint_field(is_signed ? annotation::kInt : annotation::kUint,
                     static_cast<uint64_t>(number));
  }
}

class PerfettoInterning {
 public:
  explicit PerfettoInterning(const TraceLog& log);

  void begin_sequence() { ++sequence_; }

  // The number of a text; what the sequence has not said yet is noted for the next packet.
  uint64_t name(uint32_t path);        // the last name of the path
  uint64_t call_stack(uint32_t path);  // the names down to it, as one text
  uint64_t category(SpanKind kind);
  uint64_t annotation_name(const std::string& key);
  uint64_t call_stack_name();  // of the annotation that most events have

  /// The launch attributes as encoded annotations.
  std::string_view attributes(uint32_t index);

  bool has_new() const { return new_.size() > 0; }
  /// What the next packet has to say (an InternedData message); forgotten by this call.
  std::string_view take_new();

  uint64_t invalid_text_count() const { return invalid_text_count_; }

  /// `text`, or what it becomes where it is not UTF-8.
  std::string_view valid(std::string_view text);

 private:
  struct Attributes {
    std::string annotations;
    std::vector<std::string> keys;
    std::vector<std::pair<uint64_t, std::string>> texts;
    uint32_t sequence = 0;
  };

  bool is_new_here(std::vector<uint32_t>& marks, size_t index) {
    if (marks[index] == sequence_) return false;
    marks[index] = sequence_;
    return true;
  }
  void say(uint32_t field, uint64_t iid, std::string_view text);
  void encode_attributes(uint32_t index);
  void encode_attribute(const Value& value, Attributes& known, ProtoEncoder& out);

  const TraceLog& log_;
  uint32_t sequence_ = 0;
  ReadableNames readable_{kLaunchPrefix};
  std::vector<uint32_t> name_marks_;  // by path: the sequence that said it last
  std::vector<uint32_t> stack_marks_;
  std::vector<uint32_t> category_marks_;
  std::vector<uint32_t> key_marks_;
  std::unordered_map<std::string, uint32_t> keys_;
  std::vector<Attributes> attributes_;
  uint64_t call_stack_name_ = 0;
  uint32_t call_stack_sequence_ = 0;
  uint64_t next_text_iid_;  // behind those of call stacks
  ProtoEncoder new_;
  ProtoEncoder taken_;
  ProtoEncoder entry_;
  std::string text_;
  std::string replaced_;
  std::vector<uint32_t> rows_;
  uint64_t invalid_text_count_ = 0;
};

}  // namespace proton
