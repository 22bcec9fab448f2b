// The `sampling` object: which instructions it lists, and what it costs in bytes and time.
#include "session/samples/sample_report.h"

#include <chrono>
#include <random>

#include "base/byte_sink.h"
#include "check.h"
#include "files/writers.h"
#include "sampled.h"

using namespace proton;

namespace {

const std::vector<std::string> kHardwareReasons = {"barrier",
                                                   "branch_resolving",
                                                   "dispatch_stall",
                                                   "drain",
                                                   "imc_miss",
                                                   "lg_throttle",
                                                   "long_scoreboard",
                                                   "math_pipe_throttle",
                                                   "membar",
                                                   "mio_throttle",
                                                   "misc",
                                                   "no_instructions",
                                                   "not_selected",
                                                   "selected",
                                                   "short_scoreboard",
                                                   "sleeping",
                                                   "tex_throttle",
                                                   "wait",
                                                   "warpgroup_arrive"};

/// Kernels of which each instruction was seen often and for nine reasons, in three places each, as
/// in a long training run.
void report_training(Session& session, int kernel_count, int pc_count, uint64_t module) {
  std::mt19937 random(3);
  for (int kernel = 0; kernel < kernel_count; ++kernel) {
    const std::string name =
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warp" + std::to_string(kernel);
    for (int layer = 0; layer < 3; ++layer) {
      const std::string scope = "block" + std::to_string(layer);
      sampled::run(session, scope.c_str(), name.c_str(), 1000 + kernel * 10 + layer);
    }
    std::vector<sampled::Pc> pcs;
    for (int pc = 0; pc < pc_count; ++pc) {
      std::vector<uint32_t> samples(kHardwareReasons.size()), latency(kHardwareReasons.size());
      for (size_t i = 0; i < 9; ++i) {
        const size_t reason = random() % samples.size();
        samples[reason] = 2000 + random() % 200'000 / static_cast<uint32_t>(1 + pc % 97);
        latency[reason] = samples[reason] / 3;
      }
      pcs.push_back({name, static_cast<uint32_t>(pc) * 16, samples, latency, module});
    }
    sampled::report(session, pcs, 0, kHardwareReasons);
  }
}

}  // namespace

TEST(the_hottest_instructions_are_listed_and_the_rest_is_summed) {
  host::thread();
  sampled::Modules modules;
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.device.set_sampling({16384});
  std::vector<sampled::Pc> pcs;
  for (uint32_t i = 0; i < 300; ++i) pcs.push_back({"k", i * 16, {0, i + 1, 0, 0, 0}});
  sampled::report(session, pcs);
  const CallTree tree = host::tree(session, 0, {});
  const auto& kernel =
      sampled::map(sampled::list(sampled::at(tree.summary.sampling, "kernels"))[0]);
  const auto& listed = sampled::list(sampled::at(kernel, "instructions"));
  CHECK_EQ(listed.size(), 256u);
  CHECK_EQ(sampled::number(sampled::list(listed[255])[0]), 299 * 16);
  CHECK_EQ(sampled::text(sampled::list(listed[255])[1]), "AQL/AAAAAAAAAAAAAAAAAA==");
  CHECK_EQ(sampled::number(sampled::list(listed[255])[2]), -1);
  CHECK_EQ(sampled::number(sampled::list(listed[255])[3]), 300);
  CHECK_EQ(sampled::number(sampled::list(listed[0])[0]), 44 * 16);  // by offset
  CHECK_EQ(sampled::text(sampled::at(kernel, "module")), "7");
  const auto& reasons = sampled::map(sampled::list(listed[255])[5]);
  CHECK_EQ(reasons.size(), 1u);
  CHECK_EQ(reasons[0].first, "1");
  CHECK_EQ(sampled::number(reasons[0].second), 300);
  CHECK_EQ(sampled::number(sampled::at(kernel, "other_samples")), 44 * 45 / 2);
  CHECK_EQ(sampled::number(sampled::at(kernel, "arch")), 90);
}

