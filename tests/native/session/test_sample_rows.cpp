// Samples in trees and traces: contexts, lines, names, devices, phases and the filter.
#include <algorithm>
#include <functional>
#include <random>

#include "check.h"
#include "sampled.h"

using namespace proton;

namespace {

struct Recording {
  explicit Recording(DataKind data = DataKind::kTree,
                     std::function<bool(const std::string&)> include = nullptr)
      : session(0, ContextKind::kShadow, data) {
    host::thread();
    session.device.set_sampling({16384, 30, 1000, std::move(include)});
    session.host.activate();
  }
  sampled::Modules modules;
  Session session;
};

}  // namespace

TEST(samples_stand_on_the_kernel_or_below_it_on_nested_lines) {
  Recording on;
  sampled::run(on.session, "a", "k", 10);
  sampled::report(on.session, {{"k", 0, {1, 2, 0, 0, 0}},
                               {"k", 16, {0, 3, 0, 0, 0}, {0, 1, 0, 0, 0}},
                               {"k", 32, {0, 0, 4, 0, 0}},
                               {"k", 48, {0, 0, 0, 5, 6}}});
  const CallTree tree = host::tree(on.session, 0, {});
  CHECK_EQ(sampled::count(tree, "a/k"), 3);
  CHECK_EQ(sampled::count(tree, "a/k", "num_stalled_samples"), 2);
  CHECK_EQ(sampled::count(tree, "a/k", "stalled_selected"), 1);
  CHECK_EQ(sampled::count(tree, "a/k/user.py:10@k"), 3);
  CHECK_EQ(sampled::count(tree, "a/k/user.py:10@k", "num_latency_samples"), 1);
  CHECK_EQ(sampled::count(tree, "a/k/user.py:10@k", "stalled_long_scoreboard"), 3);
  CHECK_EQ(sampled::count(tree, "a/k/user.py:10@k/lib.py:3@helper"), 4);
  CHECK_EQ(sampled::count(tree, "a/k/user.py:10@k/lib.py:3@helper", "stalled_not_Selected"), 4);
  CHECK_EQ(sampled::count(tree, "a/k/user.py:11@k"), -1);  // nothing was seen in it alone
  CHECK_EQ(sampled::count(tree, "a/k/user.py:11@k/lib.py:3@<inlined>"), 11);
  CHECK_EQ(sampled::count(tree, "a/k/user.py:11@k/lib.py:3@<inlined>", "stalled_no_instruction"),
           5);
  CHECK_EQ(sampled::count(tree, "a/k/user.py:11@k/lib.py:3@<inlined>", "stalled_warpgroup_arrive"),
           6);
  CHECK_EQ(sampled::count(tree, "a/k", "time (ns)"), 10);
  const uint32_t line = host::row_of(tree, "a/k/user.py:10@k");
  CHECK(tree.nodes[line].kind == FrameKind::kSample);
  for (const char* key : {"num_samples", "num_stalled_samples", "num_latency_samples",
                          "stalled_long_scoreboard", "stalled_warpgroup_arrive"}) {
    CHECK_EQ(std::get<int64_t>(host::metric(tree, 0, key)), 0);
    CHECK(!tree.summary.metric_kinds.contains(key));  // they add up
  }
}

TEST(samples_are_divided_by_time_and_no_sample_is_lost) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20; ++round) {
    Recording on;
    std::vector<std::string> scopes;
    for (uint64_t i = 0; i <= random() % 8; ++i) scopes.push_back("s" + std::to_string(i));
    for (const std::string& scope : scopes) {
      sampled::run(on.session, scope.c_str(), "k", static_cast<int64_t>(random() % 1000));
    }
    int64_t samples = 0, latency = 0, waits = 0;
    for (int i = 0; i < 50; ++i) {
      std::vector<uint32_t> counts(5), late(5);
      for (size_t reason = 0; reason < 5; ++reason) {
        counts[reason] = static_cast<uint32_t>(random() % 4);
        late[reason] = static_cast<uint32_t>(random() % (counts[reason] + 1));
        samples += counts[reason];
        latency += late[reason];
      }
      waits += counts[1];
      const auto pc = static_cast<uint32_t>(random() % 5 * 16);
      sampled::report(on.session, {{"k", pc, counts, late}});
    }
    const CallTree tree = host::tree(on.session, 0, {});
    CHECK_EQ(sampled::total(tree, "num_samples"), samples);
    CHECK_EQ(sampled::total(tree, "num_latency_samples"), latency);
    CHECK_EQ(sampled::total(tree, "stalled_long_scoreboard"), waits);
    CHECK_EQ(sampled::number(sampled::at(tree.summary.sampling, "samples")), samples);
    const bool is_split = std::get<bool>(sampled::at(tree.summary.sampling, "is_split").data);
    CHECK_EQ(is_split, scopes.size() > 1);
  }
}

