// Every way to make a graph: children, conditions, clones, updates, threads, explicit nodes.
#include <thread>

#include "check.h"
#include "graphs.h"

using gpu::below;
using gpu::capture_in;
using gpu::instantiate;
using gpu::replay;

namespace {

void add_kernel_node(void* graph, const char* scope, const char* name) {
  const gpu::Scope open(scope);
  FAKE(fake_graph_add_kernel)(graph, FAKE(fake_function)(name, 1));
}

}  // namespace

TEST(child_and_conditional_graphs_keep_their_paths) {
  gpu::begin();
  gpu::Recording recording;
  void* graph = FAKE(fake_graph_create)();
  FAKE(fake_graph_add_child)(graph, capture_in("child", "inner"));
  void* body = nullptr;
  FAKE(fake_graph_add_conditional)(graph, 3, &body);
  add_kernel_node(body, "body", "looped");
  replay(instantiate(graph), 2);
  const gpu::Rows expected{{below("", "child/inner"), {2, 2}}, {below("", "body/looped"), {6, 6}}};
  CHECK_EQ(recording.rows(), expected);
}

TEST(kernels_of_a_conditional_body_stand_at_the_root_as_no_launch_claims_them) {
  gpu::begin();
  gpu::Recording recording;
  void* graph = FAKE(fake_graph_create)();
  add_kernel_node(graph, "always", "a");
  void* body = nullptr;
  FAKE(fake_graph_add_conditional)(graph, 2, &body);
  add_kernel_node(body, "sometimes", "b");
  void* exec = instantiate(graph);
  {
    const gpu::Scope scope("run");
    replay(exec, 3);
  }
  const gpu::Rows expected{{below("run", "always/a"), {3, 3}}, {below("", "sometimes/b"), {6, 6}}};
  CHECK_EQ(recording.rows(), expected);
  CHECK_EQ(gpu::describe(recording.losses()), "");
}

TEST(a_branch_that_is_not_taken_books_nothing) {
  gpu::begin();
  gpu::Recording recording;
  void* graph = FAKE(fake_graph_create)();
  void *taken = nullptr, *other = nullptr;
  FAKE(fake_graph_add_conditional)(graph, 1, &taken);
  FAKE(fake_graph_add_conditional)(graph, 0, &other);
  add_kernel_node(taken, "then", "a");
  add_kernel_node(other, "else", "b");
  replay(instantiate(graph), 5);
  CHECK_EQ(recording.rows(), (gpu::Rows{{below("", "then/a"), {5, 5}}}));
}

TEST(children_may_nest_and_be_used_twice) {
  gpu::begin();
  gpu::Recording recording;
  void* inner = capture_in("inner", "k");
  void* middle = FAKE(fake_graph_create)();
  FAKE(fake_graph_add_child)(middle, inner);
  FAKE(fake_graph_add_child)(middle, inner);
  void* outer = FAKE(fake_graph_create)();
  FAKE(fake_graph_add_child)(outer, middle);
  void* body = nullptr;
  FAKE(fake_graph_add_conditional)(outer, 2, &body);
  FAKE(fake_graph_add_child)(body, inner);
  void* exec = instantiate(outer);
  for (void* graph : {inner, middle, outer}) FAKE(fake_graph_destroy)(graph);
  replay(exec, 3);
  CHECK_EQ(recording.rows(), (gpu::Rows{{below("", "inner/k"), {12, 12}}}));
}

TEST(a_clone_was_captured_where_its_original_was) {
  gpu::begin();
  gpu::Recording recording;
  void* graph = capture_in("original", "k");
  void* clone = FAKE(fake_graph_clone)(graph);
  FAKE(fake_graph_destroy)(graph);
  void* exec = instantiate(clone);
  replay(exec, 2);
  CHECK_EQ(recording.rows(), (gpu::Rows{{below("", "original/k"), {2, 2}}}));
}

