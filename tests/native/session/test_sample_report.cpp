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
