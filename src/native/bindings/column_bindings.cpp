// Passes over columns of numbers, for Python's `model/columns.py`: arrays in, bytes of arrays out.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/columns.h"
#include "bindings/objects/bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace proton::bindings {

namespace {

/// The content of an array; nobody can change its size meanwhile.
class Buffer {
 public:
  explicit Buffer(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) {
      throw nb::python_error();
    }
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { PyBuffer_Release(&view_); }

  bool is(std::string_view letter) const { return view_.format && letter == view_.format; }
  size_t item_size() const { return static_cast<size_t>(view_.itemsize); }
  size_t size() const { return static_cast<size_t>(view_.len) / item_size(); }
  const char* bytes() const { return static_cast<const char*>(view_.buf); }

  columns::Times times() const { return as<double>("d"); }
  columns::Numbers numbers() const { return as<uint32_t>("I"); }
  std::span<const uint8_t> small_numbers() const { return as<uint8_t>("B"); }
  columns::Column column() const {
    return is("d") ? columns::Column(times()) : columns::Column(numbers());
  }

 private:
  template <typename Number>
  std::span<const Number> as(const char* letter) const {
    if (!is(letter)) throw nb::type_error("an array of another type");
    return {static_cast<const Number*>(view_.buf), size()};
  }

  Py_buffer view_;
};

template <typename Number>
nb::bytes to_bytes(const std::vector<Number>& numbers) {
  return nb::bytes(numbers.data(), numbers.size() * sizeof(Number));
}

void require_size(bool is_so) {
  if (!is_so) throw nb::value_error("columns of different lengths");
}

void require_place(bool is_so) {
  if (!is_so) throw nb::index_error("a place behind the end of a column");
}

template <size_t Size>
void copy_items(const Buffer& values, columns::Numbers places, char* found) {
  const size_t count = values.size();
  for (const uint32_t place : places) {
    require_place(place < count);
    std::memcpy(found, values.bytes() + place * Size, Size);
    found += Size;
  }
}

nb::bytes take(nb::handle values_array, nb::handle places_array) {
  const Buffer values(values_array), places(places_array);
  const size_t size = values.item_size();
  std::vector<char> found(places.size() * size);
  if (size == 8) {
    copy_items<8>(values, places.numbers(), found.data());
  } else if (size == 4) {
    copy_items<4>(values, places.numbers(), found.data());
  } else if (size == 1) {
    copy_items<1>(values, places.numbers(), found.data());
  } else {
    throw nb::type_error("an array of another type");
  }
  return to_bytes(found);
}

template <typename Number>
nb::bytes put_items(size_t size, columns::Numbers places, std::span<const Number> values,
                    Number none) {
  require_size(places.size() == values.size());
  std::vector<Number> found(size, none);
  for (size_t at = 0; const uint32_t place : places) {
    require_place(place < size);
    found[place] = values[at++];
  }
  return to_bytes(found);
}

nb::bytes put(size_t size, nb::handle places_array, nb::handle values_array) {
  const Buffer places(places_array), values(values_array);
  if (!values.is("d")) return put_items(size, places.numbers(), values.numbers(), columns::kNone);
  constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();
  return put_items(size, places.numbers(), values.times(), kNoTime);
}

/// Arrays of one length as columns.
class Table {
 public:
  explicit Table(const nb::args& arrays) {
    for (const nb::handle array : arrays) {
      buffers_.push_back(std::make_unique<Buffer>(array));
      columns.push_back(buffers_.back()->column());
      require_size(buffers_.back()->size() == buffers_.front()->size());
    }
    if (columns.empty()) throw nb::value_error("no column");
  }
  std::vector<columns::Column> columns;

