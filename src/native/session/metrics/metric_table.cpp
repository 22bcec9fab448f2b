#include "session/metrics/metric_table.h"

#include "base/text.h"

namespace proton {
namespace {

bool add_checked(int64_t& sum, int64_t value) {
  int64_t result;
  if (__builtin_add_overflow(sum, value, &result)) return false;
  sum = result;
  return true;
}

template <typename Number>
Booking add_list(std::vector<Number>& sum, const std::vector<Number>& value) {
  if (sum.size() != value.size()) return Booking::kLengthClash;
  for (size_t i = 0; i < sum.size(); ++i) {
    if constexpr (std::is_same_v<Number, int64_t>) {
      int64_t unused;
      if (__builtin_add_overflow(sum[i], value[i], &unused)) return Booking::kOverflow;
    }
  }
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += value[i];
  return Booking::kBooked;
}

}  // namespace

void SampleList::add(MetricId metric, MetricValue value) {
  if (auto* integer = std::get_if<int64_t>(&value)) return add(metric, *integer);
  if (auto* real = std::get_if<double>(&value)) return add(metric, *real);
  std::vector<MetricValue>& others = rest().others;
  add_sample(metric, MetricSample::Type::kOther).other = others.size();
  others.push_back(std::move(value));
}

void SampleList::add_all(const SampleList& others) {
  for (size_t i = 0; i < others.size(); ++i) add(others[i].metric, others.value(i));
}

MetricValue SampleList::value(size_t at) const {
  const MetricSample& sample = (*this)[at];
  switch (sample.type) {
    case MetricSample::Type::kInteger:
      return sample.integer;
    case MetricSample::Type::kFloat:
      return sample.real;
    default:
      return rest_->others[sample.other];
  }
}

Booking add_value(MetricValue& sum, MetricKind kind, const MetricValue& value) {
  if (sum.index() != value.index()) return Booking::kTypeClash;
  if (kind == MetricKind::kProperty || std::holds_alternative<std::string>(sum)) {
    sum = value;
    return Booking::kBooked;
  }
  if (auto* number = std::get_if<int64_t>(&sum)) {
    return add_checked(*number, std::get<int64_t>(value)) ? Booking::kBooked : Booking::kOverflow;
  }
  if (auto* number = std::get_if<double>(&sum)) {
    *number += std::get<double>(value);
    return Booking::kBooked;
  }
  if (auto* list = std::get_if<std::vector<int64_t>>(&sum)) {
    return add_list(*list, std::get<std::vector<int64_t>>(value));
  }
  return add_list(std::get<std::vector<double>>(sum), std::get<std::vector<double>>(value));
}

Booking MetricTable::add(uint32_t row, MetricId metric, MetricKind kind, const MetricValue& value) {
  bool is_new;
  uint32_t* at = index_.find_or_add(pair_key(row, metric), is_new);
  if (!is_new) return add_value(cells_[*at].value, kind, value);
  *at = static_cast<uint32_t>(cells_.size());
  cells_.push_back({row, metric, value});
  return Booking::kBooked;
}

Booking MetricTable::add(uint32_t row, MetricKind kind, const SampleList& samples, size_t at) {
  const MetricSample& sample = samples[at];
  bool is_new;
  uint32_t* place = index_.find_or_add(pair_key(row, sample.metric), is_new);
  if (is_new) {
    *place = static_cast<uint32_t>(cells_.size());
    cells_.push_back({row, sample.metric, samples.value(at)});
    return Booking::kBooked;
  }
  MetricValue& sum = cells_[*place].value;
  if (sample.type == MetricSample::Type::kFloat) {
    double* real = std::get_if<double>(&sum);
    if (real == nullptr) return Booking::kTypeClash;
    *real = kind == MetricKind::kProperty ? sample.real : *real + sample.real;
    return Booking::kBooked;
  }
  if (sample.type == MetricSample::Type::kInteger) {
    int64_t* integer = std::get_if<int64_t>(&sum);
    if (integer == nullptr) return Booking::kTypeClash;
    if (kind == MetricKind::kProperty) *integer = 0;
    return add_checked(*integer, sample.integer) ? Booking::kBooked : Booking::kOverflow;
  }
  return add_value(sum, kind, samples.value(at));
}

const MetricValue& MetricTable::value(uint32_t row, MetricId metric) {
  bool is_new;
  return cells_[*index_.find_or_add(pair_key(row, metric), is_new)].value;
}

std::string type_name(const MetricValue& value) {
  switch (value.index()) {
    case 0:
      return "int";
    case 1:
      return "float";
    case 2:
      return concat("list of ", std::get<2>(value).size(), " ints");
    case 3:
      return concat("list of ", std::get<3>(value).size(), " floats");
    default:
      return "str";
  }
}

}  // namespace proton
