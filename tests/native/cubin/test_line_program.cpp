#include "cubin/line_program.h"

#include "check.h"
#include "recorded.h"

using proton::cubin::LineHeader;
using proton::cubin::LineRow;
using proton::cubin::LineSequence;
using proton::cubin::Place;
using proton::cubin::run_line_programs;
using proton::cubin::TextSections;
using recorded::Writer;

namespace {

/// A unit around the end of a header and a program.
std::string unit(int version, const std::string& tables, const std::string& program) {
  Writer head;
  head.number(1, 1);
  if (version >= 4) head.number(1, 1);
  // Statements, line base -5, line range 14, opcode base 10 and the operands of nine opcodes.
  head.bytes({1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1}).raw(tables);
  Writer rest;
  rest.number(version, 2);
  if (version == 5) rest.bytes({8, 0});
  rest.number(head.str().size(), 4).raw(head.str()).raw(program);
  return Writer().number(rest.str().size(), 4).raw(rest.str()).str();
}

const std::string kOldTables =
    Writer().text("/src").text("").text("a.cu").bytes({1, 0, 0}).text("").str();
const std::string kProgram =
    Writer().bytes({0, 9, 2}).number(0x40, 8).bytes({5, 7, 3, 9, 1, 0xf0, 2, 32, 0, 1, 1}).str();

struct Outcome {
  std::vector<LineSequence> sequences;
  std::vector<std::string> files;  // file 1 of each sequence's header
  bool is_whole = false;
};

Outcome run(const std::string& section, const TextSections& texts = {},
            const std::unordered_map<uint64_t, Place>& places = {}) {
  Outcome outcome;
  const std::vector<std::byte> bytes = recorded::bytes(section);
  outcome.is_whole = run_line_programs(
      bytes, places, texts, [&](const LineSequence& sequence, const LineHeader& header) {
        outcome.sequences.push_back(sequence);
        const auto file = header.file(1);
        outcome.files.push_back(std::string(file.folder) + "/" + std::string(file.name));
      });
  return outcome;
}

}  // namespace

TEST(rows_come_of_opcodes_in_every_version) {
  for (const int version : {2, 3, 4}) {
    const Outcome outcome = run(unit(version, kOldTables, kProgram));
    CHECK(outcome.is_whole);
    CHECK_EQ(outcome.sequences.size(), 1);
    CHECK_EQ(outcome.files[0], "/src/a.cu");
    const LineSequence& sequence = outcome.sequences[0];
    CHECK(!sequence.section.has_value());
    CHECK_EQ(sequence.rows.size(), 2);
    CHECK_EQ(sequence.rows[0].offset, 0x40);
    CHECK_EQ(sequence.rows[0].line, 10);
    CHECK_EQ(sequence.rows[0].column, 7);
    CHECK_EQ(sequence.rows[1].offset, 0x50);
    CHECK_EQ(sequence.rows[1].line, 11);
    CHECK_EQ(sequence.end, 0x70);
  }
}

TEST(version_5_has_its_files_in_tables_that_describe_themselves) {
  const std::vector<std::byte> line_texts = recorded::bytes(Writer().text("/new").str());
  const std::vector<std::byte> texts = recorded::bytes(Writer().text("x").text("b.cu").str());
  const std::string tables = Writer()
                                 .bytes({1, 1, 0x1f, 1})  // folders: a path in .debug_line_str
                                 .number(0, 4)
                                 .bytes({3, 1, 0x0e, 2, 0x0b, 5, 0x1e, 2})  // path, folder, MD5
                                 .number(0, 4)
                                 .bytes({0})
                                 .number(0, 8)
                                 .number(0, 8)
                                 .number(2, 4)
                                 .bytes({0})
                                 .number(0, 8)
                                 .number(0, 8)
                                 .str();
  const Outcome outcome = run(unit(5, tables, kProgram), {texts, line_texts});
  CHECK(outcome.is_whole);
  CHECK_EQ(outcome.files.at(0), "/new/b.cu");
  CHECK_EQ(outcome.sequences.at(0).rows.size(), 2);
}

TEST(relocations_say_which_section_a_sequence_is_of) {
  const std::string section = unit(2, kOldTables, kProgram);
  const uint64_t address = section.size() - kProgram.size() + 3;
  const Outcome outcome = run(section, {}, {{address, Place{7, 0x100}}});
  CHECK_EQ(outcome.sequences.at(0).section.value_or(0), 7);
  CHECK_EQ(outcome.sequences.at(0).rows.at(1).offset, 0x110);
}

TEST(nvidias_opcode_names_the_row_of_the_caller_and_the_callee) {
  const std::string program =
      Writer().bytes({1, 0, 3, 0x90, 1, 5, 1, 0, 3, 0x90, 0, 0, 1}).bytes({0, 1, 1}).str();
  const Outcome outcome = run(unit(2, kOldTables, program));
  const std::vector<LineRow>& rows = outcome.sequences.at(0).rows;
  CHECK_EQ(rows.at(0).caller, 0);
  CHECK_EQ(rows.at(1).caller, 1);
  CHECK_EQ(rows.at(1).callee, 5);
  CHECK_EQ(rows.at(2).caller, 0);
}

TEST(what_cannot_be_read_is_told_and_the_rest_is_taken) {
  const std::string good = unit(2, kOldTables, kProgram);
  CHECK(run("").is_whole);
  CHECK(run(good + std::string(4, '\0') + good).is_whole);  // filled up between units
  const Outcome unknown = run(unit(9, kOldTables, kProgram) + good);
  CHECK(!unknown.is_whole);
  CHECK_EQ(unknown.sequences.size(), 1);
  const Outcome cut = run(good + good.substr(0, good.size() - 3));
  CHECK(!cut.is_whole);
  CHECK_EQ(cut.sequences.size(), 1);
  CHECK(!run(unit(2, kOldTables, kProgram.substr(0, kProgram.size() - 3))).is_whole);
}
