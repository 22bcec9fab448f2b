/// A torch without tensors: it exports the functions that the observer looks up, under torch's
/// names, and calls its observers as torch does. Where an object keeps its fields is the test's
/// choice.
///
/// Callbacks are looked up when a call begins, so that one that is open while they are switched
/// ends as it began.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#define FAKE_TORCH_API __attribute__((visibility("default")))

namespace fake_torch {

constexpr size_t kPlaces = 64;  // of 8 bytes in an object

/// A field that looks like another one.
struct Decoy {
  size_t place;
  bool of_thread;   // else of the number
  int wrong_every;  // in one of so many calls it holds something else; 0: never
};

struct Layout {
  size_t number = 25;
  size_t forward_thread = 38;
  size_t name = 20;
  std::vector<Decoy> decoys = {};
  bool reports_nodes = true;
};

enum Scope { kFunction = 0, kBackward = 1, kScript = 2, kUser = 7 };

/// A node of a graph: what made it, and where.
struct Node {
  int64_t number;
  uint64_t thread;
};

using Body = std::function<void()>;

FAKE_TORCH_API void set_layout(const Layout& layout);
FAKE_TORCH_API uint64_t this_thread();
FAKE_TORCH_API uint64_t next_number();
FAKE_TORCH_API void set_next_number(uint64_t number);

/// One call with given fields.
FAKE_TORCH_API void call(Scope scope, const char* name, int64_t number, uint64_t forward_thread,
                         const Body& body = {}, bool is_async = false);
/// An operator that makes a node, if gradient is enabled, after it has begun and before its body.
FAKE_TORCH_API Node op(const char* name, const Body& body = {});
/// An operator without a number, as those are that others call below autograd.
FAKE_TORCH_API void inner_op(const char* name, const Body& body = {});
FAKE_TORCH_API void user_scope(const char* name, const Body& body);
/// Runs a node outside of the engine, as `y.grad_fn(...)` does.
FAKE_TORCH_API void run_node(const char* name, Node node, const Body& body = {});
/// Runs a node as the engine does, which then runs `after`; gradient is off, or on for
/// create_graph.
FAKE_TORCH_API void evaluate(int graph_task, const char* name, Node node, const Body& body = {},
                             const Body& after = {}, bool creates_graph = false);
/// The same without a number.
inline constexpr Node kNoNode{-1, 0};

/// Begins a call now, which ends on whatever thread ends it.
class FAKE_TORCH_API OpenCall {
 public:
  OpenCall(Scope scope, const char* name, int64_t number, bool is_async = false);
  ~OpenCall();
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

 private:
  struct Object;
  Object* object_;
};

/// Sets whether gradient is enabled, for as long as it lives.
class FAKE_TORCH_API GradMode {
 public:
  explicit GradMode(bool is_enabled);
  ~GradMode();

 private:
  bool before_;
};

/// How many callbacks are registered, and how many of them are on.
FAKE_TORCH_API size_t registered();
FAKE_TORCH_API size_t enabled();

}  // namespace fake_torch
