// Cubins with bytes changed, cut off and put elsewhere: whatever comes, nothing crashes, and what
// is said stays within the file. Runs under the sanitizers.
#include <cstdlib>
#include <random>

#include "check.h"
#include "recorded.h"

using proton::cubin::Cubin;
using proton::cubin::Function;

namespace {

int rounds(int usual) { return std::getenv("PROTON_LONG") == nullptr ? usual : 10 * usual; }

/// Asks for everything there is.
size_t use_all_of(const Cubin& cubin) {
  size_t frames = 0;
  for (const Function& function : cubin.functions()) {
    CHECK(cubin.code(function).size() == function.size);
    CHECK(cubin.find(function.name) != nullptr);
    for (uint64_t offset = 0; offset < function.size + 64; offset += 16) {
      cubin.routine(function, offset);
      for (const auto& frame : cubin.frames(cubin.locate(function, offset))) {
        frames += frame.file.size() < (1u << 20) && frame.line > 0;
      }
    }
    cubin.locate(function, ~uint64_t{0});
  }
  return frames;
}

/// A few bytes of `text` changed; half of them where numbers are most telling.
std::string mutated(std::string text, std::mt19937& random) {
  constexpr unsigned char kTelling[] = {0, 1, 0x7f, 0x80, 0x90, 0xff};
  for (uint32_t left = 1 + random() % 8; left > 0; --left) {
    size_t at = random() % text.size();
    if (random() % 4 == 0) at = random() % std::min<size_t>(64, text.size());
    text[at] = static_cast<char>(random() % 2 == 0 ? kTelling[random() % 6] : random());
  }
  if (random() % 16 == 0) text.resize(random() % text.size());
  return text;
}

}  // namespace

TEST(changed_cubins_never_crash) {
  std::mt19937 random(20261115);
  size_t accepted = 0, frames = 0;
  for (const std::string& name : recorded::names()) {
    const std::string image = recorded::text(name + ".cubin"), ptx = recorded::text(name + ".ptx");
    for (int i = 0; i < rounds(60); ++i) {
      const auto result = Cubin::parse(recorded::bytes(mutated(image, random)), ptx);
      CHECK((result.cubin == nullptr) != result.problem.empty());
      if (result.cubin == nullptr) continue;
      ++accepted;
      frames += use_all_of(*result.cubin);
    }
  }
  CHECK(accepted > 100);  // or nothing was tried
  CHECK(frames > 1000);
}

TEST(changed_line_tables_never_crash) {
  std::mt19937 random(4);
  for (const char* name : {"inlined_cuda", "triton39_softmax_sm90", "triton36_softmax_sm80"}) {
    const std::string image = recorded::text(std::string(name) + ".cubin");
    const std::vector<std::byte> bytes = recorded::bytes(image);
    proton::cubin::Elf elf;
    CHECK_EQ(elf.parse(bytes), "");
    for (const char* section : {".debug_line", ".nv_debug_line_sass", ".rela.debug_line",
                                ".rel.debug_line", ".debug_str", ".symtab"}) {
      const proton::cubin::Bytes part = elf.data(section);
      if (part.empty()) continue;
      const size_t start = static_cast<size_t>(part.data() - bytes.data());
      for (int i = 0; i < rounds(60); ++i) {
        std::string changed = image;
        changed.replace(start, part.size(), mutated(image.substr(start, part.size()), random));
        const auto result =
            Cubin::parse(recorded::bytes(changed), recorded::text(std::string(name) + ".ptx"));
        if (result.cubin != nullptr) use_all_of(*result.cubin);
      }
    }
  }
}

TEST(changed_ptx_never_crashes) {
  std::mt19937 random(5);
  for (const char* name : {"inlined_cuda", "triton39_softmax_sm90", "triton36_matmul_sm80"}) {
    const std::string ptx = recorded::text(std::string(name) + ".ptx");
    for (int i = 0; i < rounds(100); ++i) {
      proton::cubin::Names names(1 << 20);
      proton::cubin::Stacks stacks;
      proton::cubin::PtxLocations locations(names, stacks);
      locations.parse(mutated(ptx, random));
      CHECK(locations.at(random() % 600) < stacks.size());
    }
  }
}

TEST(inlining_without_end_keeps_a_bounded_depth) {
  proton::cubin::Stacks stacks;
  proton::cubin::LocationId id = proton::cubin::kNowhere;
  for (uint32_t line = 1; line < 10'000; ++line) id = stacks.add(id, 0, line, 0, 0);
  CHECK(stacks[id].depth <= proton::cubin::Stacks::kDeepest);
}