TEST(shares_follow_the_time_of_each_context) {
  Recording on;
  sampled::run(on.session, "a", "k", 750);
  sampled::run(on.session, "b", "k", 200);
  sampled::run(on.session, "b", "k", 50);
  sampled::report(on.session, {{"k", 0, {0, 1000, 0, 0, 0}}});
  const CallTree tree = host::tree(on.session, 0, {});
  CHECK_EQ(sampled::count(tree, "a/k"), 750);
  CHECK_EQ(sampled::count(tree, "b/k"), 250);
  const auto& kernel =
      sampled::map(sampled::list(sampled::at(tree.summary.sampling, "kernels"))[0]);
  CHECK_EQ(sampled::number(sampled::at(kernel, "contexts")), 2);
  CHECK_EQ(sampled::number(sampled::at(kernel, "samples")), 1000);
}

TEST(renamed_kernels_get_the_samples_of_their_own_symbol) {
  Recording on;
  on.session.device.use_launch_metadata(true);
  host::enter("a");
  ThreadState& here = host::thread();
  OpEntry renamed;
  renamed.name = "shown";
  renamed.home = nullptr;
  here.stack.op = std::make_shared<const OpEntry>(std::move(renamed));
  publish(here, here.stack);
  const ContextId context = current_context_unlocked();
  here.stack.op = nullptr;
  publish(here, here.stack);
  KernelEvent events[] = {host::kernel(context, 30), host::kernel(context, 10)};
  events[0].name = "first";
  events[0].name_id = 1;
  events[1].name = "second";
  events[1].name_id = 2;
  on.session.device.on_events(events);
  host::leave();
  sampled::run(on.session, "b", "second", 30);
  sampled::report(on.session, {{"first", 0, {0, 8, 0, 0, 0}}, {"second", 0, {0, 100, 0, 0, 0}}});
  const CallTree tree = host::tree(on.session, 0, {});
  CHECK_EQ(sampled::count(tree, "a/shown"), 8 + 25);
  CHECK_EQ(sampled::count(tree, "a/shown", "count"), 2);
  CHECK_EQ(sampled::count(tree, "b/second"), 75);
}

TEST(devices_keep_their_samples_apart) {
  Recording on;
  sampled::run(on.session, "a", "k", 10, 0);
  sampled::run(on.session, "b", "k", 10, 1);
  sampled::report(on.session, {{"k", 0, {0, 5, 0, 0, 0}}}, 0);
  sampled::report(on.session, {{"k", 0, {0, 7, 0, 0, 0}}}, 1);
  const CallTree tree = host::tree(on.session, 0, {});
  CHECK_EQ(sampled::count(tree, "a/k"), 5);
  CHECK_EQ(sampled::count(tree, "b/k"), 7);
  CHECK_EQ(sampled::list(sampled::at(tree.summary.sampling, "kernels")).size(), 2u);
}

TEST(samples_without_a_timed_launch_have_a_place_of_their_own) {
  Recording on;
  sampled::report(on.session, {{"k", 16, {0, 5, 0, 0, 0}}});
  const CallTree tree = host::tree(on.session, 0, {});
  const std::string path = "<sampled without a timed launch>/k";
  CHECK_EQ(sampled::count(tree, path + "/user.py:10@k"), 5);
  const uint32_t row = host::row_of(tree, path);
  CHECK(tree.nodes[row].kind == FrameKind::kKernel);
  CHECK_EQ(std::get<std::string>(host::metric(tree, row, "device_id")), "0");
  CHECK_EQ(std::get<std::string>(host::metric(tree, row, "device_type")), "FAKE");
}

TEST(every_phase_shows_its_own_samples) {
  Recording on;
  sampled::run(on.session, "a", "k", 10);
  sampled::report(on.session, {{"k", 0, {0, 5, 0, 0, 0}}});
  on.session.advance_phase();
  sampled::report(on.session, {{"k", 0, {0, 7, 0, 0, 0}}});
  CHECK_EQ(sampled::total(host::tree(on.session, 0, {}), "num_samples"), 5);
  const CallTree second = host::tree(on.session, 1, {});
  CHECK_EQ(sampled::count(second, "<sampled without a timed launch>/k"), 7);
  on.session.clear_phase(1);
  CHECK_EQ(sampled::total(host::tree(on.session, 1, {}), "num_samples"), 0);
}

