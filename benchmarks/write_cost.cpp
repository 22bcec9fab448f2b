/// Writes a tree of 100 000 nodes with the core alone, without Python and without a session:
/// the floor below what write_cost.py measures. Prints milliseconds, the median of 11.
///
///   c++ -std=c++20 -O3 -I src/native benchmarks/write_cost.cpp src/native/files/*.cpp
///       src/native/base/byte_sink.cpp -o write_cost && ./write_cost FOLDER
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>

#include "base/byte_sink.h"
#include "files/writers.h"
#include "model/call_tree.h"

namespace {

constexpr int kNodeCount = 100'000;
constexpr int kRepeats = 11;

proton::CallTree make_tree() {
  proton::CallTree tree;
  const std::string* keys[] = {
      &tree.strings.emplace_back("time (ns)"), &tree.strings.emplace_back("count"),
      &tree.strings.emplace_back("device_id"), &tree.strings.emplace_back("device_type"),
      &tree.strings.emplace_back("flops16")};
  tree.nodes.push_back({&tree.strings.emplace_back("ROOT"), proton::FrameKind::kRoot, 0, 0, {}});
  const std::string* kernel = &tree.strings.emplace_back("matmul_kernel_fp16");
  for (int i = 1; i < kNodeCount; i += 2) {
    const auto row = static_cast<uint32_t>(tree.nodes.size());
    tree.nodes[0].children.push_back(row);
    tree.nodes.push_back({&tree.strings.emplace_back("scope " + std::to_string(i)),
                          proton::FrameKind::kScope,
                          0,
                          0,
                          {row + 1}});
    tree.nodes.push_back(
        {kernel, proton::FrameKind::kKernel, static_cast<uint32_t>(tree.metrics.size()), 5, {}});
    tree.metrics.push_back({keys[0], int64_t{1'000'003} * i});
    tree.metrics.push_back({keys[1], int64_t{i}});
    tree.metrics.push_back({keys[2], std::string("0")});
    tree.metrics.push_back({keys[3], std::string("CUDA")});
    tree.metrics.push_back({keys[4], 1e9 / i});
  }
  return tree;
}

struct Format {
  const char* name;
  void (*write)(const proton::CallTree&, proton::ByteSink&);
};

constexpr Format kFormats[] = {{"hatchet", proton::write_hatchet},
                               {"hatchet_msgpack", proton::write_hatchet_msgpack}};

template <typename Write>
double median_ms(Write write) {
  std::array<double, kRepeats> times;
  for (double& time : times) {
    const auto start = std::chrono::steady_clock::now();
    write();
    const auto end = std::chrono::steady_clock::now();
    time = std::chrono::duration<double, std::milli>(end - start).count();
  }
  std::ranges::sort(times);
  return times[kRepeats / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  const proton::CallTree tree = make_tree();
  for (const Format& format : kFormats) {
    const std::string path = folder + "/write_cost." + format.name;
    const double memory = median_ms([&] {
      proton::MemorySink sink;
      format.write(tree, sink);
    });
    const double file = median_ms([&] {
      proton::FileSink sink(path);
      format.write(tree, sink);
      sink.commit();
    });
    std::remove(path.c_str());
    std::printf("%-16s memory %6.1f ms, file %6.1f ms\n", format.name, memory, file);
  }
}
