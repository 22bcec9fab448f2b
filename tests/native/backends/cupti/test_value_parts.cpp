// Metric values on a device, without a hub: what MetricValues reads and when it hands it over, and
// whom ValueDispatch sends it to.
#include <cmath>

#include "backends/cupti/value_dispatch.h"
#include "base/clock.h"
#include "base/error.h"
#include "check.h"
#include "model/losses.h"
#include "parts.h"

using namespace parts;

namespace {

int64_t number = 0;  // what is read
double real = 0;

ValueSource source_of(const void* address, ElementKind kind, void* stream = nullptr) {
  ValueSource source;
  source.address = reinterpret_cast<uint64_t>(address);
  source.kind = kind;
  source.stream = stream;
  return source;
}

ValuePlace integer_place() {
  ValuePlace place;
  place.is_integer = true;
  place.shadow = 5;
  return place;
}

/// A driver that takes launches and runs none, as when their context goes.
Library without_runs(Library library) {
  library.launch_kernel = [](void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned, CudaStream, void**, void**) -> CudaResult { return 0; };
  return library;
}

struct ValuesAlone {
  explicit ValuesAlone(const Library& library = fake_driver()) : base(library) {}
  ValueId read(const ValueSource& source) { return values.read(source, is_captured); }
  /// Of `number`, into a graph; its executable.
  void* capture(ValueId& id) {
    void* stream = FAKE(fake_stream_create)();
    FAKE(fake_capture_begin)(stream);
    id = read(source_of(&number, ElementKind::kInt64, stream));
    void* exec = FAKE(fake_graph_instantiate)(FAKE(fake_capture_end)(stream));
    values.set_open(true);
    values.add_node(id);
    values.commit(id, integer_place(), {});
    return exec;
  }
  static void replay(void* exec, int64_t value) {
    number = value;
    FAKE(fake_graph_launch)(exec, nullptr);
  }
  std::vector<ArrivedValue> collect(ValueId until = 0,
                                    int64_t replays_before_ns = FinishedReads::kNoReplay) {
    std::vector<ArrivedValue> arrived;
    values.collect({until, replays_before_ns}, arrived, lost);
    return arrived;
  }

  Base base;
  MetricValues values{base.library, base.launches.table()};
  LostValues lost;
  bool is_captured = false;
};

int64_t integer_of(const ArrivedValue& arrived) { return std::get<int64_t>(arrived.value); }

/// A dispatch with one session, and what else it asks.
struct DispatchAlone {
  explicit DispatchAlone(const Library& library = fake_driver()) : base(library) {
    base.start(sink);
  }
  void send(const FinishedReads& finished = {}) {
    const auto lock = base.sinks.lock();
    dispatch.send(finished);
  }

  Base base;
  Library ids = ids_only();
  GraphTable graphs{ids, base.launches};
  ValueDispatch dispatch{base.library, base.launches.table(), base.sinks, graphs};
  Sink sink;
};

}  // namespace

TEST(a_value_is_handed_over_once_it_is_committed_and_as_the_metrics_type) {
  ValuesAlone alone;
  number = 42;
  const ValueId id = alone.read(source_of(&number, ElementKind::kInt64));
  CHECK(!alone.is_captured);
  CHECK_EQ(alone.values.newest(), id);
  CHECK(alone.collect().empty());
  Sink sink;
  const ValueTarget target{&sink, 3, 17};
  alone.values.commit(id, integer_place(), {&target, 1});
  const auto arrived = alone.collect();
  CHECK_EQ(arrived.size(), 1u);
  CHECK_EQ(integer_of(arrived[0]), 42);
  CHECK_EQ(arrived[0].id, id);
  CHECK_EQ(arrived[0].place.shadow, 5u);
  CHECK_EQ(arrived[0].targets.size(), 1u);
  CHECK_EQ(arrived[0].targets[0].scope_id, 17u);
  CHECK_EQ(alone.values.size(), 0u);
  const ValueId again = alone.read(source_of(&number, ElementKind::kInt64));
  alone.values.commit(again, ValuePlace(), {});
  CHECK_EQ(std::get<double>(alone.collect().at(0).value), 42.0);
}