TEST(what_the_filter_does_not_find_is_counted_and_not_shown) {
  std::vector<std::string> names;
  Recording on(DataKind::kTree, [&](const std::string& name) {
    names.push_back(name);
    return name == "wanted" || name == "gemm";
  });
  sampled::run(on.session, "wanted", "k", 75);
  sampled::run(on.session, "other", "k", 25);
  sampled::run(on.session, "other", "gemm", 25);
  sampled::report(on.session, {{"k", 0, {0, 60, 0, 0, 0}},
                               {"k", 16, {0, 40, 0, 0, 0}},
                               {"gemm", 0, {9, 0, 0, 0, 0}},
                               {"lost", 0, {0, 3, 0, 0, 0}}});
  const CallTree tree = host::tree(on.session, 0, {});
  host::tree(on.session, 0, {});
  std::sort(names.begin(), names.end());  // each once, as far as it mattered
  CHECK(names == std::vector<std::string>({"gemm", "k", "lost", "other", "wanted"}));
  CHECK_EQ(sampled::count(tree, "wanted/k") + sampled::count(tree, "wanted/k/user.py:10@k"), 75);
  CHECK_EQ(sampled::count(tree, "other/k"), -1);
  CHECK_EQ(sampled::count(tree, "other/gemm"), 9);
  CHECK_EQ(host::row_of(tree, "<sampled without a timed launch>"), 0u);
  CHECK_EQ(sampled::number(sampled::at(tree.summary.sampling, "left_out")), 25 + 3);
  CHECK_EQ(sampled::number(sampled::at(tree.summary.sampling, "samples")), 112 - 28);
  const auto& kernels = sampled::list(sampled::at(tree.summary.sampling, "kernels"));
  CHECK_EQ(kernels.size(), 2u);
  int64_t listed = 0;
  for (const Value& each : sampled::list(sampled::at(sampled::map(kernels[0]), "instructions"))) {
    listed += sampled::number(sampled::list(each)[3]);
    listed -= sampled::number(sampled::map(sampled::list(each)[5])[0].second);  // its only reason
  }
  CHECK_EQ(listed, 0);
  CHECK_EQ(sampled::number(sampled::at(sampled::map(kernels[0]), "samples")), 75);
}

TEST(a_trace_tells_of_samples_by_kernel_and_line) {
  Recording on(DataKind::kTrace);
  sampled::run(on.session, "a", "k", 10);
  sampled::report(on.session, {{"k", 0, {1, 2, 0, 0, 0}}, {"k", 32, {0, 0, 4, 0, 0}}});
  const TraceLog log = build_trace(on.session, 0, {});
  const auto& kernel = sampled::map(sampled::list(sampled::at(log.summary.sampling, "kernels"))[0]);
  CHECK_EQ(sampled::number(sampled::at(kernel, "samples")), 7);
  const auto& totals = sampled::list(sampled::at(kernel, "line_samples"));
  CHECK_EQ(totals.size(), 2u);
  CHECK_EQ(sampled::number(sampled::list(totals[0])[0]), -1);
  CHECK_EQ(sampled::number(sampled::list(totals[1])[0]), 1);
  CHECK_EQ(sampled::number(sampled::list(totals[1])[1]), 4);
  const auto& lines = sampled::list(sampled::at(log.summary.sampling, "lines"));
  CHECK_EQ(lines.size(), 2u);
  CHECK_EQ(sampled::text(sampled::list(lines[1])[0]), "lib.py");
  CHECK_EQ(sampled::number(sampled::list(lines[1])[3]), 0);
}

TEST(losses_and_facts_of_sampling_are_in_the_object) {
  Recording on;
  on.session.device.on_loss("dropped_samples", 3);
  on.session.device.on_loss("sample_buffer_overflow", 2);
  on.session.device.on_loss("non_user_samples", 4);
  Value::Map header;
  header.emplace_back("host", Value{std::string("h")});
  header.emplace_back("sampling", Value{Value::Map{{"files", Value{Value::Map{}}}}});
  const CallTree tree = host::tree(on.session, 0, header);
  const Value::Map& object = tree.summary.sampling;
  CHECK_EQ(sampled::number(sampled::at(object, "period_cycles")), 16384);
  CHECK_EQ(sampled::number(sampled::at(object, "window_ns")), 30);
  CHECK_EQ(sampled::number(sampled::at(object, "every_ns")), 1000);
  CHECK_EQ(sampled::number(sampled::at(object, "dropped")), 3);
  CHECK_EQ(sampled::number(sampled::at(object, "overflows")), 2);
  CHECK_EQ(sampled::number(sampled::at(object, "non_user")), 4);
  CHECK(std::holds_alternative<Value::Map>(sampled::at(object, "files").data));
  CHECK_EQ(tree.summary.header.size(), 1u);
  Session plain(1, ContextKind::kShadow, DataKind::kTree);
  CHECK(host::tree(plain, 0, {}).summary.sampling.empty());
}

TEST(files_and_missing_code_of_samples_are_told) {
  Recording on;
  sampled::report(on.session, {{"k", 48, {1, 0, 0, 0, 0}},
                               {"k", 0, {1, 0, 0, 0, 0}, {}, sampled::kBare},
                               {"gone", 0, {1, 0, 0, 0, 0}, {}, 99}});
  CHECK(sampled_files(on.session, 0) == std::vector<std::string>({"user.py", "lib.py"}));
  const auto missing = missing_code(on.session, 0);
  CHECK_EQ(missing.size(), 1u);
  CHECK_EQ(missing[0].first, 99u);
  CHECK_EQ(missing[0].second, "gone");
  const CallTree tree = host::tree(on.session, 0, {});
  std::string words;
  for (const Value& each : sampled::list(sampled::at(tree.summary.sampling, "kernels"))) {
    words += sampled::text(sampled::at(sampled::map(each), "lines")) + ";";
  }
  CHECK_EQ(words, "found;no line table;no cubin;");
}
