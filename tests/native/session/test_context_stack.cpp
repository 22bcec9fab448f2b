#include "session/scopes/context_stack.h"

#include "check.h"
#include "host.h"

using namespace proton;

namespace {

int released = 0;
char a[] = "a";

void count_releases() {
  host::install();
  released = 0;
  process.hooks.release = [](void*) { ++released; };
}

}  // namespace

TEST(entries_are_found_by_home_and_owner) {
  count_releases();
  ContextStack stack;
  int home, other, owner;
  stack.push(&home, a, nullptr);
  ScopeEntry& owned = stack.push(&home, a, &owner);
  CHECK_EQ(stack.find(&home, &owner), &owned);
  CHECK_EQ(stack.find(&home, nullptr), owned.parent);
  CHECK(stack.find(&other, nullptr) == nullptr);
  owned.is_closed = true;
  CHECK(stack.find(&home, &owner) == nullptr);
  drop_entry(stack.top);
  CHECK_EQ(released, 3);
}

TEST(a_shared_entry_outlives_the_stack_that_made_it) {
  count_releases();
  ContextStack creator;
  int home;
  creator.push(&home, a, nullptr);
  ContextStack task;
  task.top = share_entry(creator.top);
  task.push(&task, a, nullptr);
  drop_entry(creator.pop());
  CHECK(creator.top == nullptr);
  CHECK_EQ(released, 0);
  CHECK_EQ(task.top->parent->home, &home);
  drop_entry(task.top);
  CHECK_EQ(released, 2);
}

TEST(a_hundred_thousand_levels_are_dropped_without_recursion) {
  count_releases();
  ContextStack stack;
  for (int i = 0; i < 100000; ++i) stack.push(&stack, a, nullptr);
  CHECK_EQ(process.paths.depth(path_of(stack.top)), 100000);
  drop_entry(stack.top);
  CHECK_EQ(released, 100000);
}
