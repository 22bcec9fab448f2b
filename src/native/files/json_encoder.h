/// Compact JSON, value by value. Shares its interface with MsgpackEncoder, so that one walk writes
/// both; sizes given to begin_* are for msgpack.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "files/output_buffer.h"

namespace proton {

class JsonEncoder {
 public:
  explicit JsonEncoder(ByteSink& sink) : out_(sink) {}

  void begin_map(size_t) { open('{'); }
  void end_map() { close('}'); }
  void begin_list(size_t) { open('['); }
  void end_list() { close(']'); }

  /// `name` is one of format.h's: plain ASCII that needs no escapes.
  void plain_key(std::string_view name) {
    plain_string(name);
    out_.put(':');
    needs_comma_ = false;
  }
  void key(std::string_view name) {
    string(name);
    out_.put(':');
    needs_comma_ = false;
  }

  /// A key with a text, both plain, or with an integer.
  void pair(std::string_view name, std::string_view text) {
    plain_key(name);
    plain_string(text);
  }
  template <std::integral Integer>
  void pair(std::string_view name, Integer value) {
    plain_key(name);
    integer(value);
  }

  void null() { put_word("null"); }
  void boolean(bool value) { put_word(value ? "true" : "false"); }
  void plain_string(std::string_view text) {
    separate();
    out_.put('"');
    out_.put(text);
    out_.put('"');
  }
  void string(std::string_view text) {
    separate();
    out_.put('"');
    put_escaped(text);
    out_.put('"');
  }

  template <std::integral Integer>
  void integer(Integer value) {
    separate();
    char* begin = out_.reserve(kNumberBytes);
    out_.advance(std::to_chars(begin, begin + kNumberBytes, value).ptr - begin);
  }

  /// The shortest digits that read back as `value`, always recognisable as a float.
  /// `value` is finite.
  void number(double value) {
    separate();
    char* begin = out_.reserve(kNumberBytes);
    char* end = std::to_chars(begin, begin + kNumberBytes, value).ptr;
    if (std::memchr(begin, '.', end - begin) == nullptr &&
        std::memchr(begin, 'e', end - begin) == nullptr) {
      *end++ = '.';
      *end++ = '0';
    }
    out_.advance(end - begin);
  }

  /// Nanoseconds as microseconds, to the last digit.
  void microseconds(int64_t time_ns);

  void flush() { out_.flush(); }
  uint64_t invalid_text_count() const { return invalid_text_count_; }

 private:
  static constexpr size_t kNumberBytes = 40;

  void separate() {
    if (needs_comma_) out_.put(',');
    needs_comma_ = true;
  }
  void open(char bracket) {
    separate();
    out_.put(bracket);
    needs_comma_ = false;
  }
  void close(char bracket) {
    out_.put(bracket);
    needs_comma_ = true;
  }
  void put_word(std::string_view word) {
    separate();
    out_.put(word);
  }
  void put_escaped(std::string_view text);
  void put_escaped_valid(std::string_view text);
  void put_escape(unsigned char byte);

  OutputBuffer out_;
  bool needs_comma_ = false;
  uint64_t invalid_text_count_ = 0;
};

/// What `write` hands to an encoder, as text.
template <std::invocable<JsonEncoder&> Write>
std::string json_text(const Write& write) {
  MemorySink sink;
  JsonEncoder out(sink);
  write(out);
  out.flush();
  return sink.take();
}

}  // namespace proton
