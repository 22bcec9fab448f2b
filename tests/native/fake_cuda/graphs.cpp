/// Graphs: nodes told to the subscriber as they are created and cloned, executables whose nodes
/// have ids of their own, and launches that write a record per node or one for the whole graph.
#include "driver.h"
#include "fake_cuda.h"
#include "sampling.h"

namespace fake {
namespace {

/// Every node id says its graph, as CUPTI's do.
uint64_t node_id(const Graph& graph) { return uint64_t{graph.id} << 32 | (graph.nodes.size() + 1); }

/// As CUPTI does: only the first callback tells the type.
void tell_made(Graph& graph, Node& node) {
  GraphData data{};
  data.graph = &graph;
  data.node = &node;
  data.node_type = node.work.type;
  call_resource(kNodeCreateStarting, data);
  data.node_type = 0;
  call_resource(kNodeCreated, data);
}

void tell_graph_made(Graph& graph) {
  GraphData data{};
  data.graph = &graph;
  call_resource(kGraphCreated, data);
}

/// Copies the nodes of `from` to `to`, child graphs included; nodes told as cloned.
void clone_nodes(const Graph& from, Graph& to) {
  for (const auto& old : from.nodes) {
    auto node = std::make_unique<Node>();
    node->id = node_id(to);
    node->work = old->work;
    node->runs = old->runs;
    Node* const raw = node.get();
    to.nodes.push_back(std::move(node));
    tell_made(to, *raw);
    GraphData data{};
    data.graph = &to;
    data.original_graph = const_cast<Graph*>(&from);
    data.node = raw;
    data.original_node = old.get();
    call_resource(kNodeCloned, data);
    if (old->child == nullptr) continue;
    raw->child = make_graph(to.is_exec);
    tell_graph_made(*raw->child);
    clone_nodes(*old->child, *raw->child);
  }
}

void run_nodes(const Graph& graph, Stream& stream, uint32_t correlation, uint32_t graph_id) {
  for (const auto& node : graph.nodes) {
    if (node->child == nullptr) {
      record_work(node->work, stream, correlation, node->id, graph_id);
      continue;
    }
    // Records of a conditional body have no correlation id.
    const uint32_t id = node->work.type == kConditionalNode ? 0 : correlation;
    for (int run = 0; run < node->runs; ++run) run_nodes(*node->child, stream, id, graph_id);
  }
}

void execute_nodes(const Graph& graph, Context& context) {
  for (const auto& node : graph.nodes) {
    if (node->child == nullptr) execute(node->work, context);
    for (int run = 0; node->child != nullptr && run < node->runs; ++run) {
      execute_nodes(*node->child, context);
    }
  }
}

uint64_t total_ns(const Graph& graph) {
  uint64_t sum = 0;
  for (const auto& node : graph.nodes) {
    if (node->child != nullptr) {
      sum += static_cast<uint64_t>(node->runs) * total_ns(*node->child);
    } else {
      sum += node->work.function != nullptr ? node->work.function->duration_ns
                                            : node->work.duration_ns;
    }
  }
  return sum;
}

uint64_t next_id(Graph& exec) {
  return uint64_t{exec.id} << 32 | (exec.nodes.size() + ++exec.more_nodes);
}

/// The driver makes nodes of its own in place of copies; records still carry the old ones' ids.
void replace_copies(Graph& exec) {
  for (const auto& node : exec.nodes) {
    if (node->work.type != kMemcpyNode) continue;
    Node own{};
    own.id = next_id(exec);
    tell_made(exec, own);
    GraphData data{};
    data.graph = &exec;
    data.node = node.get();
    call_resource(kNodeDestroyStarting, data);
  }
}

/// CUPTI adds nodes of its own around a graph that it times as a whole.
void add_timing_node(Graph& exec) {
  if (!is_kind_on(kGraphTrace)) return;
  Node own{};
  own.id = next_id(exec);
  tell_made(exec, own);
}

/// Nodes of children and bodies become the executable's own, untold.
void absorb(Graph& exec, Graph& from) {
  for (const auto& node : from.nodes) {
    if (&from != &exec) node->id = next_id(exec);
    if (node->child == nullptr) continue;
    GraphData data{};
    data.graph = &from;
    data.node = node.get();
    if (node->work.type == kGraphNode) call_resource(kNodeDestroyStarting, data);
    GraphData inner{};
    inner.graph = node->child;
    call_resource(kGraphDestroyStarting, inner);
    absorb(exec, *node->child);
  }
}

/// Whether two graphs have the same nodes, in kind and number.
bool has_shape(const Graph& one, const Graph& other) {
  if (one.nodes.size() != other.nodes.size()) return false;
  for (size_t i = 0; i < one.nodes.size(); ++i) {
    const Node &here = *one.nodes[i], &there = *other.nodes[i];
    if (here.work.type != there.work.type || (here.child == nullptr) != (there.child == nullptr)) {
      return false;
    }
    if (here.child != nullptr && !has_shape(*here.child, *there.child)) return false;
  }
  return true;
}

/// Of nodes whose parameters changed: the new graph's, and as its original the executable's.
void update_nodes(Graph& exec, const Graph& graph) {
  for (size_t i = 0; i < exec.nodes.size(); ++i) {
    Node &here = *exec.nodes[i], &there = *graph.nodes[i];
    const bool is_changed = here.work.function != there.work.function;
    here.work = there.work;
    here.runs = there.runs;
    GraphData data{};
    data.node = &there;
    data.original_node = &here;
    data.graph_exec = &exec;
    if (is_changed && kCuptiVersion >= 130000) call_resource(kNodeUpdated, data);
    if (here.child != nullptr) update_nodes(*here.child, *there.child);
  }
}

void record_graph(const Graph& graph, Stream& stream, uint32_t correlation) {
  const auto [start, end] = occupy(stream, total_ns(graph));
  GraphRecord record{};
  record.kind = kGraphTrace;
  record.correlation_id = correlation;
  record.start = start;
  record.end = end;
  record.device_id = record.end_device_id = static_cast<uint32_t>(stream.context->device);
  record.graph_id = graph.id;
  record.context_id = record.end_context_id = stream.context->id;
  record.stream_id = stream.id;
  write_record(&record);
}

/// Nodes are told of after their graph.
void drop(Graph* graph) {
  State& all = state();
  GraphData gone{};
  gone.graph = graph;
  call_resource(kGraphDestroyStarting, gone);
  for (const auto& node : graph->nodes) {
    GraphData data{};
    data.graph = graph;
    data.node = node.get();
    data.node_type = node->work.type;
    if (state().options.silent_nodes.load() == 0) call_resource(kNodeDestroyStarting, data);
    if (node->child != nullptr) drop(node->child);
  }
  const std::lock_guard lock(all.mutex);
  all.graphs.erase(graph);
}

Node* add_parent(Graph& graph, int type, Graph* child, int runs) {
  Work work;
  work.type = type;
  Node* node = add_node(graph, work);
  node->child = child;
  node->runs = runs;
  return node;
}

}  // namespace

Graph* make_graph(bool is_exec) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  auto graph = std::make_unique<Graph>();
  graph->id = all.next_graph++;
  graph->is_exec = is_exec;
  Graph* const raw = graph.get();
  all.graphs[raw] = std::move(graph);
  return raw;
}

