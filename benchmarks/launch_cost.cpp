// What Proton adds to launches on the fake driver, callback and records, in processor time of all
// threads; `launch_cost.py` builds it and, where valgrind is, counts its instructions.
//   launch_cost none|walk|proton|sampled|stepped same|mixed|graph COUNT
// none: a profiler that does nothing; walk: one that walks over its records; sampled: proton, ready
// to sample instructions, in a closed window, where the fake itself does no more than else;
// stepped: proton, where the program marks steps; same: one kernel; mixed: 64 kernels by turns in
// 16 scopes; graph: replays of 1000 kernels.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "backends/gpu.h"

namespace {

constexpr int kNames = 64, kScopes = 16, kNodes = 1000;

int64_t cpu_ns() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * gpu::kSecond + now.tv_nsec;
}

/// Nanoseconds per kernel.
double time_work(const std::string& work, int count) {
  std::vector<void*> functions;
  for (int i = 0; i < kNames; ++i) {
    const std::string name = "_ZN2at6native29vectorized_elementwise_kernelILi" + std::to_string(i) +
                             "ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0";
    functions.push_back(FAKE(fake_function)(name.c_str(), 1000 + 10 * i));
  }
  void* exec = nullptr;
  if (work == "graph") {
    void* graph = FAKE(fake_graph_create)();
    for (int i = 0; i < kNodes; ++i) {
      const std::string scope = "layer" + std::to_string(i / 100);
      host::enter(scope.c_str());
      FAKE(fake_graph_add_kernel)(graph, functions[i % kNames]);
      host::leave();
    }
    exec = FAKE(fake_graph_instantiate)(graph);
  }
  std::vector<std::string> scopes;
  for (int i = 0; i < kScopes; ++i) scopes.push_back("scope" + std::to_string(i));
  const auto launch = FAKE(fake_launch_many);
  const auto replay = FAKE(fake_graph_launch);
  const int64_t start = cpu_ns();
  if (work == "same") {
    launch(functions[0], static_cast<uint64_t>(count), nullptr);
  } else if (work == "graph") {
    for (int i = 0; i < count / kNodes; ++i) replay(exec, nullptr);
  } else {
    for (int i = 0; i < count / kNames; ++i) {
      host::enter(scopes[i % kScopes].c_str());
      for (int j = 0; j < kNames; ++j) launch(functions[j], 1, nullptr);
      host::leave();
    }
  }
  FAKE(fake_work)();  // the worker has read what was full
  return static_cast<double>(cpu_ns() - start) / count;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const std::string tool = arguments[1];
  double time_ns = 0;
  gpu::hub();
  if (tool == "proton" || tool == "sampled" || tool == "stepped") {
    gpu::SinkOptions options;
    if (tool == "sampled") {
      options.sampling.emplace();
      options.sampling->window_ns = 1;
      options.sampling->every_ns = 3600 * gpu::kSecond;
    }
    gpu::launch("first");  // there is a context
    gpu::Recording recording(options);
    while (FAKE(fake_sampled_contexts)(1) != 0) {
    }
    if (tool == "stepped") recording.session().host.mark_step(proton::now_ns(), "");
    host::enter("outer");
    time_ns = time_work(arguments[2], std::atoi(arguments[3]));
    host::leave();
    recording.flush();
    if (!recording.losses().empty()) return 3;
  } else {
    if (FAKE(fake_null_profiler)(tool == "walk" ? 2 : 1) != 0) return 1;
    host::enter("outer");
    time_ns = time_work(arguments[2], std::atoi(arguments[3]));
    host::leave();
    FAKE(fake_null_profiler)(0);
  }
  std::printf("%.1f\n", time_ns);
}