 private:
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

nb::bytes order_by(const nb::args& arrays) {
  const Table table(arrays);
  std::vector<uint32_t> places;
  {
    const nb::gil_scoped_release unlocked;
    places = columns::order_by(table.columns);
  }
  return to_bytes(places);
}

std::pair<nb::bytes, nb::bytes> group_by(const nb::args& arrays) {
  const Table table(arrays);
  columns::Groups groups;
  {
    const nb::gil_scoped_release unlocked;
    groups = columns::group_by(table.columns);
  }
  return {to_bytes(groups.places), to_bytes(groups.bounds)};
}

template <typename Operation>
nb::bytes each_pair(nb::handle first_array, nb::handle second_array, Operation operation) {
  const Buffer first(first_array), second(second_array);
  const columns::Times a = first.times(), b = second.times();
  require_size(a.size() == b.size());
  std::vector<double> found(a.size());
  for (size_t at = 0; at < a.size(); ++at) found[at] = operation(a[at], b[at]);
  return to_bytes(found);
}

nb::bytes add(nb::handle first, nb::handle second) {
  return each_pair(first, second, [](double a, double b) { return a + b; });
}

nb::bytes subtract(nb::handle first, nb::handle second) {
  return each_pair(first, second, [](double a, double b) { return a - b; });
}

nb::object to_whole(nb::handle times) {
  std::vector<uint32_t> whole;
  const Buffer given(times);
  return columns::to_whole(given.times(), whole) ? nb::object(to_bytes(whole)) : nb::none();
}

std::vector<double> sum_by(nb::handle values_array, nb::handle kinds_array, size_t count) {
  const Buffer values(values_array), kinds(kinds_array);
  const columns::Times times = values.times();
  require_size(times.size() == kinds.size());
  std::vector<double> sums(count);
  for (size_t at = 0; const uint8_t kind : kinds.small_numbers()) {
    require_place(kind < count);
    sums[kind] += times[at++];
  }
  return sums;
}

using Pair = std::pair<nb::object, nb::object>;

std::tuple<nb::bytes, nb::bytes, nb::bytes> cut_gaps(nb::handle start, nb::handle end,
                                                     nb::handle launched, nb::handle thread,
                                                     const std::vector<Pair>& blocking,
                                                     nb::handle busy_end, nb::handle busy_cause) {
  const Buffer starts(start), ends(end), launches(launched), threads(thread);
  const Buffer busy_ends(busy_end), busy_causes(busy_cause);
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<columns::Calls> calls;
  for (const auto& [begins, returns] : blocking) {
    const Buffer& from = *buffers.emplace_back(std::make_unique<Buffer>(begins));
    const Buffer& to = *buffers.emplace_back(std::make_unique<Buffer>(returns));
    require_size(from.size() == to.size());
    calls.push_back({from.times(), to.times()});
  }
  const size_t size = starts.size();
  require_size(ends.size() == size && launches.size() == size && threads.size() == size);
  require_size(busy_ends.size() == busy_causes.size());
  columns::Gaps gaps;
  {
    const columns::DeviceWork work{starts.times(), ends.times(), launches.times(),
                                   threads.numbers()};
    const columns::WorkByEnd elsewhere{busy_ends.times(), busy_causes.small_numbers()};
    const nb::gil_scoped_release unlocked;
    gaps = columns::cut_gaps(work, calls, elsewhere);
  }
  return {to_bytes(gaps.start_ns), to_bytes(gaps.end_ns), to_bytes(gaps.cause)};
}

struct ColumnPasses {};

}  // namespace

void add_columns(nb::module_& module) {
  nb::class_<ColumnPasses>(module, "Columns")
      .def_static("take", take, "values"_a, "places"_a)
      .def_static("put", put, "size"_a, "places"_a, "values"_a)
      .def_static("order_by", order_by, "columns"_a)
      .def_static("group_by", group_by, "columns"_a)
      .def_static("add", add, "first"_a, "second"_a)
      .def_static("subtract", subtract, "first"_a, "second"_a)
      .def_static("to_whole", to_whole, "times"_a)
      .def_static("sum_by", sum_by, "values"_a, "kinds"_a, "count"_a)
      .def_static("cut_gaps", cut_gaps, "start"_a, "end"_a, "launched"_a, "thread"_a, "blocking"_a,
                  "busy_end"_a, "busy_cause"_a);
}

}  // namespace proton::bindings
