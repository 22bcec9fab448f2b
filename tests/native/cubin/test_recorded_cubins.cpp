#include <charconv>
#include <sstream>

#include "check.h"
#include "recorded.h"

using proton::cubin::Cubin;
using proton::cubin::Frame;
using proton::cubin::Function;

namespace {

/// `user.py:17 > standard.py:191`, as the recorded tables have it; `-` without frames.
std::string shown(const std::vector<Frame>& frames) {
  std::string out;
  for (const Frame& frame : frames) {
    if (!out.empty()) out += " > ";
    out += std::string(frame.file) + ":" + std::to_string(frame.line);
  }
  return out.empty() ? "-" : out;
}

std::string shown_at(const Cubin& cubin, std::string_view function, uint64_t offset) {
  return shown(cubin.frames(cubin.locate(*cubin.find(function), offset)));
}

/// Compares every instruction with the recorded table; returns how many there were.
size_t check_table(const Cubin& cubin, const std::string& name) {
  std::istringstream table(recorded::text(name + ".lines"));
  std::string line, kernel, wanted;
  uint64_t offset = 0;
  size_t count = 0;
  const auto check_until = [&](uint64_t end) {
    for (; offset < end; offset += 16, ++count) {
      CHECK_EQ(name + " " + std::to_string(offset) + " " + shown_at(cubin, kernel, offset),
               name + " " + std::to_string(offset) + " " + wanted);
    }
  };
  const auto code_size = [&] {
    return kernel.empty() ? 0 : cubin.code(*cubin.find(kernel)).size();
  };
  while (std::getline(table, line)) {
    if (line.starts_with("= ")) {
      check_until(code_size());
      kernel = line.substr(2);
      offset = 0;
      CHECK(cubin.find(kernel) != nullptr);
      continue;
    }
    uint64_t next = 0;
    std::from_chars(line.data(), line.data() + line.find(' '), next, 16);
    check_until(next);
    wanted = line.substr(line.find(' ') + 1);
  }
  check_until(code_size());
  return count;
}

/// The line of kernels.py that has `text` in it.
uint32_t line_with(const std::string& text) {
  const std::string source = recorded::text("kernels.py");
  const size_t at = source.find(text);
  CHECK(at != std::string::npos);
  return 1 + static_cast<uint32_t>(std::count(source.begin(), source.begin() + at, '\n'));
}

}  // namespace

TEST(every_instruction_has_the_line_that_nvidias_disassembler_gives_it) {
  size_t cubins = 0, instructions = 0;
  for (const std::string& name : recorded::names()) {
    const auto [cubin, problem] = recorded::parse(name, false);
    CHECK_EQ(problem, "");
    instructions += check_table(*cubin, name);
    ++cubins;
  }
  CHECK(cubins >= 15);
  CHECK(instructions > 1500);
}

TEST(the_architecture_is_told_in_both_layouts_of_the_flags) {
  for (const std::string triton : {"triton36", "triton39"}) {
    for (const uint32_t number : {80u, 90u, 100u}) {
      const auto result = recorded::parse(triton + "_softmax_sm" + std::to_string(number), false);
      CHECK_EQ(result.cubin->architecture(), number);
    }
  }
}

TEST(with_its_ptx_a_library_frame_stands_below_the_users_line) {
  const uint32_t line_of_max = line_with("tl.max(");
  for (const std::string& name : recorded::names()) {
    if (name.find("softmax") == std::string::npos) continue;
    const auto cubin = recorded::parse(name, true).cubin;
    CHECK(cubin->ptx() == proton::cubin::Ptx::kUsed);
    const Function& kernel = *cubin->find("softmax");
    size_t of_max = 0;
    for (uint64_t offset = 0; offset < kernel.size; offset += 16) {
      const std::vector<Frame> frames = cubin->frames(cubin->locate(kernel, offset));
      CHECK(!frames.empty());
      CHECK_EQ(frames.front().file, "/src/kernels.py");
      CHECK_EQ(frames.front().function, "softmax");
      if (frames.size() == 1 || frames.front().line != line_of_max) continue;
      ++of_max;
      CHECK(frames.front().column > 0);
      CHECK(frames.back().file.ends_with("/triton/language/standard.py"));
      CHECK_EQ(frames.back().function, "");
    }
    CHECK(of_max > 5);
  }
}