TEST(lists_are_read_with_their_stride_and_have_a_limit) {
  ValuesAlone alone;
  static const int64_t numbers[] = {1, 2, 3, 4};
  ValueSource source = source_of(numbers, ElementKind::kInt64);
  source.count = 2;
  source.stride_bytes = 16;
  source.is_scalar = false;
  const ValueId id = alone.read(source);
  alone.values.commit(id, integer_place(), {});
  CHECK(std::get<std::vector<int64_t>>(alone.collect().at(0).value) ==
        std::vector<int64_t>({1, 3}));
  for (const uint32_t count : {0u, MetricValues::kCountLimit + 1}) {
    source.count = count;
    CHECK_THROWS(alone.read(source), proton::Error);
  }
  CHECK_EQ(alone.values.size(), 0u);
}

TEST(what_is_dropped_or_forgotten_reaches_nobody) {
  ValuesAlone alone;
  const ValueId dropped = alone.read(source_of(&number, ElementKind::kInt64));
  alone.values.drop(dropped);
  const ValueId kept = alone.read(source_of(&number, ElementKind::kInt64));
  Sink gone, there;
  const ValueTarget targets[] = {{&gone, 0, 1}, {&there, 0, 2}};
  alone.values.commit(kept, integer_place(), targets);
  alone.values.forget(gone);
  const auto arrived = alone.collect();
  CHECK_EQ(arrived.size(), 1u);
  CHECK_EQ(arrived[0].targets.size(), 1u);
  CHECK(arrived[0].targets[0].sink == &there);
}

TEST(no_number_of_the_metrics_type_is_a_loss) {
  ValuesAlone alone;
  real = std::nan("");
  for (const bool is_integer : {false, true}) {
    ValuePlace place;
    place.is_integer = is_integer;
    alone.values.commit(alone.read(source_of(&real, ElementKind::kFloat64)), place, {});
  }
  CHECK(alone.collect().empty());
  CHECK_EQ(alone.lost.bad, 2u);
  number = -1;
  alone.values.commit(alone.read(source_of(&number, ElementKind::kUint64)), integer_place(), {});
  CHECK(alone.collect().empty());
  CHECK_EQ(alone.lost.bad, 3u);
  CHECK_EQ(alone.values.size(), 0u);
}

TEST(a_read_that_is_over_and_has_not_arrived_is_a_loss) {
  ValuesAlone alone(without_runs(fake_driver()));
  const ValueId id = alone.read(source_of(&number, ElementKind::kInt64));
  alone.values.commit(id, integer_place(), {});
  CHECK(alone.collect(id - 1).empty());
  CHECK_EQ(alone.lost.dropped, 0u);
  CHECK_EQ(alone.values.size(), 1u);
  CHECK(alone.collect(id).empty());
  CHECK_EQ(alone.lost.dropped, 1u);
  CHECK_EQ(alone.values.size(), 0u);
}

TEST(runs_that_find_no_room_are_counted) {
  ValuesAlone alone;
  alone.values.set_buffer_bytes(1);
  static const std::vector<int64_t> numbers(MetricValues::kCountLimit, 7);
  void* stream = FAKE(fake_stream_create)();
  FAKE(fake_capture_begin)(stream);
  ValueSource source = source_of(numbers.data(), ElementKind::kInt64, stream);
  source.count = MetricValues::kCountLimit;
  source.stride_bytes = sizeof(int64_t);
  source.is_scalar = false;
  const ValueId id = alone.read(source);
  void* exec = FAKE(fake_graph_instantiate)(FAKE(fake_capture_end)(stream));
  alone.values.set_open(true);
  alone.values.commit(id, integer_place(), {});
  for (int i = 0; i < 5; ++i) FAKE(fake_graph_launch)(exec, nullptr);
  CHECK_EQ(alone.collect(id).size(), 3u);
  CHECK_EQ(alone.lost.dropped, 2u);
}

