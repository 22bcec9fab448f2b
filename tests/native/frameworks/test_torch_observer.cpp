// Where operators and backward nodes stand, and what they add up to.
#include <functional>
#include <stdexcept>

#include "base/clock.h"
#include "check.h"
#include "observed.h"

using fake_torch::evaluate;
using fake_torch::inner_op;
using fake_torch::kNoNode;
using fake_torch::Node;
using fake_torch::op;
using fake_torch::run_node;
using observed::Observed;
using observed::ObserverTier;
using proton::FrameKind;
using proton::torch_observer;

namespace {

/// Passes time in which nothing else is done.
void spend(int64_t time_ns) {
  const int64_t end_ns = proton::now_ns() + time_ns;
  while (proton::now_ns() < end_ns) {
  }
}

std::map<std::string, int64_t> take_times() {
  std::map<std::string, int64_t> times;
  for (const proton::OperatorSum& sum : torch_observer.take_sums()) {
    times[test_host::path(sum.context)] = sum.time_ns;
  }
  return times;
}

struct Frame {
  explicit Frame(const char* name) { test_host::enter(FrameKind::kPython, name); }
  ~Frame() { test_host::leave(); }
};

}  // namespace

TEST(operators_stand_below_the_frames_and_operators_around_them) {
  Observed observer(ObserverTier::kOps);
  const Frame frame("main");
  op("aten::linear", [] {
    op("aten::t");
    op("aten::addmm", [] { inner_op("aten::copy_"); });
  });
  op("aten::relu");
  CHECK_EQ(observer.take_paths(),
           "main/aten::linear main/aten::linear/aten::addmm main/aten::linear/aten::addmm/"
           "aten::copy_ main/aten::linear/aten::t main/aten::relu");
  CHECK_EQ(observer.take_paths(), "");
}

TEST(operators_of_an_earlier_order_are_found_in_any_later_order) {
  Observed observer(ObserverTier::kOps);
  const char* const names[] = {"a::b", "a::c", "a::d"};
  for (int i = 0; i < 27; ++i) {
    op("a::a", [&] {
      for (int part = i, j = 0; j < 3; ++j, part /= 3) op(names[part % 3]);
    });
  }
  CHECK_EQ(observer.take_paths(), "a::a x27 a::a/a::b x27 a::a/a::c x27 a::a/a::d x27");
}

TEST(time_of_an_operator_is_inclusive_and_in_nanoseconds) {
  Observed observer(ObserverTier::kOps);
  const int64_t start_ns = proton::now_ns();
  op("a::outer", [] { op("a::inner", [] { spend(20'000'000); }); });
  const int64_t most_ns = proton::now_ns() - start_ns;
  auto times = take_times();
  CHECK(times["a::outer/a::inner"] >= 19'990'000);
  CHECK(times["a::outer"] >= times["a::outer/a::inner"]);
  CHECK(times["a::outer"] <= most_ns + most_ns / 1000);
}

TEST(time_of_a_backward_pass_is_not_in_that_of_what_runs_it) {
  Observed observer(ObserverTier::kOps);
  const int64_t start_ns = proton::now_ns();
  const Node outer = op("CheckpointFunction");
  evaluate(1, "CheckpointFunctionBackward", outer, [] {
    Node inner;
    {
      const fake_torch::GradMode mode(true);
      inner = op("aten::exp", [] { spend(5'000'000); });
    }
    evaluate(2, "ExpBackward0", inner, [] { spend(20'000'000); });
  });
  const int64_t all_ns = proton::now_ns() - start_ns;
  auto times = take_times();
  const std::string node = "CheckpointFunction/<backward>/CheckpointFunctionBackward";
  const std::string again = node + "/<recompute>/aten::exp";
  CHECK(times[again] >= 4'990'000);
  CHECK(times[node] >= times[again]);
  CHECK(times[again + "/<backward>/ExpBackward0"] >= 19'990'000);
  CHECK(times[node] + times[again + "/<backward>/ExpBackward0"] <= all_ns + all_ns / 1000);
}

