// NVTX calls of a module become scopes of sessions: through the injected library, the handler and
// the core, with a mutex for the GIL.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "bindings/nvtx_handler.h"
#include "check.h"
#include "model/losses.h"
#include "nvtx_api.h"
#include "session/host.h"

using namespace proton;

namespace {

KernelEvent kernel(ContextId context, const char* name = "k") {
  KernelEvent event;
  event.context = context;
  event.name = name;
  event.end_ns = 1;
  event.device_type = "FAKE";
  return event;
}

void launch(Session& session, const char* name = "k") {
  const KernelEvent event = kernel(current_context_unlocked(), name);
  session.device.on_events({&event, 1});
}

/// A session that listens, on a thread that the host knows.
struct Recorded {
  explicit Recorded(DataKind data = DataKind::kTree) {
    host::thread();
    bindings::load_nvtx(NVTX_LIBRARY);
    bindings::listen_to_nvtx(true);
    session = std::make_unique<Session>(0, ContextKind::kShadow, data);
    session->host.activate();
  }
  ~Recorded() {
    bindings::listen_to_nvtx(false);
    if (!session->host.is_closed()) session->host.close();
  }
  CallTree tree() const { return host::tree(*session, session->host.phase(), {}); }
  TraceLog trace() const { return build_trace(*session, session->host.phase(), {}); }
  uint64_t loss(const char* kind) const {
    const auto losses = session->count_losses();
    const auto found = losses.find(kind);
    return found == losses.end() ? 0 : found->second;
  }

  std::unique_ptr<Session> session;
};

std::string paths(const CallTree& tree) {
  std::string all;
  for (uint32_t row = 1; row < tree.nodes.size(); ++row) all += host::path_of(tree, row) + " ";
  return all;
}

}  // namespace

TEST(ranges_and_scopes_nest_in_the_order_of_the_calls) {
  Recorded recorded;
  host::enter("scope");
  CHECK_EQ(api::push("range"), 0);
  host::enter("inner");
  CHECK_EQ(api::push("deep"), 1);
  launch(*recorded.session);
  CHECK_EQ(api::pop(), 1);
  launch(*recorded.session, "k2");
  host::leave();
  launch(*recorded.session, "k3");
  CHECK_EQ(api::pop(), 0);
  launch(*recorded.session, "k4");
  host::leave();
  launch(*recorded.session, "k5");
  const CallTree tree = recorded.tree();
  for (const char* path :
       {"scope/range/inner/deep/k", "scope/range/inner/k2", "scope/range/k3", "scope/k4", "k5"}) {
    CHECK(host::row_of(tree, path) != 0);
  }
}

TEST(a_range_without_work_is_a_node_and_keeps_its_domain_and_payload) {
  Recorded recorded;
  const void* domain = api::domain("NCCL");
  nvtx::EventAttributes event = api::attributes("reduce");
  event.payload_type = nvtx::kPayloadInt32;
  event.payload.int32 = 21;
  for (int i = 0; i < 2; ++i) {
    api::push_ex(domain, event);
    api::domain_pop(domain);
  }
  event.payload_type = nvtx::kPayloadNone;
  event.message_type = nvtx::kMessageRegistered;
  event.message.registered =
      static_cast<const nvtx::Registered*>(api::registered(domain, "string"));
  api::push_ex(domain, event);
  api::domain_pop(domain);
  api::push(nullptr);
  api::pop();
  const CallTree tree = recorded.tree();
  CHECK(host::metric(tree, host::row_of(tree, "NCCL:reduce"), "payload") ==
        MetricValue(int64_t{42}));
  CHECK(host::row_of(tree, "NCCL:string") != 0);
  CHECK(host::row_of(tree, "<unnamed>") != 0);
}

TEST(marks_are_counted) {
  Recorded recorded;
  api::push("step");
  for (int i = 0; i < 3; ++i) api::mark("saved");
  api::pop();
  const CallTree tree = recorded.tree();
  CHECK(host::metric(tree, host::row_of(tree, "step/saved"), "marks") == MetricValue(int64_t{3}));
}

TEST(domains_have_stacks_of_their_own) {
  Recorded recorded;
  const void* other = api::domain("other");
  api::push("a");
  api::push_ex(other, api::attributes("b"));
  CHECK_EQ(api::pop(), 0);  // a, below b
  launch(*recorded.session);
  CHECK_EQ(api::domain_pop(other), 0);
  launch(*recorded.session, "k2");
  const CallTree tree = recorded.tree();
  CHECK(host::row_of(tree, "a/other:b/k") != 0);
  CHECK(host::row_of(tree, "k2") != 0);
}