TEST(runs_of_a_captured_read_are_of_its_replays_in_the_order_of_their_start) {
  ValuesAlone alone;
  ValueId id;
  void* exec = alone.capture(id);
  CHECK(alone.is_captured);
  CHECK(alone.values.has_captured());
  for (const int64_t value : {10, 20}) ValuesAlone::replay(exec, value);
  alone.values.add_replay(id, {.correlation = 602, .start_ns = 200});
  CHECK(alone.collect().empty());  // an earlier one may be on its way
  CHECK(alone.values.is_waiting(602));
  CHECK(!alone.values.is_waiting(601));
  alone.values.add_replay(id, {.correlation = 601, .start_ns = 100});
  auto arrived = alone.collect(0, 150);
  CHECK_EQ(arrived.size(), 1u);
  CHECK_EQ(integer_of(arrived[0]), 10);
  CHECK_EQ(arrived[0].replay.correlation, 601u);
  arrived = alone.collect(0, 250);
  CHECK_EQ(arrived.size(), 1u);
  CHECK_EQ(integer_of(arrived[0]), 20);
  CHECK_EQ(arrived[0].replay.correlation, 602u);
  CHECK(arrived[0].is_captured && arrived[0].has_replay);
  CHECK(!alone.values.is_waiting(602));
}

TEST(a_run_whose_replay_nobody_knows_comes_without_one_when_all_is_over) {
  ValuesAlone alone;
  ValueId id;
  void* exec = alone.capture(id);
  ValuesAlone::replay(exec, 7);
  CHECK(alone.collect(0, 1000).empty());
  const auto arrived = alone.collect(id);
  CHECK_EQ(arrived.size(), 1u);
  CHECK(!arrived[0].has_replay);
  CHECK_EQ(integer_of(arrived[0]), 7);
}

TEST(captured_values_are_read_while_open_and_kept_as_long_as_their_nodes) {
  ValuesAlone alone;
  ValueId id;
  void* exec = alone.capture(id);
  alone.values.set_open(false);
  ValuesAlone::replay(exec, 7);
  CHECK(alone.collect(id).empty());
  CHECK_EQ(alone.lost.dropped, 0u);
  alone.values.add_node(id);
  alone.values.remove_node(id);
  CHECK(alone.collect(id).empty());
  CHECK_EQ(alone.values.size(), 1u);
  alone.values.remove_node(id);
  CHECK(alone.collect(id).empty());
  CHECK_EQ(alone.values.size(), 0u);
  CHECK(!alone.values.has_captured());
}

TEST(the_size_of_buffers_is_a_power_of_two_within_limits) {
  ValuesAlone alone;
  const size_t usual = alone.values.buffer_bytes();
  alone.values.set_buffer_bytes(1);
  const size_t least = alone.values.buffer_bytes();
  CHECK(least >= size_t{MetricValues::kCountLimit} * sizeof(RingCell));
  alone.values.set_buffer_bytes(8 * least);
  CHECK_EQ(alone.values.buffer_bytes(), 8 * least);
  alone.values.set_buffer_bytes(SIZE_MAX);
  CHECK_EQ(alone.values.buffer_bytes(), size_t{1} << 30);
  alone.values.set_buffer_bytes(0);
  CHECK_EQ(alone.values.buffer_bytes(), usual);
}

TEST(a_value_reaches_the_sessions_of_its_call_with_their_phase_and_scope) {
  DispatchAlone alone;
  Sink other;
  alone.base.start(other);
  number = 42;
  bool is_captured = false;
  const ValueTarget target{&alone.sink, 3, 17};
  const ValueId id =
      alone.dispatch.values().read(source_of(&number, ElementKind::kInt64), is_captured);
  alone.dispatch.commit(id, integer_place(), {&target, 1});
  alone.send();
  CHECK_EQ(alone.sink.values.size(), 1u);
  CHECK_EQ(alone.sink.values[0].phase, 3);
  CHECK_EQ(alone.sink.values[0].scope_id, 17u);
  CHECK_EQ(alone.sink.values[0].context, 5u);
  CHECK_EQ(alone.sink.values[0].capture, kNoContext);
  CHECK(other.values.empty());
}

TEST(a_value_of_launch_metadata_stands_where_its_kernel_was_launched) {
  DispatchAlone alone;
  here = 46;
  alone.base.launch(701);
  bool is_captured = false;
  ValuePlace place = integer_place();
  place.is_of_kernel = true;
  place.kernel_launch = 701;
  const ValueTarget target{&alone.sink, 0, 0};
  const ValueId id =
      alone.dispatch.values().read(source_of(&number, ElementKind::kInt64), is_captured);
  alone.dispatch.commit(id, place, {&target, 1});
  alone.send();
  CHECK_EQ(alone.sink.values.at(0).context, 46u);
  CHECK_EQ(alone.sink.values.at(0).correlation, 701u);
}