TEST(backward_nodes_stand_below_their_forward_operator) {
  Observed observer(ObserverTier::kOps);
  Node first, second;
  {
    const Frame frame("forward");
    first = op("aten::mul");
    second = op("aten::sum");
  }
  const Frame frame("backward");
  evaluate(1, "SumBackward0", second, [] { inner_op("aten::expand"); });
  evaluate(1, "MulBackward0", first, [] { inner_op("aten::mul"); }, [] { inner_op("aten::sum"); });
  CHECK_EQ(observer.take_paths(),
           "forward/aten::mul forward/aten::mul/<backward>/MulBackward0 "
           "forward/aten::mul/<backward>/MulBackward0/aten::mul "
           "forward/aten::mul/<backward>/MulBackward0/aten::sum forward/aten::sum "
           "forward/aten::sum/<backward>/SumBackward0 "
           "forward/aten::sum/<backward>/SumBackward0/aten::expand");
  CHECK_EQ(observer.counts().backward_nodes, 2);
  CHECK_EQ(observer.counts().unknown_forward, 0);
}

TEST(frames_have_the_kinds_of_what_they_stand_for) {
  Observed observer(ObserverTier::kOps);
  const Node node = op("aten::mul");
  run_node("MulBackward0", node, [] {
    const proton::ContextId context = torch_observer.context();
    CHECK(test_host::kind(context) == FrameKind::kOperator);
    CHECK(test_host::kind(test_host::rows[context].parent) == FrameKind::kBackward);
  });
}

TEST(the_last_operator_that_saw_a_number_is_the_forward_operator) {
  Observed observer(ObserverTier::kOps);
  const auto number = static_cast<int64_t>(fake_torch::next_number());
  fake_torch::call(fake_torch::kFunction, "aten::to", number, 0);  // makes no node
  run_node("MulBackward0", op("aten::mul"));
  CHECK_EQ(observer.take_paths(), "aten::mul aten::mul/<backward>/MulBackward0 aten::to");
}

TEST(equal_numbers_of_two_threads_are_told_apart) {
  Observed observer(ObserverTier::kOps);
  Node here, there;
  fake_torch::set_next_number(5);
  here = op("aten::mul");
  std::thread([&] {
    const Frame frame("other");
    fake_torch::set_next_number(5);
    there = op("aten::exp");
  }).join();
  CHECK_EQ(here.number, there.number);
  evaluate(1, "ExpBackward0", there);
  evaluate(1, "MulBackward0", here);
  CHECK_EQ(observer.take_paths(),
           "aten::mul aten::mul/<backward>/MulBackward0 other/aten::exp "
           "other/aten::exp/<backward>/ExpBackward0");
}

TEST(nodes_without_a_number_belong_to_the_node_before_them) {
  Observed observer(ObserverTier::kOps);
  const Node node = op("aten::mul");
  evaluate(1, "MulBackward0", node);
  evaluate(1, "AccumulateGrad", kNoNode,
           [&] { CHECK_EQ(observer.context(), "aten::mul/<backward>/AccumulateGrad"); });
  CHECK_EQ(observer.counts().backward_launches, 1);
  CHECK_EQ(observer.counts().backward_by_neighbour, 1);
  // The node before was of another pass.
  const Frame frame("main");
  evaluate(2, "AccumulateGrad", kNoNode);
  CHECK(observer.take_calls().contains("main/<backward>/AccumulateGrad"));
}

TEST(a_node_whose_operator_was_not_seen_stands_where_it_runs_and_is_counted) {
  Observed observer(ObserverTier::kOps);
  torch_observer.set_tier(ObserverTier::kOff);
  const Node node = op("aten::mul");
  torch_observer.set_tier(ObserverTier::kOps);
  const Frame frame("main");
  evaluate(1, "MulBackward0", node);
  CHECK_EQ(observer.take_paths(), "main/<backward>/MulBackward0");
  CHECK_EQ(observer.counts().unknown_forward, 1);
}

