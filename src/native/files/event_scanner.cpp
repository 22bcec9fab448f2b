#include "files/event_scanner.h"

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <tuple>

namespace proton {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kNoId = INT64_MIN;
constexpr double kMaxTimeUs = 1e16;       // 300 years
constexpr double kAbsoluteUs = 1e12;      // later times are those of a calendar
constexpr int64_t kExact = 1LL << 53;     // whole numbers up to here are doubles
constexpr double kFine = 1099511627776.;  // 2^40 ns: from here on a double holds no picoseconds
constexpr int kMaxDigits = 18;
constexpr size_t kReleaseEvery = 4096;  // events
constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The nearest double to a number that JSON's grammar allows.
bool read_rare_number(std::string_view text, double& value) {
  char copy[64];
  if (text.size() >= sizeof copy || *std::localeconv()->decimal_point != '.') return false;
  text.copy(copy, text.size());
  copy[text.size()] = '\0';
  char* end;
  value = std::strtod(copy, &end);
  return end == copy + text.size() && std::isfinite(value);
}

/// A number of JSON, as the nearest double.
bool read_number(std::string_view text, double& value, bool& is_whole) {
  size_t at = 0;
  const bool is_negative = text.starts_with('-');
  at += is_negative;
  int64_t digits = 0;
  size_t count = 0, fraction = 0;
  bool is_rare = false;
  const auto take_digits = [&](size_t& taken) {
    for (; at < text.size() && is_digit(text[at]); ++at, ++taken) {
      if (count + fraction >= kMaxDigits) {
        is_rare = true;
      } else {
        digits = digits * 10 + text[at] - '0';
      }
    }
    return taken > 0;
  };
  const size_t first = at;
  if (!take_digits(count) || (count > 1 && text[first] == '0')) return false;
  is_whole = at == text.size();
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!take_digits(fraction)) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    at += at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-') ? 2 : 1;
    size_t exponent = 0;
    is_rare = true;
    if (!take_digits(exponent)) return false;
  }
  if (at != text.size()) return false;
  if (is_rare || digits >= kExact) return read_rare_number(text, value);
  value = static_cast<double>(digits) / kPowers[fraction];  // both exact, so the nearest
  if (is_negative) value = -value;
  return true;
}

/// As Python's round(value, 3): the decimal that is nearest to the exact value of the double.
double round_to_thousandth(double value) {
  const double scaled = value * 1000;
  const double whole = std::nearbyint(scaled);
  if (std::abs(std::abs(scaled - std::trunc(scaled)) - 0.5) > 0.2) return whole / 1000;
  char text[64];  // near the middle the product's own rounding could decide
  std::snprintf(text, sizeof text, "%.3f", value);
  for (char& c : text) {
    if (c == ',') c = '.';  // a program may have set another locale
  }
  double read;
  bool is_whole;
  return read_number(text, read, is_whole) ? read : whole / 1000;
}

/// To a picosecond, or to whole nanoseconds where a double holds no more.
double to_ns(double time_us) {
  const double time_ns = time_us * 1000;
  return std::abs(time_ns) < kFine ? round_to_thousandth(time_ns) : std::nearbyint(time_ns);
}

}  // namespace