TEST(values_that_are_no_numbers_are_told_to_who_is_active) {
  DispatchAlone alone;
  real = std::nan("");
  bool is_captured = false;
  const ValueId id =
      alone.dispatch.values().read(source_of(&real, ElementKind::kFloat64), is_captured);
  alone.dispatch.commit(id, ValuePlace(), {});
  alone.send();
  CHECK_EQ(alone.sink.losses[losses::kBadMetric], 1u);
}

TEST(values_that_never_arrive_are_told_to_who_is_active) {
  DispatchAlone alone(without_runs(fake_driver()));
  bool is_captured = false;
  const ValueId id =
      alone.dispatch.values().read(source_of(&number, ElementKind::kInt64), is_captured);
  alone.dispatch.commit(id, integer_place(), {});
  alone.send({.until = id});
  CHECK_EQ(alone.sink.losses[losses::kLostValue], 1u);
}

TEST(a_captured_value_stands_below_its_replay_for_who_was_active_then) {
  DispatchAlone alone;
  Sink late;
  void* stream = FAKE(fake_stream_create)();
  FAKE(fake_capture_begin)(stream);
  bool is_captured = false;
  const ValueId id =
      alone.dispatch.values().read(source_of(&number, ElementKind::kInt64, stream), is_captured);
  void* exec = FAKE(fake_graph_instantiate)(FAKE(fake_capture_end)(stream));
  alone.dispatch.values().set_open(true);
  GraphData data{};
  find_cell()->own_value = id;
  data.node = Graphs::handle(node_id(7, 1));
  alone.graphs.on_resource(kGraphNodeCreated, data);
  find_cell()->own_value = 0;
  data.node = Graphs::handle(node_id(7, 2));  // the kernel that the value is of
  alone.graphs.on_resource(kGraphNodeCreated, data);
  here = 46;
  alone.base.launch(801);
  ValuePlace place = integer_place();
  place.kernel_node = node_id(7, 2);
  alone.dispatch.commit(id, place, {});
  number = 9;
  FAKE(fake_graph_launch)(exec, nullptr);
  alone.base.start(late);
  KernelEvent event;
  event.graph_node = node_id(7, 1);
  event.correlation = 801;
  event.start_ns = 123;
  {
    const auto lock = alone.base.sinks.lock();
    alone.base.sinks.note_launch(801);
    alone.dispatch.add_replayed_read(event);
  }
  alone.send({.until = id});
  CHECK_EQ(alone.sink.values.size(), 1u);
  CHECK_EQ(alone.sink.values.at(0).context, 46u);  // of the replay
  CHECK_EQ(alone.sink.values.at(0).capture, 44u);  // of the node
  CHECK_EQ(alone.sink.values.at(0).correlation, 801u);
  CHECK_EQ(alone.sink.values.at(0).time_ns, 123);
  CHECK(late.values.empty());
}

TEST(replays_are_known_up_to_a_flush_when_all_launches_before_it_were_read) {
  DispatchAlone alone;
  CHECK_EQ(alone.dispatch.begin_flush(), FinishedReads::kNoReplay);
  void* stream = FAKE(fake_stream_create)();
  FAKE(fake_capture_begin)(stream);
  bool is_captured = false;
  alone.dispatch.values().read(source_of(&number, ElementKind::kInt64, stream), is_captured);
  FAKE(fake_capture_end)(stream);
  alone.base.launch(901);
  CHECK_EQ(alone.dispatch.begin_flush(), FinishedReads::kNoReplay);  // sets a mark
  const int64_t after_ns = now_ns();
  CHECK_EQ(alone.dispatch.begin_flush(), FinishedReads::kNoReplay);  // 901 was not read
  ContextId context;
  alone.base.launches.table().find(false, 901, context);
  const int64_t known_ns = alone.dispatch.begin_flush();
  CHECK(known_ns != FinishedReads::kNoReplay);
  CHECK(known_ns < after_ns);
}
