#include "files/perfetto_interning.h"

#include <variant>

#include "files/trace_layout.h"
#include "files/utf8.h"

namespace proton {

namespace {

constexpr std::string_view kStackSeparator = " > ";

/// "4x4x1" of a list of three sizes; empty for anything else.
std::string show_extent(const Value::List& list) {
  if (list.size() != 3) return {};
  std::string text;
  for (const Value& part : list) {
    const auto* number = std::get_if<int64_t>(&part.data);
    if (number == nullptr || *number < 0) return {};
    if (!text.empty()) text += 'x';
    text += std::to_string(*number);
  }
  return text;
}

}  // namespace

PerfettoInterning::PerfettoInterning(const TraceLog& log)
    : log_(log),
      name_marks_(log.paths.size()),
      stack_marks_(log.paths.size()),
      category_marks_(std::size(kSpanKinds)),
      attributes_(log.attributes.size()),
      next_text_iid_(log.paths.size() + 1) {}

std::string_view PerfettoInterning::valid(std::string_view text) {
  if (is_valid_utf8(text)) return text;
  ++invalid_text_count_;
  replaced_ = replace_invalid_utf8(text);
  return replaced_;
}

void PerfettoInterning::say(uint32_t field, uint64_t iid, std::string_view text) {
  entry_.clear();
  entry_.varint_field(perfetto::interned::kIid, iid);
  entry_.bytes_field(perfetto::interned::kText, text);
  new_.bytes_field(field, entry_.view());
}

uint64_t PerfettoInterning::name(uint32_t path) {
  const uint64_t iid = uint64_t{path} + 1;
  if (is_new_here(name_marks_, path)) {
    // Our own reader takes the name itself from the tables.
    say(perfetto::interned::kNames, iid, valid(readable_.find(*log_.paths[path].name)));
  }
  return iid;
}

uint64_t PerfettoInterning::call_stack(uint32_t path) {
  const uint64_t iid = uint64_t{path} + 1;
  if (!is_new_here(stack_marks_, path)) return iid;
  rows_.clear();
  for (uint32_t row = path; row != 0; row = log_.paths[row].parent) rows_.push_back(row);
  text_.clear();
  for (size_t i = rows_.size(); i-- > 0;) {
    text_ += *log_.paths[rows_[i]].name;
    if (i > 0) text_ += kStackSeparator;
  }
  // Not counted: the names themselves are said too.
  say(perfetto::interned::kAnnotationStrings, iid,
      is_valid_utf8(text_) ? text_ : replace_invalid_utf8(text_));
  return iid;
}

uint64_t PerfettoInterning::category(SpanKind kind) {
  const auto number = static_cast<uint64_t>(kind);
  if (is_new_here(category_marks_, number)) {
    say(perfetto::interned::kCategories, number + 1, category_of(kind));
  }
  return number + 1;
}

uint64_t PerfettoInterning::annotation_name(const std::string& key) {
  const auto [found, is_added] = keys_.try_emplace(key, static_cast<uint32_t>(keys_.size()));
  if (is_added) key_marks_.push_back(0);
  if (is_new_here(key_marks_, found->second)) {
    say(perfetto::interned::kAnnotationNames, found->second + 1, valid(key));
  }
  return found->second + 1;
}

uint64_t PerfettoInterning::call_stack_name() {
  if (call_stack_sequence_ == sequence_) return call_stack_name_;
  call_stack_sequence_ = sequence_;
  return call_stack_name_ = annotation_name("call_stack");
}

std::string_view PerfettoInterning::attributes(uint32_t index) {
  Attributes& known = attributes_[index];
  if (known.annotations.empty()) encode_attributes(index);
  if (known.sequence != sequence_) {
    known.sequence = sequence_;
    for (const std::string& key : known.keys) annotation_name(key);
    for (const auto& [iid, text] : known.texts) {
      say(perfetto::interned::kAnnotationStrings, iid, text);
    }
  }
  return known.annotations;
}

void PerfettoInterning::encode_attributes(uint32_t index) {
  using namespace perfetto;
  Attributes& known = attributes_[index];
  ProtoEncoder all;
  ProtoEncoder one;
  for (const auto& [key, value] : log_.attributes[index]) {
    one.clear();
    one.varint_field(annotation::kNameIid, annotation_name(key));
    encode_attribute(value, known, one);
    known.keys.push_back(key);
    all.bytes_field(event::kAnnotation, one.view());
  }
  known.annotations = all.view();
}

void PerfettoInterning::encode_attribute(const Value& value, Attributes& known, ProtoEncoder& out) {
  using namespace perfetto;
  const auto put_text = [&](std::string_view text) {
    out.varint_field(annotation::kStringIid, next_text_iid_);
    known.texts.emplace_back(next_text_iid_++, valid(text));
  };
  const auto put = [&](const auto& held) {
    using Held = std::decay_t<decltype(held)>;
    if constexpr (std::is_arithmetic_v<Held> && !std::is_same_v<Held, bool>) {
      put_number(held, out);
    } else if constexpr (std::is_same_v<Held, std::string>) {
      put_text(held);
    } else if constexpr (std::is_same_v<Held, Value::List>) {
      if (const std::string extent = show_extent(held); !extent.empty()) return put_text(extent);
      for (const Value& part : held) {
        ProtoEncoder one;
        encode_attribute(part, known, one);
        out.bytes_field(annotation::kArrayValue, one.view());
      }
    }
  };
  std::visit(put, value.data);
}

std::string_view PerfettoInterning::take_new() {
  std::swap(new_, taken_);
  new_.clear();
  return taken_.view();
}

}  // namespace proton