TEST(a_pop_without_a_push_changes_nothing_and_is_counted) {
  Recorded recorded;
  host::enter("scope");
  CHECK_EQ(api::pop(), -1);
  api::end(uint64_t{5} << 40 | 3);
  launch(*recorded.session);
  host::leave();
  CHECK_EQ(recorded.loss(losses::kUnmatchedRange), 2);
  CHECK(host::row_of(recorded.tree(), "scope/k") != 0);
}

TEST(started_ranges_end_in_any_order_and_on_any_thread) {
  Recorded recorded;
  const uint64_t first = api::start("first");
  const uint64_t second = api::start("second");
  launch(*recorded.session);
  api::end(first);
  launch(*recorded.session, "k2");
  std::thread([&] { api::end(second); }).join();
  launch(*recorded.session, "k3");
  api::end(second);
  const CallTree tree = recorded.tree();
  CHECK(host::row_of(tree, "first/second/k") != 0);
  CHECK(host::row_of(tree, "first/second/k2") != 0);
  CHECK(host::row_of(tree, "k3") != 0);
  CHECK_EQ(recorded.loss(losses::kUnmatchedRange), 1);
}

TEST(a_scope_left_before_the_range_in_it_leaves_the_range_open) {
  Recorded recorded;
  api::push("outer");
  host::enter("scope");
  api::push("range");
  host::leave();
  launch(*recorded.session);
  api::pop();
  launch(*recorded.session, "k2");
  api::pop();
  launch(*recorded.session, "k3");
  const CallTree tree = recorded.tree();
  CHECK(host::row_of(tree, "outer/scope/range/k") != 0);
  CHECK(host::row_of(tree, "outer/k2") != 0);
  CHECK(host::row_of(tree, "k3") != 0);
}

TEST(a_range_ended_before_the_scope_in_it_leaves_the_scope_where_it_is) {
  Recorded recorded;
  host::enter("top");
  api::push("range");
  host::enter("scope");
  api::pop();
  launch(*recorded.session);
  host::leave();
  launch(*recorded.session, "k2");
  host::leave();
  const CallTree tree = recorded.tree();
  CHECK(host::row_of(tree, "top/range/scope/k") != 0);
  CHECK(host::row_of(tree, "top/k2") != 0);
}

TEST(ranges_begun_while_the_session_pauses_are_passed_over) {
  Recorded recorded;
  recorded.session->host.deactivate();
  api::push("before");
  recorded.session->host.activate();
  api::push("after");
  launch(*recorded.session);
  api::pop();
  launch(*recorded.session, "k2");
  api::pop();
  CHECK_EQ(paths(recorded.tree()), "after after/k k2 ");
  CHECK_EQ(recorded.loss(losses::kUnmatchedRange), 0);
}

TEST(a_range_that_outlives_all_sessions_is_not_in_the_next_one) {
  {
    Recorded recorded;
    api::push("old");
  }
  Recorded recorded;
  host::enter("scope");
  launch(*recorded.session);
  host::leave();
  api::pop();
  CHECK_EQ(paths(recorded.tree()), "scope scope/k ");
}

TEST(a_range_open_across_phases_holds_the_work_of_both) {
  Recorded recorded;
  api::push("range");
  launch(*recorded.session);
  recorded.session->advance_phase();
  launch(*recorded.session, "k2");
  api::pop();
  api::push("range");
  api::pop();
  CHECK_EQ(paths(host::tree(*recorded.session, 0, {})), "range range/k ");
  CHECK_EQ(paths(recorded.tree()), "range range/k2 ");
}

TEST(states_stand_below_ranges) {
  Recorded recorded;
  ThreadState& here = host::thread();
  api::push("range");
  here.stack.state = std::make_shared<const StateEntry>(StateEntry{"state", &here, nullptr});
  publish(here, here.stack);
  launch(*recorded.session);
  CHECK_EQ(process.paths.depth(launch_path(here, here.stack, ContextKind::kShadow)), 2);
  here.stack.state = nullptr;
  publish(here, here.stack);
  launch(*recorded.session, "k2");
  api::pop();
  const CallTree tree = recorded.tree();
  CHECK(host::row_of(tree, "range/state/k") != 0);
  CHECK(host::row_of(tree, "range/k2") != 0);
}

TEST(threads_without_anything_open_follow_the_ranges_of_the_lead) {
  Recorded recorded;
  api::push("step");
  std::thread([&] {
    launch(*recorded.session);
    api::push("worker");
    launch(*recorded.session, "k2");
    api::pop();
    api::push("left open");
  }).join();
  api::pop();
  const CallTree tree = recorded.tree();
  CHECK(host::row_of(tree, "step/k") != 0);
  CHECK(host::row_of(tree, "step/worker/k2") != 0);
  CHECK_EQ(recorded.loss(losses::kUnclosedRange), 1);
}