TEST(every_instruction_of_a_sampled_kernel_is_listed) {
  host::thread();
  sampled::Modules modules(64);
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.device.set_sampling({16384});
  sampled::report(session, {{"k", 32, {0, 5, 0, 0, 0}}});
  const CallTree tree = host::tree(session, 0, {});
  const auto& kernel =
      sampled::map(sampled::list(sampled::at(tree.summary.sampling, "kernels"))[0]);
  CHECK_EQ(sampled::number(sampled::at(kernel, "instruction_count")), 4);
  std::vector<std::vector<int64_t>> listed;  // offset, line, samples
  for (const Value& each : sampled::list(sampled::at(kernel, "instructions"))) {
    const auto& row = sampled::list(each);
    CHECK_EQ(sampled::text(row[1]), "AQL/AAAAAAAAAAAAAAAAAA==");
    listed.push_back({sampled::number(row[0]), sampled::number(row[2]), sampled::number(row[3])});
  }
  // pc 0 has no line; the others stand in user.py:10, in what is inlined there, and in user.py:11.
  CHECK_EQ(listed.size(), 4u);
  CHECK(listed[0] == std::vector<int64_t>({0, -1, 0}));
  CHECK_EQ(listed[2][2], 5);
  CHECK(listed[1][1] >= 0 && listed[2][1] >= 0 && listed[3][1] >= 0);
  CHECK(listed[1][1] != listed[2][1] && listed[2][1] != listed[3][1]);
  // Lines without samples are no contexts.
  CHECK_EQ(host::row_of(tree, "<sampled without a timed launch>/k/user.py:11@k"), 0u);
}

TEST(kernels_without_room_have_their_hottest_instructions) {
  host::thread();
  sampled::Modules modules(10'000 * 16);
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.device.set_sampling({16384});
  std::vector<sampled::Pc> pcs;
  for (const char* name : {"cold", "hot"}) {
    for (uint32_t i = 0; i < 300; ++i) {
      pcs.push_back({name, i * 16, {0, name[0] == 'h' ? 9u : 1u + i, 0, 0, 0}});
    }
  }
  for (uint32_t i = 0; i < 300; ++i) pcs[300 + i].samples[1] += 300;
  sampled::report(session, pcs);
  const CallTree tree = host::tree(session, 0, {});
  const auto& kernels = sampled::list(sampled::at(tree.summary.sampling, "kernels"));
  const auto count = [&](size_t kernel) {
    return sampled::list(sampled::at(sampled::map(kernels[kernel]), "instructions")).size();
  };
  CHECK_EQ(sampled::text(sampled::at(sampled::map(kernels[0]), "symbol")), "hot");
  CHECK_EQ(count(0), 10'000u);
  CHECK_EQ(count(1), 256u);
  CHECK_EQ(sampled::number(sampled::at(sampled::map(kernels[1]), "instruction_count")), 10'000);
}

TEST(whole_kernels_keep_files_below_a_bound) {
  host::thread();
  sampled::Modules modules(3000 * 16);
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.device.set_sampling({16384});
  session.host.activate();
  report_training(session, 60, 3000, sampled::kBare);
  const CallTree tree = host::tree(session, 0, {});
  MemorySink sink;
  write_hatchet(tree, sink);
  CHECK(sink.take().size() < 2'500'000);  // each instruction was seen, for nine reasons
  sampled::Modules other(3000 * 16);
  Session usual(1, ContextKind::kShadow, DataKind::kTree);
  usual.device.set_sampling({16384});
  usual.host.activate();
  report_training(usual, 60, 300, sampled::kBare);
  write_hatchet(host::tree(usual, 0, {}), sink);
  CHECK(sink.take().size() < 1'250'000);  // one of ten was seen
}

TEST(a_long_training_run_stays_small) {
  host::thread();
  sampled::Modules modules;
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.device.set_sampling({16384});
  session.host.activate();
  report_training(session, 60, 3000, sampled::kBare);
  const CallTree tree = host::tree(session, 0, {});
  MemorySink sink;
  write_hatchet(tree, sink);
  const size_t bytes = sink.take().size();
  CHECK(bytes < 450'000);
  size_t listed = 0;
  for (const Value& kernel : sampled::list(sampled::at(tree.summary.sampling, "kernels"))) {
    listed += sampled::list(sampled::at(sampled::map(kernel), "instructions")).size();
  }
  CHECK(listed <= ReportLimits().instructions);
  CHECK(listed > ReportLimits().instructions / 2);
}

TEST(a_hundred_thousand_instructions_are_soon_built) {
  host::thread();
  sampled::Modules modules;
  Session session(0, ContextKind::kShadow, DataKind::kTree);
  session.device.set_sampling({16384});
  session.host.activate();
  report_training(session, 50, 2000, sampled::kModule);
  const auto start = std::chrono::steady_clock::now();
  const CallTree tree = host::tree(session, 0, {});
  const auto took = std::chrono::steady_clock::now() - start;
  CHECK(took < std::chrono::seconds(10));  // a bound that sanitizers keep too
  CHECK_EQ(sampled::total(tree, "num_samples"),
           sampled::number(sampled::at(tree.summary.sampling, "samples")));
}
