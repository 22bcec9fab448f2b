#include "session/booking/sample_table.h"

#include <map>

#include "check.h"

using namespace proton;

namespace {

const uint32_t kReasons[] = {0, 1, 2};

std::map<uint32_t, std::pair<uint64_t, uint64_t>> counts(const SampleTable& table, size_t row) {
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> found;
  table.rows().for_each_cell(table.rows().instructions[row], [&](const SampleCell& cell) {
    found[cell.reason] = {cell.samples, cell.latency};
  });
  return found;
}

}  // namespace

TEST(counts_of_an_instruction_add_up_by_reason) {
  SampleTable table;
  const uint32_t function = table.function_of({3, 0, 77});
  const uint32_t samples[] = {5, 0, 2};
  const uint32_t latency[] = {1, 0, 0};
  const uint32_t more[] = {0, 4, 3};
  table.add(function, 16, kReasons, samples, latency);
  table.add(function, 16, kReasons, more, {});
  CHECK_EQ(table.rows().instructions.size(), 1u);
  const auto found = counts(table, 0);
  CHECK_EQ(found.size(), 3u);
  CHECK(found.at(0) == std::pair(uint64_t{5}, uint64_t{1}));
  CHECK(found.at(1) == std::pair(uint64_t{4}, uint64_t{0}));
  CHECK(found.at(2) == std::pair(uint64_t{5}, uint64_t{0}));
  CHECK_EQ(table.total(), 14u);
}

TEST(functions_differ_by_symbol_device_and_module) {
  SampleTable table;
  const uint32_t first = table.function_of({3, 0, 77});
  CHECK_EQ(table.function_of({3, 0, 77}), first);
  CHECK(table.function_of({4, 0, 77}) != first);
  CHECK(table.function_of({3, 1, 77}) != first);
  CHECK(table.function_of({3, 0, 78}) != first);
  const uint32_t one[] = {1, 0, 0};
  table.add(first, 16, kReasons, one, {});
  table.add(first + 1, 16, kReasons, one, {});
  CHECK_EQ(table.rows().instructions.size(), 2u);
}

TEST(sums_do_not_stop_at_32_bits) {
  SampleTable table;
  const uint32_t function = table.function_of({0, 0, 0});
  const uint32_t much[] = {UINT32_MAX};
  for (int i = 0; i < 3; ++i) table.add(function, 0, kReasons, much, much);
  CHECK_EQ(counts(table, 0).at(0).first, 3ull * UINT32_MAX);
  CHECK_EQ(counts(table, 0).at(0).second, 3ull * UINT32_MAX);
}