TEST(two_levels_of_helpers_are_told_apart_by_their_callers) {
  const uint32_t left = line_with("left = load_tile("), right = line_with("right = load_tile(");
  const uint32_t middle = line_with("return tl.load(tile("), inner = line_with("return start +");
  for (const char* number : {"80", "90", "100"}) {
    const auto cubin = recorded::parse(std::string("triton36_matmul_sm") + number, true).cubin;
    const Function& kernel = *cubin->find("matmul");
    size_t of_left = 0, of_right = 0;
    for (uint64_t offset = 0; offset < kernel.size; offset += 16) {
      const std::vector<Frame> frames = cubin->frames(cubin->locate(kernel, offset));
      if (frames.size() != 3 || frames[1].line != middle || frames[2].line != inner) continue;
      of_left += frames[0].line == left;
      of_right += frames[0].line == right;
    }
    CHECK(of_left > 0);
    CHECK(of_right > 0);
  }
}

TEST(ptx_never_changes_the_innermost_line) {
  for (const std::string& name : recorded::names()) {
    const auto plain = recorded::parse(name, false).cubin, full = recorded::parse(name, true).cubin;
    for (const Function& kernel : plain->functions()) {
      for (uint64_t offset = 0; offset < kernel.size; offset += 16) {
        const auto one = plain->frames(plain->locate(kernel, offset));
        const auto other = full->frames(full->locate(*full->find(kernel.name), offset));
        CHECK_EQ(one.empty(), other.empty());
        if (one.empty()) continue;
        CHECK(one.size() <= other.size());
        CHECK_EQ(one.back().file, other.back().file);
        CHECK_EQ(one.back().line, other.back().line);
      }
    }
  }
}

TEST(cuda_code_has_the_names_of_what_was_inlined) {
  const auto cubin = recorded::parse("inlined_cuda", true).cubin;
  const auto frames = cubin->frames(cubin->locate(*cubin->find("_Z6kernelPf"), 0x80));
  CHECK_EQ(frames.size(), 3);
  CHECK_EQ(frames[0].function, "_Z6kernelPf");
  CHECK_EQ(frames[1].function, "_Z6squaref");
  CHECK_EQ(frames[2].function, "_Z4rootf");
  CHECK_EQ(frames[2].column, 11);
}

TEST(a_routine_behind_a_kernel_is_found_and_keeps_its_own_lines) {
  const auto cubin = recorded::parse("inlined_cuda", false).cubin;
  const Function &other = *cubin->find("_Z5otherPf"), &kernel = *cubin->find("_Z6kernelPf");
  CHECK_EQ(cubin->routine(other, 0xa0).name, "_Z5otherPf");
  CHECK_EQ(cubin->routine(other, 0xb0).name, "$_Z5otherPf$helper");
  const auto helper = cubin->frames(cubin->locate(other, 0xb0));
  CHECK_EQ(helper.front().function, "helper");
  CHECK_HAS(std::string(cubin->routine(kernel, 0x200).name), "sqrt_rn_f32_slowpath");
  CHECK(cubin->frames(cubin->locate(kernel, 0x200)).empty());
}

TEST(a_cubin_without_line_tables_says_so) {
  const auto cubin = recorded::parse("without_lines", false).cubin;
  CHECK(cubin->lines() == proton::cubin::Lines::kAbsent);
  CHECK(!cubin->has_lines());
  CHECK_EQ(cubin->functions().size(), 1);
  CHECK(cubin->code(cubin->functions()[0]).size() % 16 == 0);
  CHECK(cubin->frames(cubin->locate(cubin->functions()[0], 0)).empty());
}

TEST(ptx_of_another_cubin_is_left_aside) {
  const auto foreign = Cubin::parse(recorded::bytes(recorded::text("triton36_softmax_sm90.cubin")),
                                    recorded::text("triton36_matmul_sm90.ptx"));
  CHECK(foreign.cubin->ptx() == proton::cubin::Ptx::kForeign);
  check_table(*foreign.cubin, "triton36_softmax_sm90");
}
