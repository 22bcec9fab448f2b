// The observer under many threads, in forked children, and over a million nodes.
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "check.h"
#include "observed.h"

using observed::Observed;
using observed::ObserverTier;
using proton::torch_observer;

namespace {

/// Forward and backward of a few operators; nodes are left to whoever asks.
std::vector<fake_torch::Node> run_forward() {
  std::vector<fake_torch::Node> nodes;
  fake_torch::op("aten::linear", [&] {
    nodes.push_back(fake_torch::op("aten::t"));
    nodes.push_back(fake_torch::op("aten::addmm", [] { fake_torch::inner_op("aten::copy_"); }));
  });
  nodes.push_back(fake_torch::op("aten::relu"));
  return nodes;
}

void run_backward(const std::vector<fake_torch::Node>& nodes) {
  const char* const names[] = {"TBackward0", "AddmmBackward0", "ReluBackward0"};
  for (size_t i = nodes.size(); i-- > 0;) {
    fake_torch::evaluate(1, names[i % 3], nodes[i], [] {
      fake_torch::inner_op("aten::mm");
      torch_observer.context();
    });
  }
}

}  // namespace

TEST(many_threads_lose_nothing_while_sums_are_taken) {
  constexpr int kThreads = 4;
  constexpr int kSteps = 500;
  Observed observer(ObserverTier::kOps);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int step = 0; step < kSteps; ++step) {
        const auto nodes = run_forward();
        if (step % 50 == 0) {
          std::thread([&] { run_backward(nodes); }).join();  // forward here, backward there
        } else {
          run_backward(nodes);
        }
      }
      --running;
    });
  }
  std::map<std::string, uint64_t> calls;
  const auto take = [&] {
    for (const auto& [path, count] : observer.take_calls()) calls[path] += count;
  };
  while (running > 0) {
    take();
    observer.counts();
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  take();
  constexpr int kAll = kThreads * kSteps;
  CHECK_EQ(calls.size(), 11);
  CHECK_EQ(calls["aten::linear/aten::addmm/aten::copy_"], kAll);
  CHECK_EQ(calls["aten::linear/aten::addmm/<backward>/AddmmBackward0/aten::mm"], kAll);
  CHECK_EQ(calls["aten::relu/<backward>/ReluBackward0"], kAll);
  CHECK_EQ(observer.counts().backward_nodes, 3 * kAll);
  CHECK_EQ(observer.counts().backward_launches, 3 * kAll);
  CHECK_EQ(observer.counts().unknown_forward, 0);
}

TEST(tiers_and_epochs_change_while_threads_run) {
  Observed observer(ObserverTier::kOps);
  std::atomic<bool> is_done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!is_done) {
        run_backward(run_forward());
        torch_observer.note_launch(0);
      }
    });
  }
  for (int i = 0; i < 60; ++i) {
    torch_observer.set_tier(static_cast<ObserverTier>(i % 3));
    if (i % 5 == 0) ++test_host::epoch;
    if (i % 7 == 0) torch_observer.clear();
    observer.take_calls();
    std::this_thread::yield();
  }
  is_done = true;
  for (std::thread& thread : threads) thread.join();
  torch_observer.set_tier(ObserverTier::kOps);
  torch_observer.clear();
  fake_torch::op("aten::mul");
  CHECK_EQ(observer.take_paths(), "aten::mul");
}

TEST(a_forked_child_switches_callbacks_off_and_may_observe_again) {
  Observed observer(ObserverTier::kOps);
  fake_torch::op("aten::mul");
  int status = -1;
  fake_torch::op("a::fork", [&] {
    const pid_t child = fork();
    if (child == 0) {
      torch_observer.reset_after_fork();
      check::failures() = 0;
      CHECK_EQ(observer.context(), "?");
      fake_torch::op("aten::mul");
      CHECK_EQ(fake_torch::enabled(), 0);
      CHECK_EQ(observer.take_paths(), "");
      torch_observer.set_tier(ObserverTier::kOps);
      run_backward(run_forward());
      CHECK_EQ(observer.take_calls().size(), 11);
      CHECK_EQ(observer.counts().unknown_forward, 0);
      _exit(check::failures() == 0 ? 0 : 1);
    }
    waitpid(child, &status, 0);
  });
  CHECK_EQ(status, 0);
  CHECK_EQ(observer.take_paths(), "a::fork aten::mul");
}

TEST(a_million_nodes_leave_memory_flat) {
  Observed observer(ObserverTier::kOps);
  const auto run_nodes = [](int count) {
    for (int i = 0; i < count; i += 3) run_backward(run_forward());
  };
  run_nodes(250'000);
  observer.take_calls();
  const size_t before = mallinfo2().uordblks;
  const uint64_t asked = test_host::asked;
  run_nodes(1'000'000);
  observer.take_calls();
  CHECK(mallinfo2().uordblks < before + 4096);
  CHECK_EQ(test_host::asked, asked);
  CHECK_EQ(observer.counts().unknown_forward, 0);
}

TEST(a_thousand_threads_leave_no_states_behind) {
  Observed observer(ObserverTier::kOps);
  const auto run_threads = [](int count) {
    for (int i = 0; i < count; ++i) std::thread([] { run_backward(run_forward()); }).join();
  };
  run_threads(4200);  // rings of ended threads are kept up to a limit
  const size_t before = mallinfo2().uordblks;
  run_threads(1000);
  CHECK(mallinfo2().uordblks < before + 65'536);
  CHECK_EQ(observer.take_calls().at("aten::relu"), 5200);
}