Node* add_node(Graph& graph, const Work& work) {
  auto node = std::make_unique<Node>();
  node->work = work;
  Node* const raw = node.get();
  {
    const std::lock_guard lock(graph.mutex);
    node->id = node_id(graph);
    graph.nodes.push_back(std::move(node));
  }
  tell_made(graph, *raw);
  return raw;
}

}  // namespace fake

using namespace fake;

namespace {

struct GraphLaunchParams {  // cuGraphLaunch_params
  void *exec, *stream;
};

Graph& graph_of(void* handle) { return *static_cast<Graph*>(handle); }

}  // namespace

FAKE_EXPORT(cuGraphLaunch, void* exec, void* stream) {
  const GraphLaunchParams params{exec, stream};
  const int refused = call_cuGraphLaunch.enter();
  ApiCall call(kGraphLaunch, "cuGraphLaunch", &params, nullptr);
  const LaunchMark mark(kGraphLaunch);
  call.set_result(refused);
  if (refused != 0) return refused;
  Stream& target = stream_of(stream);
  execute_nodes(graph_of(exec), *target.context);
  if (is_kind_on(kGraphTrace)) {
    record_graph(graph_of(exec), target, call.correlation());
  } else {
    run_nodes(graph_of(exec), target, call.correlation(), graph_of(exec).id);
  }
  return 0;
}

FAKE_EXPORT(cuGraphGetNodes, void* graph, void** nodes, size_t* count) {
  FAKE_ENTER(cuGraphGetNodes);
  const Graph& one = graph_of(graph);
  if (nodes != nullptr) {
    for (size_t i = 0; i < *count && i < one.nodes.size(); ++i) nodes[i] = one.nodes[i].get();
  }
  *count = one.nodes.size();
  return 0;
}

FAKE_EXPORT(cuGraphNodeGetType, void* node, int* type) {
  FAKE_ENTER(cuGraphNodeGetType);
  *type = static_cast<Node*>(node)->work.type;
  return 0;
}

FAKE_EXPORT(cuGraphKernelNodeGetParams_v2, void* node, KernelNodeParams* params) {
  FAKE_ENTER(cuGraphKernelNodeGetParams_v2);
  const Work& work = static_cast<Node*>(node)->work;
  *params = KernelNodeParams{};
  params->function = work.function;
  for (int i = 0; i < 3; ++i) {
    params->grid[i] = work.grid[i];
    params->block[i] = work.block[i];
  }
  params->shared_memory_bytes = work.shared_bytes;
  return 0;
}

FAKE_EXPORT(cuGraphChildGraphNodeGetGraph, void* node, void** graph) {
  FAKE_ENTER(cuGraphChildGraphNodeGetGraph);
  *graph = static_cast<Node*>(node)->child;
  return 0;
}