/// A place in the text of a file.
class EventScanner::Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  char peek() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char mark) {
    if (peek() != mark) return false;
    ++at_;
    return true;
  }
  size_t place() const { return at_; }
  std::string_view since(size_t begin) const { return text_.substr(begin, at_ - begin); }
  bool is_at_end() { return peek() == '\0' && at_ >= text_.size(); }

  /// A string with its quotes.
  bool string(std::string_view& found) {
    if (peek() != '"') return false;
    const size_t begin = at_++;
    const size_t quote = text_.find('"', at_);
    if (quote == std::string_view::npos) return false;
    if (text_.substr(at_, quote - at_).find('\\') == std::string_view::npos) {  // nearly always
      at_ = quote + 1;
    } else {
      while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
      if (at_ >= text_.size()) return false;
      ++at_;
    }
    found = since(begin);
    return true;
  }

  /// Any value: brackets that match, outside of strings. What is in it is for Python's parser.
  bool value(std::string_view& found) {
    const char mark = peek();
    const size_t begin = at_;
    if (mark == '"') return string(found);
    if (mark == '{' || mark == '[') {
      size_t depth = 0;
      do {
        if (at_ >= text_.size()) return false;
        const char c = text_[at_];
        if (c == '"') {
          std::string_view skipped;
          if (!string(skipped)) return false;
          continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        ++at_;
      } while (depth > 0);
    } else {
      while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '}' && text_[at_] != ']' &&
             text_[at_] > ' ') {
        ++at_;
      }
    }
    found = since(begin);
    return !found.empty();
  }

  /// The members of an object or the elements of a list, each by `one`.
  template <typename One>
  bool each(char open, char close, One one) {
    if (!take(open)) return false;
    if (take(close)) return true;
    do {
      if (!one()) return false;
    } while (take(','));
    return take(close);
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

bool EventScanner::scan(std::string_view text, std::function<void(size_t)> release) {
  release_ = std::move(release);
  Cursor cursor(text);
  if (cursor.peek() == '[') {
    outside = "[]";
    return scan_events(cursor) && cursor.is_at_end();
  }
  bool has_events = false;
  const bool is_done = cursor.each('{', '}', [&] {
    std::string_view key, value;
    if (!cursor.string(key) || !cursor.take(':')) return false;
    outside += outside.empty() ? '{' : ',';
    outside.append(key) += ':';
    if (key == "\"traceEvents\"") {
      if (has_events) return false;
      has_events = true;
      outside += "[]";
      return scan_events(cursor);
    }
    if (!cursor.value(value)) return false;
    outside.append(value);
    return true;
  });
  outside += '}';
  return is_done && has_events && cursor.is_at_end();
}

bool EventScanner::scan_events(Cursor& cursor) {
  return cursor.each('[', ']', [&] {
    const bool is_taken = scan_event(cursor);
    if (release_ && shape_.size() % kReleaseEvery == 0) release_(cursor.place());
    return is_taken;
  });
}

bool EventScanner::scan_event(Cursor& cursor) {
  head_.clear();
  arguments_.clear();
  stack_ = {};
  ts_ = dur_ = kNone;
  identity_ = bound_ = kNoId;
  if (!cursor.each('{', '}', [&] { return scan_member(cursor); })) return false;
  head_ += head_.empty() ? "{}" : "}";
  if (shape_.size() >= UINT32_MAX) return false;
  const uint32_t number = shape_number();
  ++count[number];
  last[number] = static_cast<uint32_t>(shape_.size());
  shape_.push_back(number);
  ts_us_.push_back(ts_);
  dur_us_.push_back(dur_);
  id_.push_back(identity_);
  bind_.push_back(bound_);
  return true;
}

/// The number of the shape of the event that was read.
uint32_t EventScanner::shape_number() {
  const Shape shape{heads.number_of(head_),
                    arguments_.empty() ? kNoText : arguments.number_of(arguments_),
                    stack_.empty() ? kNoText : stacks.number_of(stack_)};
  bool is_new;
  uint32_t* kind = kinds_.find_or_add(pair_key(shape.head, shape.arguments), is_new);
  if (is_new) *kind = static_cast<uint32_t>(kinds_.size() - 1);
  uint32_t* number = shape_places_.find_or_add(pair_key(*kind, shape.stack), is_new);
  if (is_new) {
    *number = static_cast<uint32_t>(shapes.size());
    shapes.push_back(shape);
    count.push_back(0);
    last.push_back(0);
  }
  return *number;
}

bool EventScanner::scan_member(Cursor& cursor) {
  std::string_view key, value;
  if (!cursor.string(key) || !cursor.take(':')) return false;
  if (key == "\"args\"" && cursor.peek() == '{') {
    return arguments_.empty() && scan_arguments(cursor);
  }
  if (!cursor.value(value)) return false;
  double number;
  bool is_whole;
  if (key == "\"ts\"" || key == "\"dur\"") {
    double& held = key == "\"ts\"" ? ts_ : dur_;
    if (!std::isnan(held) || !read_number(value, number, is_whole)) return false;
    held = number;
    return true;
  }
  if (key == "\"id\"" || key == "\"bind_id\"") {
    int64_t& held = key == "\"id\"" ? identity_ : bound_;
    if (held != kNoId) return false;
    if (read_number(value, number, is_whole) && is_whole) {
      if (std::abs(number) >= kExact) return false;
      held = static_cast<int64_t>(number);
      return true;
    }
  }
  head_ += head_.empty() ? '{' : ',';
  head_.append(key) += ':';
  head_.append(value);
  return true;
}

/// Arguments without the number of the scope, which is another for every event, and the call stack.
bool EventScanner::scan_arguments(Cursor& cursor) {
  arguments_ += '{';
  const bool is_done = cursor.each('{', '}', [&] {
    std::string_view key, value;
    double number;
    bool is_whole;
    if (!cursor.string(key) || !cursor.take(':') || !cursor.value(value)) return false;
    if (key == "\"scope_id\"" && read_number(value, number, is_whole)) return true;
    if (key == "\"call_stack\"") {
      if (!stack_.empty()) return false;
      stack_ = value;
      return true;
    }
    if (arguments_.size() > 1) arguments_ += ',';
    arguments_.append(key) += ':';
    arguments_.append(value);
    return true;
  });
  arguments_ += '}';
  return is_done;
}

/// Which spans the ends of flows lie in; as Python's reader has it.
class EventScanner::FlowEnds {
 public:
  void see(uint32_t row, double start_us, double end_us, uint32_t span) {
    if (row >= rows_.size()) rows_.resize(row + 1);
    rows_[row].push_back({start_us, end_us, span});
  }
  /// Written right behind its span and at its start, an end surely belongs to it.
  void add(const EventRole& role, int64_t id, double time_us) {
    const bool is_known = role.row < rows_.size() && !rows_[role.row].empty() &&
                          rows_[role.row].back().start_us == time_us;
    const int64_t span = is_known ? rows_[role.row].back().span : kUnknown;
    ends_.push_back(
        {role.category, id, role.kind == EventRole::kTarget, order_++, role.row, time_us, span});
  }
  /// An end that stands on its span.
  void bind(int64_t id, bool is_target, uint32_t span) {
    ends_.push_back({kBound, id, is_target, order_++, 0, 0, span});
  }
  void finish(Bound& bound) {
    for (auto& spans : rows_) std::ranges::sort(spans);
    std::ranges::sort(ends_, {}, [](const End& end) {
      return std::tuple(end.category, end.id, end.is_target, end.order);
    });
    for (size_t begin = 0; begin < ends_.size();) {
      size_t middle = begin;
      while (middle < ends_.size() && is_same(begin, middle) && !ends_[middle].is_target) ++middle;
      size_t end = middle;
      while (end < ends_.size() && is_same(begin, end)) ++end;
      join(begin, middle, end, bound);
      begin = end;
    }
    std::ranges::sort(bound.flows);
  }

 private:
  static constexpr int64_t kUnknown = -1;
  static constexpr uint32_t kBound = UINT32_MAX;  // a category of its own
  static constexpr size_t kMaxLooks = 64;         // spans nest; a hostile file's may not
  struct Seen {
    double start_us;
    double end_us;
    uint32_t span;
    auto operator<=>(const Seen&) const = default;
  };
  struct End {
    uint32_t category;
    int64_t id;
    bool is_target;
    uint64_t order;
    uint32_t row;
    double time_us;
    int64_t span;
  };

  bool is_same(size_t a, size_t b) const {
    return ends_[a].category == ends_[b].category && ends_[a].id == ends_[b].id;
  }
  void join(size_t begin, size_t middle, size_t end, Bound& bound) {
    const size_t sources = middle - begin, targets = end - middle;
    if (sources == 0 || targets == 0) {
      bound.unbound += sources + targets;
      return;
    }
    const size_t pairs = sources == 1 ? targets : std::min(sources, targets);
    bound.unbound += sources == 1 ? 0 : std::max(sources, targets) - pairs;
    for (size_t i = 0; i < pairs; ++i) {
      const int64_t source = span_at(ends_[sources == 1 ? begin : begin + i]);
      const int64_t target = span_at(ends_[middle + i]);
      if (source == kUnknown || target == kUnknown) {
        bound.unbound += 2;
      } else {
        bound.flows.push_back({static_cast<uint32_t>(source), static_cast<uint32_t>(target),
                               static_cast<uint64_t>(std::max<int64_t>(ends_[begin].id, 0))});
      }
    }
  }
  /// The innermost span around the end.
  int64_t span_at(const End& end) const {
    if (end.span != kUnknown || end.row >= rows_.size()) return end.span;
    const auto& spans = rows_[end.row];
    auto at = std::ranges::upper_bound(spans, end.time_us, {}, &Seen::start_us);
    for (size_t looks = 0; looks < kMaxLooks && at != spans.begin(); ++looks) {
      --at;
      if (at->end_us >= end.time_us) return at->span;
    }
    return kUnknown;
  }

  std::vector<std::vector<Seen>> rows_;
  std::vector<End> ends_;
  uint64_t order_ = 0;
};

std::optional<EventScanner::Bound> EventScanner::bind(const std::vector<EventRole>& roles) const {
  Bound found;
  FlowEnds ends;
  std::unordered_map<uint32_t, uint32_t> lanes;
  double first_us = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < shape_.size(); ++i) {
    const EventRole& role = roles.at(shape_[i]);
    if (role.kind == EventRole::kNone) continue;
    if (!(std::abs(ts_us_[i]) <= kMaxTimeUs)) return std::nullopt;
    if (role.kind == EventRole::kSource || role.kind == EventRole::kTarget) {
      if (id_[i] == kNoId) return std::nullopt;
      ends.add(role, id_[i], ts_us_[i]);
      continue;
    }
    const bool has_none = role.kind == EventRole::kInstant || std::isnan(dur_us_[i]);
    double duration_us = has_none ? 0 : dur_us_[i];
    if (!(std::abs(duration_us) <= kMaxTimeUs)) return std::nullopt;
    if (duration_us < 0) {
      ++found.negative;
      duration_us = 0;
    }
    const auto span = static_cast<uint32_t>(found.shape.size());
    if (role.kind == EventRole::kSpan && bind_[i] != kNoId) {
      if (role.category & EventRole::kOut) ends.bind(bind_[i], false, span);
      if (role.category & EventRole::kIn) ends.bind(bind_[i], true, span);
    }
    ends.see(role.row, ts_us_[i], ts_us_[i] + duration_us, span);
    const auto [lane, is_new] =
        lanes.try_emplace(role.row, static_cast<uint32_t>(found.rows.size()));
    if (is_new) found.rows.push_back(role.row);
    first_us = std::min(first_us, ts_us_[i]);
    found.shape.push_back(shape_[i]);
    found.lane.push_back(lane->second);
    found.start_ns.push_back(ts_us_[i]);
    found.duration_ns.push_back(to_ns(duration_us));
  }
  if (!found.shape.empty() && first_us > kAbsoluteUs) found.shift_us = std::trunc(first_us);
  for (double& start : found.start_ns) start = to_ns(start - found.shift_us);
  ends.finish(found);
  return found;
}

}  // namespace proton