TEST(what_a_checkpoint_runs_again_is_marked) {
  Observed observer(ObserverTier::kOps);
  const Node node = op("aten::mul");
  evaluate(1, "MulBackward0", node, [] {
    {
      const fake_torch::GradMode mode(true);
      op("aten::exp", [] { inner_op("aten::empty"); });
    }
    inner_op("aten::mul");
  });
  CHECK_EQ(observer.take_paths(),
           "aten::mul aten::mul/<backward>/MulBackward0 "
           "aten::mul/<backward>/MulBackward0/<recompute>/aten::exp "
           "aten::mul/<backward>/MulBackward0/<recompute>/aten::exp/aten::empty "
           "aten::mul/<backward>/MulBackward0/aten::mul");
}

TEST(nodes_of_a_checkpoint_that_ran_again_stand_below_what_ran_again) {
  Observed observer(ObserverTier::kOps);
  const Node outer = op("CheckpointFunction");
  evaluate(1, "CheckpointFunctionBackward", outer, [] {
    Node inner;
    {
      const fake_torch::GradMode mode(true);
      inner = op("aten::exp");
    }
    evaluate(2, "ExpBackward0", inner);
    evaluate(2, "AccumulateGrad", kNoNode);
  });
  evaluate(1, "AccumulateGrad", kNoNode);
  const std::string node = "CheckpointFunction/<backward>/CheckpointFunctionBackward";
  const auto calls = observer.take_calls();
  CHECK(calls.contains(node + "/<recompute>/aten::exp/<backward>/ExpBackward0"));
  CHECK(calls.contains(node + "/<recompute>/aten::exp/<backward>/AccumulateGrad"));
  CHECK(calls.contains("CheckpointFunction/<backward>/AccumulateGrad"));
}

TEST(operators_of_a_backward_pass_that_makes_a_graph_are_forward_operators_of_the_next) {
  Observed observer(ObserverTier::kOps);
  const Node first = op("aten::mul");
  Node second;
  evaluate(1, "MulBackward0", first, [&] { second = op("aten::mul"); }, {}, true);
  evaluate(2, "MulBackward0", second);
  CHECK_EQ(observer.take_paths(),
           "aten::mul aten::mul/<backward>/MulBackward0 "
           "aten::mul/<backward>/MulBackward0/aten::mul "
           "aten::mul/<backward>/MulBackward0/aten::mul/<backward>/MulBackward0");
}

TEST(regions_that_the_host_keeps_have_their_frames_below_them) {
  Observed observer(ObserverTier::kOps);
  const Frame frame("main");
  fake_torch::user_scope("step", [] {
    const Frame inner("model");
    op("aten::mul");
    inner_op("aten::detach", [] { fake_torch::user_scope("hook", [] { op("aten::exp"); }); });
  });
  CHECK_EQ(observer.take_paths(),
           "main/step main/step/model/aten::detach main/step/model/aten::detach/hook "
           "main/step/model/aten::detach/hook/aten::exp main/step/model/aten::mul");
}

TEST(what_python_functions_run_stands_where_it_is_called) {
  Observed observer(ObserverTier::kOps);
  Node node;
  {
    const Frame frame("main");
    node = op("MyFunction", [] {
      const Frame inner("forward");
      op("aten::mul");
    });
  }
  evaluate(1, "MyFunctionBackward", node, [] { op("OtherFunction", [] { op("aten::exp"); }); });
  CHECK_EQ(observer.take_paths(),
           "main/MyFunction main/MyFunction/<backward>/MyFunctionBackward "
           "main/MyFunction/<backward>/MyFunctionBackward/OtherFunction "
           "main/MyFunction/<backward>/MyFunctionBackward/OtherFunction/aten::exp "
           "main/forward/aten::mul");
}

