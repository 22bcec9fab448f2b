#include "check.h"
#include "cubin/elf.h"
#include "recorded.h"

using proton::cubin::Bytes;
using proton::cubin::Cubin;
using proton::cubin::Elf;
using proton::cubin::Reader;

namespace {

std::string problem_of(const std::string& image) {
  return Cubin::parse(recorded::bytes(image)).problem;
}

std::string changed(std::string image, size_t offset, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) image[offset + i] = static_cast<char>(value >> 8 * i);
  return image;
}

std::string plain_cubin() { return recorded::text("triton36_vector_add_sm80.cubin"); }

}  // namespace

TEST(what_is_no_cubin_is_refused_with_a_reason) {
  const std::string good = plain_cubin();
  CHECK_EQ(problem_of(good), "");
  CHECK_HAS(problem_of(""), "does not begin as an ELF file does");
  CHECK_HAS(problem_of("#!/bin/sh"), "does not begin as an ELF file does");
  CHECK_HAS(problem_of(changed(good, 4, 1, 1)), "no 64-bit little-endian ELF file");
  CHECK_HAS(problem_of(changed(good, 18, 62, 2)), "machine 62, not CUDA");
  CHECK_HAS(problem_of(changed(good, 58, 40, 2)), "section headers have 40 bytes, not 64");
  CHECK_HAS(problem_of(changed(good, 40, ~0ull, 8)), "section headers are not in the file");
  CHECK_HAS(problem_of(changed(good, 60, 0xfffe, 2)), "65534 section headers are not in the file");
  CHECK_HAS(problem_of(good.substr(0, good.size() / 2)), "not in the file");
}

TEST(section_numbers_past_16_bits_are_read_from_section_0) {
  std::string image = plain_cubin();
  const std::vector<std::byte> before = recorded::bytes(image);
  Elf plain;
  CHECK_EQ(plain.parse(before), "");
  const uint64_t table = Reader(before, 40).u64();
  const uint16_t count = Reader(before, 60).u16(), names = Reader(before, 62).u16();
  image = changed(changed(image, 60, 0, 2), 62, 0xffff, 2);
  image = changed(changed(image, table + 32, count, 8), table + 40, names, 4);
  const std::vector<std::byte> after = recorded::bytes(image);
  Elf wide;
  CHECK_EQ(wide.parse(after), "");
  CHECK_EQ(wide.sections().size(), plain.sections().size());
  CHECK_EQ(wide.sections().back().name, plain.sections().back().name);
  // As many as fit into no file: nothing of that size is asked for.
  const std::string endless = changed(image, table + 32, 1ull << 60, 8);
  CHECK_HAS(problem_of(endless), "section headers are not in the file");
}

TEST(reading_past_the_end_gives_nothing_for_good) {
  const std::vector<std::byte> three = recorded::bytes(std::string_view("\x01\x02\x03", 3));
  Reader reader(three);
  CHECK_EQ(reader.u16(), 0x0201);
  CHECK(reader.ok());
  CHECK_EQ(reader.u16(), 0);
  CHECK(!reader.ok());
  CHECK_EQ(reader.u8(), 0);
  CHECK(!Reader(three, 4).ok());
  CHECK_EQ(Reader(three, 1).text(), "");
  CHECK(proton::cubin::part_of(three, 1, ~0ull).empty());
}

TEST(numbers_in_groups_of_seven_bits_are_read) {
  const std::vector<std::byte> some =
      recorded::bytes(recorded::Writer().bytes({0xe5, 0x8e, 0x26, 0x7f, 0x80, 0x7f}).str());
  Reader reader(some);
  CHECK_EQ(reader.uleb(), 624485);
  CHECK_EQ(reader.sleb(), -1);
  CHECK_EQ(reader.sleb(), -128);
  CHECK(reader.ok());
  const std::vector<std::byte> endless(1000, std::byte{0xff});
  Reader broken(endless);
  broken.uleb();
  CHECK(!broken.ok());
}
