#include "cubin/ptx_locations.h"

#include "check.h"
#include "cubin/reader.h"
#include "recorded.h"

using proton::cubin::is_same_ptx;
using proton::cubin::LocationId;
using proton::cubin::Names;
using proton::cubin::PtxLocations;
using proton::cubin::Stacks;

namespace {

/// What the locations of a text are, as `outer.py:1:2 > inner.py:3:4`.
class Ptx {
 public:
  explicit Ptx(std::string_view text) { locations_.parse(text); }

  std::string at(uint64_t line) const {
    std::string out;
    for (LocationId id = locations_.at(line); id != 0; id = stacks_[id].caller) {
      const Stacks::Node& node = stacks_[id];
      out = names_.text(node.file) + ":" + std::to_string(node.line) + ":" +
            std::to_string(node.column) + (out.empty() ? "" : " > ") + out;
    }
    return out;
  }

 private:
  Names names_{1 << 20};
  Stacks stacks_;
  PtxLocations locations_{names_, stacks_};
};

}  // namespace

TEST(a_loc_holds_until_the_next_and_to_the_end_of_its_function) {
  const Ptx ptx(
      ".visible .entry k(\n"
      "\t.loc\t1 5 2\n"
      "\tadd;\n"
      "\t.loc\t1 0 9 // k.py:0:9\n"
      "\tsub;\n"
      ".func helper(\n"
      "\tmul;\n"
      "\t.file\t1 \"/src/k.py\"\n");
  CHECK_EQ(ptx.at(1), "");
  CHECK_EQ(ptx.at(3), "/src/k.py:5:2");
  CHECK_EQ(ptx.at(5), "/src/k.py:5:2");  // line 0 changes nothing, as ptxas has it
  CHECK_EQ(ptx.at(7), "");
  CHECK_EQ(ptx.at(99), "");
}

TEST(callers_come_from_comments_where_there_is_nothing_else) {
  const Ptx ptx(
      "\t.loc\t2 7 3  // lib.py:7:3 @[ lib.py:9:1 @[ my kernel.py:17:30 ] ]\n"
      "\t.loc\t2 8 1  // lib.py:8:1 @[ my kernel.py:18 ]\n"
      "\t.loc\t2 8 1  // lib.py:8:1 @[ strange\n"
      "\t.file\t1 \"/src/my kernel.py\"\n"
      "\t.file\t2 \"/lib/lib.py\"\n");
  CHECK_EQ(ptx.at(1), "/src/my kernel.py:17:30 > /lib/lib.py:9:1 > /lib/lib.py:7:3");
  CHECK_EQ(ptx.at(2), "/src/my kernel.py:18:0 > /lib/lib.py:8:1");
  CHECK_EQ(ptx.at(3), "/lib/lib.py:8:1");
}

TEST(callers_come_from_attributes_where_they_are_given) {
  const Ptx ptx(
      "\t.loc\t1 17 24\n"
      "\t.loc\t2 9 1, function_name $L__info_string0, inlined_at 1 17 24 // lib.py:9:1\n"
      "\t.loc\t2 7 3, function_name $L__info_string0, inlined_at 2 9 1\n"
      "\t.loc\t2 7 4, function_name $L__info_string0, inlined_at 9 9 9\n"
      "\t.file\t1 \"/src/k.py\"\n"
      "\t.file\t2 \"/lib/lib.py\"\n");
  CHECK_EQ(ptx.at(3), "/src/k.py:17:24 > /lib/lib.py:9:1 > /lib/lib.py:7:3");
  CHECK_EQ(ptx.at(4), "/lib/lib.py:7:4");
}

TEST(files_of_one_name_are_told_apart_by_the_call_sites_of_debug_info) {
  const Ptx ptx(
      "\t.loc\t3 1 1  // lib.py:1:1 @[ util.py:300:5 ]\n"
      "\t.loc\t3 1 1  // lib.py:1:1 @[ util.py:20:6 ]\n"
      "\t.file\t1 \"/one/util.py\"\n"
      "\t.file\t2 \"/two/util.py\"\n"
      "\t.file\t3 \"/lib/lib.py\"\n"
      ".b8 2                                   // DW_AT_call_file\n"
      ".b8 44                                  // DW_AT_call_line\n"
      ".b8 1\n"
      ".b8 5                                   // DW_AT_call_column\n"
      ".b8 1                                   // DW_AT_call_file\n"
      ".b8 20                                  // DW_AT_call_line\n"
      ".b8 6                                   // DW_AT_call_column\n"
      ".b8 0                                   // End Of Children Mark\n");
  CHECK_EQ(ptx.at(1), "/two/util.py:300:5 > /lib/lib.py:1:1");
  CHECK_EQ(ptx.at(2), "/one/util.py:20:6 > /lib/lib.py:1:1");
}

TEST(escapes_become_bytes_wherever_they_stand) {
  using proton::cubin::unescaped;
  CHECK_EQ(unescaped("plain"), "plain");
  CHECK_EQ(unescaped("\\303\\251x\\\\y\\"), "\xc3\xa9x\\y\\");
  CHECK_EQ(unescaped("\\1018"), "A8");
}

TEST(file_names_are_unquoted) {
  const Ptx ptx("\t.loc\t1 1 1\n\t.file\t1 \"/caf\\303\\251/a\\\"b.py\"\n");
  CHECK_EQ(ptx.at(1), "/caf\xc3\xa9/a\"b.py:1:1");
}

TEST(a_text_is_known_by_its_lines_without_comments) {
  const auto stored = recorded::bytes(std::string_view("\0.entry k(\0add r1, r2;\0", 24));
  CHECK(is_same_ptx("// by a compiler\n.entry k( // the kernel\n\tadd r1, r2;\n", stored));
  CHECK(!is_same_ptx("// by a compiler\n.entry k(\n\tadd r1, r3;\n", stored));
  CHECK(!is_same_ptx(".entry k(\n\tadd r1, r2;\n", stored));
}