FAKE_EXPORT(cuptiGetGraphNodeId, void* node, uint64_t* id) {
  FAKE_ENTER(cuptiGetGraphNodeId);
  if (node == nullptr || id == nullptr) return kInvalidParameter;
  *id = static_cast<Node*>(node)->id;
  return 0;
}

FAKE_EXPORT(cuptiGetGraphId, void* graph, uint32_t* id) {
  FAKE_ENTER(cuptiGetGraphId);
  if (graph == nullptr || id == nullptr) return kInvalidParameter;
  *id = graph_of(graph).id;
  return 0;
}

FAKE_EXPORT(cuptiGetGraphExecId, void* exec, uint32_t* id) {
  FAKE_ENTER(cuptiGetGraphExecId);
  if (exec == nullptr || id == nullptr) return kInvalidParameter;
  *id = graph_of(exec).id;
  return 0;
}

FAKE_VISIBLE void* fake_graph_create(void) {
  Graph* graph = make_graph(false);
  tell_graph_made(*graph);
  return graph;
}

FAKE_VISIBLE void* fake_graph_add_kernel(void* graph, void* function) {
  Work work;
  work.function = static_cast<Function*>(function);
  return add_node(graph_of(graph), work);
}

FAKE_VISIBLE void* fake_graph_add_memcpy(void* graph, int kind, uint64_t bytes,
                                         uint64_t duration_ns) {
  Work work;
  work.type = kMemcpyNode;
  work.copy_kind = kind;
  work.bytes = bytes;
  work.duration_ns = duration_ns;
  return add_node(graph_of(graph), work);
}

FAKE_VISIBLE void* fake_graph_add_memset(void* graph, uint64_t bytes, uint64_t duration_ns) {
  Work work;
  work.type = kMemsetNode;
  work.bytes = bytes;
  work.duration_ns = duration_ns;
  return add_node(graph_of(graph), work);
}

FAKE_VISIBLE void* fake_graph_add_child(void* graph, void* child) {
  Graph* copy = make_graph(false);
  Node* node = add_parent(graph_of(graph), kGraphNode, copy, 1);
  tell_graph_made(*copy);
  clone_nodes(graph_of(child), *copy);
  return node;
}

FAKE_VISIBLE void* fake_graph_add_conditional(void* graph, int runs, void** body) {
  Graph* inner = make_graph(false);
  *body = inner;
  return add_parent(graph_of(graph), kConditionalNode, inner, runs);
}

FAKE_VISIBLE void fake_graph_destroy(void* graph) { drop(&graph_of(graph)); }

FAKE_VISIBLE void* fake_graph_clone(void* graph) {
  Graph* copy = make_graph(false);
  tell_graph_made(*copy);
  clone_nodes(graph_of(graph), *copy);
  return copy;
}

FAKE_VISIBLE int fake_graph_exec_update(void* exec, void* graph) {
  if (!has_shape(graph_of(exec), graph_of(graph)))
    return 910;  // CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
  update_nodes(graph_of(exec), graph_of(graph));
  return 0;
}

FAKE_VISIBLE void fake_graph_launch_on_device(void* exec, void* stream) {
  run_nodes(graph_of(exec), stream_of(stream), 0, graph_of(exec).id);
}

FAKE_VISIBLE void* fake_graph_instantiate(void* graph) {
  Graph* exec = make_graph(true);
  tell_graph_made(*exec);
  clone_nodes(graph_of(graph), *exec);
  GraphData data{};
  data.graph = graph;
  data.graph_exec = exec;
  add_timing_node(*exec);
  call_resource(kExecCreateStarting, data);
  add_timing_node(*exec);
  replace_copies(*exec);
  absorb(*exec, *exec);
  call_resource(kExecCreated, data);
  return exec;
}

FAKE_VISIBLE uint32_t fake_graph_launch(void* exec, void* stream) {
  return cuGraphLaunch(exec, stream) == 0 ? state().correlation.load(std::memory_order_relaxed) : 0;
}

FAKE_VISIBLE void fake_graph_exec_destroy(void* exec) {
  GraphData data{};
  data.graph_exec = exec;
  call_resource(kExecDestroyStarting, data);
  drop(&graph_of(exec));
}

FAKE_VISIBLE void fake_capture_begin(void* stream) {
  stream_of(stream).capture.store(&graph_of(fake_graph_create()));
}

FAKE_VISIBLE void fake_capture_join(void* stream, void* other) {
  stream_of(other).capture.store(stream_of(stream).capture.load());
}

FAKE_VISIBLE void* fake_capture_end(void* stream) {
  State& all = state();
  Graph* const graph = stream_of(stream).capture.exchange(nullptr);
  const std::lock_guard lock(all.mutex);
  for (auto& one : all.streams) {
    Graph* expected = graph;
    one->capture.compare_exchange_strong(expected, nullptr);
  }
  return graph;
}

FAKE_VISIBLE uint64_t fake_node_id(void* node) { return static_cast<Node*>(node)->id; }
FAKE_VISIBLE uint32_t fake_graph_id(void* graph_or_exec) { return graph_of(graph_or_exec).id; }