TEST(traces_have_spans_with_payload_and_category) {
  Recorded recorded(DataKind::kTrace);
  api::find<void (*)(uint32_t, const char*)>("nvtxNameCategoryA")(2, "io");
  nvtx::EventAttributes event = api::attributes("read");
  event.category = 2;
  event.payload_type = nvtx::kPayloadDouble;
  event.payload.real64 = 1.5;
  api::push_ex(nullptr, event);
  api::mark("now");
  api::pop();
  event.category = 9;
  api::push_ex(nullptr, event);
  const TraceLog log = recorded.trace();
  CHECK_EQ(log.spans.size(), 3);
  const auto category = [&](const TraceSpan& span) {
    const Value::Map& map = log.attributes[span.attributes];
    return map.empty() ? "" : std::get<std::string>(map[0].second.data);
  };
  for (const TraceSpan& span : log.spans) {
    const std::string& name = *log.paths[span.path].name;
    CHECK(span.start_ns <= span.end_ns);
    if (name == "now") {
      CHECK_EQ(span.start_ns, span.end_ns);
      CHECK(span.kind == SpanKind::kMark);
      CHECK_EQ(*log.paths[log.paths[span.path].parent].name, "read");
    } else if (span.metric_count == 1) {
      CHECK_EQ(category(span), "io");
      CHECK(log.metrics[span.first_metric].value == MetricValue(1.5));
    } else {  // still open
      CHECK_EQ(category(span), "9");
    }
  }
  api::pop();
}

TEST(numbers_that_torch_adds_to_names_are_left_out) {
  std::string buffer;
  const auto plain = [&](std::string_view name) {
    buffer.clear();
    return std::string(bindings::plain_name(name, buffer));
  };
  CHECK_EQ(plain("aten::add"), "aten::add");
  CHECK_EQ(plain("aten::add, seq = 12"), "aten::add");
  CHECK_EQ(plain("aten::add, op_id = 3"), "aten::add");
  CHECK_EQ(plain("aten::add, seq = 12, op_id = 3, sizes = [[2, 3], []]"),
           "aten::add, sizes = [[2, 3], []]");
  CHECK_EQ(plain("f, seq = 1, op_id = 2, sizes = [[2]], input_op_ids = [(3,0), [4]]"),
           "f, sizes = [[2]]");
  CHECK_EQ(plain("a, b, seq = x"), "a, b, seq = x");
  CHECK_EQ(plain(", "), ", ");
}

TEST(threads_push_and_pop_while_sessions_come_and_go) {
  std::unique_lock gil(host::gil());
  host::thread();
  bindings::load_nvtx(NVTX_LIBRARY);
  bindings::listen_to_nvtx(true);
  gil.unlock();
  // Threads wait for the reader: what piles up while it reads slowly (under a sanitizer) would make
  // its next reading slower still, without end.
  constexpr int kStepsPerTurn = 200;
  std::atomic<int> turn{0};
  std::atomic<bool> is_done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string own = "thread" + std::to_string(t);
      for (int step = 0; !is_done; ++step) {
        while (step >= (turn + 1) * kStepsPerTurn && !is_done) std::this_thread::yield();
        api::push("step");
        if (t == 0) {
          std::lock_guard lock(host::gil());
          host::enter("scope");
        }
        const uint64_t started = api::start(own.c_str());
        api::mark("mark");
        current_context_unlocked();
        api::end(started);
        if (t == 0) {
          std::lock_guard lock(host::gil());
          host::leave();
        }
        api::pop();
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    std::unique_lock lock(host::gil());
    const DataKind data = round % 2 == 0 ? DataKind::kTree : DataKind::kTrace;
    auto session = std::make_unique<Session>(round, ContextKind::kShadow, data);
    session->host.activate();
    for (int i = 0; i < 5; ++i) {
      lock.unlock();
      const KernelEvent event = kernel(current_context_unlocked());
      session->device.on_events({&event, 1});
      std::this_thread::yield();
      lock.lock();
      if (data == DataKind::kTree) host::tree(*session, session->host.phase(), {});
      if (data == DataKind::kTrace) build_trace(*session, session->host.phase(), {});
      session->advance_phase();
      ++turn;
    }
    session->host.deactivate();
    session->host.close();
  }
  is_done = true;
  for (std::thread& thread : threads) thread.join();
  bindings::listen_to_nvtx(false);
  std::lock_guard lock(host::gil());
  process.threads.reap();
}