TEST(a_node_added_by_hand_belongs_to_the_scope_that_added_it) {
  gpu::begin();
  gpu::Recording recording;
  void* graph = FAKE(fake_graph_create)();
  add_kernel_node(graph, "by_hand", "k");
  {
    const gpu::Scope scope("copies");
    FAKE(fake_graph_add_memcpy)(graph, 1, 100, 5);
    FAKE(fake_graph_add_memset)(graph, 100, 5);
  }
  replay(instantiate(graph), 2);
  const gpu::Rows expected{{below("", "by_hand/k"), {2, 2}},
                           {below("", "copies/<memcpy HtoD>"), {2, 10}},
                           {below("", "copies/<memset>"), {2, 10}}};
  CHECK_EQ(recording.rows(), expected);
}

TEST(an_updated_graph_belongs_to_the_capture_that_updated_it_where_cupti_tells) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = instantiate(capture_in("first", "a", 2));
  replay(exec);
  recording.flush();
  CHECK_EQ(FAKE(fake_graph_exec_update)(exec, capture_in("second", "b", 3)), 0);
  replay(exec, 2);
  // CUPTI tells of updates from 13.0 on.
  const char* updated = FAKE(fake_cupti_version)() >= 130000 ? "second/b" : "first/b";
  const gpu::Rows expected{{below("", "first/a"), {1, 2}}, {below("", updated), {2, 6}}};
  CHECK_EQ(recording.rows(), expected);
}

TEST(a_graph_instantiated_twice_has_its_paths_in_both) {
  gpu::begin();
  gpu::Recording recording;
  void* graph = capture_in("both");
  void *one = instantiate(graph), *two = instantiate(graph);
  {
    const gpu::Scope scope("a");
    replay(one, 2);
  }
  FAKE(fake_graph_exec_destroy)(one);
  {
    const gpu::Scope scope("b");
    replay(two, 3);
  }
  const gpu::Rows expected{{below("a", "both/k"), {2, 2}}, {below("b", "both/k"), {3, 3}}};
  CHECK_EQ(recording.rows(), expected);
}

TEST(several_threads_may_capture_into_one_graph) {
  gpu::begin();
  gpu::Recording recording;
  static const char* const names[] = {"t0", "t1", "t2", "t3"};
  void* graph = gpu::capture([](void* stream) {
    std::vector<std::thread> threads;
    for (const char* name : names) {
      void* other = FAKE(fake_stream_create)();
      FAKE(fake_capture_join)(stream, other);
      threads.emplace_back([=] {
        const gpu::Scope scope(name);
        for (int i = 0; i < 50; ++i) gpu::launch("k", 1, other);
      });
    }
    for (auto& thread : threads) thread.join();
  });
  replay(instantiate(graph), 2);
  gpu::Rows expected;
  for (const std::string name : names) expected[below("", name + "/k")] = {100, 100};
  CHECK_EQ(recording.rows(), expected);
}

TEST(threads_capture_graphs_of_their_own_while_others_replay) {
  gpu::begin();
  gpu::Recording recording;
  static const char* const names[] = {"t0", "t1", "t2", "t3"};
  std::vector<std::thread> threads;
  for (const char* name : names) {
    threads.emplace_back([=] {
      for (int i = 0; i < 30; ++i) {
        void* graph = capture_in(name);
        void* exec = instantiate(graph);
        FAKE(fake_graph_destroy)(graph);
        const gpu::Scope scope("run");
        replay(exec, 3);
        FAKE(fake_graph_exec_destroy)(exec);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  gpu::Rows expected;
  for (const std::string name : names) expected[below("run", name + "/k")] = {90, 90};
  CHECK_EQ(recording.rows(), expected);
}

TEST(a_graph_launched_from_the_device_stands_at_the_root) {
  gpu::begin();
  gpu::Recording recording;
  void* exec = instantiate(capture_in("captured"));
  const gpu::Scope scope("anything");
  FAKE(fake_graph_launch_on_device)(exec, nullptr);
  CHECK_EQ(recording.rows(), (gpu::Rows{{below("", "captured/k"), {1, 1}}}));
  CHECK_EQ(gpu::describe(recording.losses()), "");
}