TEST(time_of_a_python_function_is_what_its_operators_leave) {
  proton::ObserverHost host = test_host::table;
  host.enter = nullptr;
  host.leave = nullptr;
  Observed observer(ObserverTier::kOps, host);
  const int64_t start_ns = proton::now_ns();
  fake_torch::user_scope("step", [] {
    op("MyFunction", [] { op("aten::mul", [] { spend(20'000'000); }); });
    spend(2'000'000);
  });
  const int64_t all_ns = proton::now_ns() - start_ns;
  auto times = take_times();
  int64_t sum_ns = 0;
  for (const auto& [path, time_ns] : times) sum_ns += time_ns;
  CHECK(times["aten::mul"] >= 19'990'000);
  CHECK(times["step"] >= 1'990'000);
  CHECK(times.contains("MyFunction"));
  CHECK(sum_ns <= all_ns + all_ns / 1000);
}

TEST(launches_ask_for_the_innermost_operator) {
  Observed observer(ObserverTier::kOps);
  CHECK_EQ(observer.context(), "?");
  op("aten::linear", [&] {
    op("aten::addmm", [&] { CHECK_EQ(observer.context(), "aten::linear/aten::addmm"); });
    CHECK_EQ(observer.context(), "aten::linear");
  });
  fake_torch::user_scope("step", [&] { CHECK_EQ(observer.context(), "?"); });
  CHECK_EQ(observer.counts().backward_launches, 0);
}

TEST(in_tier_blame_launches_say_where_numbers_belong) {
  Observed observer(ObserverTier::kBlame);
  Node view, product, sum;
  {
    const Frame frame("first");
    product = op("aten::mul", [] { torch_observer.note_launch(test_host::here()); });
    torch_observer.note_launch(test_host::here());
  }
  {
    const Frame frame("second");
    view = op("aten::view");
    sum = op("aten::sum", [] { torch_observer.note_launch(test_host::here()); });
  }
  evaluate(1, "SumBackward0", sum,
           [&] { CHECK_EQ(observer.context(), "second/<backward>/SumBackward0"); });
  evaluate(1, "ViewBackward0", view,
           [&] { CHECK_EQ(observer.context(), "second/<backward>/ViewBackward0"); });
  evaluate(
      1, "MulBackward0", product,
      [&] {
        CHECK_EQ(observer.context(), "first/<backward>/MulBackward0");
        const fake_torch::GradMode mode(true);
        CHECK_EQ(observer.context(), "first/<backward>/MulBackward0/<recompute>");
      },
      [&] { CHECK_EQ(observer.context(), "first/<backward>/MulBackward0"); });
  CHECK_EQ(observer.context(), "?");
  CHECK_EQ(observer.counts().unknown_forward, 0);
  CHECK_EQ(observer.counts().backward_launches, 5);
  CHECK_EQ(observer.counts().backward_by_neighbour, 2);  // the view's, and the one after a node
  CHECK_EQ(fake_torch::enabled(), 1);
}

TEST(an_operator_that_fails_ends) {
  Observed observer(ObserverTier::kOps);
  CHECK_THROWS(op("aten::mm", [] { throw std::runtime_error("shapes"); }), std::runtime_error);
  op("aten::mul");
  CHECK_EQ(observer.take_paths(), "aten::mm aten::mul");
}

TEST(operators_that_are_open_while_the_tier_changes_leave_no_trace_on_others) {
  Observed observer(ObserverTier::kOff);
  op("a::before", [] {
    torch_observer.set_tier(ObserverTier::kOps);
    op("a::inside", [] { torch_observer.set_tier(ObserverTier::kOff); });
    op("a::unseen");
  });
  torch_observer.set_tier(ObserverTier::kOps);
  op("a::after");
  CHECK_EQ(observer.take_paths(), "a::after a::inside");
}

TEST(operators_that_end_on_another_thread_do_not_stay_open) {
  Observed observer(ObserverTier::kOps);
  fake_torch::OpenCall* open = nullptr;
  op("c10d::allreduce_",
     [&] { open = new fake_torch::OpenCall(fake_torch::kUser, "nccl:all_reduce", -1); });
  op("aten::mul");
  std::thread([&] { delete open; }).join();
  {
    const fake_torch::OpenCall announced(fake_torch::kUser, "gloo:all_reduce", -1, true);
  }
  CHECK_EQ(observer.take_paths(), "aten::mul c10d::allreduce_");
}

TEST(names_have_any_bytes_and_any_length) {
  Observed observer(ObserverTier::kOps);
  const std::string longest(100'000, 'x');
  const std::string bytes = "\xff\xfe\n::\x01";
  for (int i = 0; i < 2; ++i) {
    op(longest.c_str());
    op((longest + "y").c_str());
    op(bytes.c_str());
    op("");
  }
  const auto calls = observer.take_calls();
  CHECK_EQ(calls.size(), 4);
  CHECK_EQ(calls.at(longest), 2);
  CHECK_EQ(calls.at(longest + "y"), 2);
  CHECK_EQ(calls.at(bytes), 2);
  CHECK_EQ(calls.at(""), 2);
}

TEST(a_thousand_levels_of_operators_nest) {
  Observed observer(ObserverTier::kOps);
  std::function<void(int)> nest = [&](int left) {
    if (left > 0) op("a::a", [&] { nest(left - 1); });
  };
  nest(1000);
  nest(1000);
  const auto calls = observer.take_calls();
  CHECK_EQ(calls.size(), 1000);
  for (const auto& [path, count] : calls) CHECK_EQ(count, 2);
}

TEST(contexts_of_an_earlier_epoch_are_forgotten) {
  Observed observer(ObserverTier::kOps);
  Node node;
  op("a::open", [&] {
    node = op("aten::mul");
    ++test_host::epoch;
    op("aten::exp");
  });
  evaluate(1, "MulBackward0", node);
  op("aten::mul");
  CHECK_EQ(observer.take_paths(), "<backward>/MulBackward0 aten::exp aten::mul");
  CHECK_EQ(observer.counts().unknown_forward, 1);
}

TEST(threads_that_record_nothing_have_no_contexts) {
  Observed observer(ObserverTier::kOps);
  test_host::stack.push_back(proton::kNoContext);
  op("aten::linear", [&] {
    op("aten::mul");
    CHECK_EQ(observer.context(), "?");
  });
  test_host::stack.pop_back();
  CHECK_EQ(observer.take_paths(), "");
}

TEST(sums_of_threads_that_ended_are_kept) {
  Observed observer(ObserverTier::kOps);
  for (int i = 0; i < 3; ++i) std::thread([] { op("aten::mul"); }).join();
  op("aten::mul");
  CHECK_EQ(observer.take_paths(), "aten::mul x4");
}

TEST(clear_forgets_sums_numbers_and_counts) {
  Observed observer(ObserverTier::kOps);
  const Node node = op("aten::mul");
  std::thread([] { op("aten::mul"); }).join();
  torch_observer.clear();
  CHECK_EQ(observer.take_paths(), "");
  evaluate(1, "MulBackward0", node);
  CHECK_EQ(observer.counts().unknown_forward, 1);
  CHECK_EQ(observer.counts().backward_nodes, 1);
}

TEST(torch_without_the_functions_that_are_not_needed_is_observed) {
  Observed observer(ObserverTier::kOff);
  proton::TorchLibrary library = observed::library();
  library.is_grad_enabled = nullptr;
  library.graph_task = nullptr;
  library.is_async = nullptr;
  torch_observer.attach(library, {25, 38}, test_host::table);
  torch_observer.set_tier(ObserverTier::kOps);
  const Node node = op("aten::mul");
  evaluate(1, "MulBackward0", node, [] {
    const fake_torch::GradMode mode(true);
    op("aten::exp");
    torch_observer.context();
  });
  evaluate(1, "AccumulateGrad", kNoNode);
  {
    const fake_torch::OpenCall announced(fake_torch::kUser, "gloo:all_reduce", -1, true);
  }
  // Neither what runs again nor the neighbours of nodes are known then.
  CHECK_EQ(observer.take_paths(),
           "<backward>/AccumulateGrad aten::mul aten::mul/<backward>/MulBackward0 "
           "aten::mul/<backward>/MulBackward0/aten::exp gloo:all_reduce");
}
