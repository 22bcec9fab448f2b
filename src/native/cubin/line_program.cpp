#include "cubin/line_program.h"

#include <algorithm>

namespace proton::cubin {

namespace {

/// The tables of versions 2 to 4: texts up to an empty one, folder 0 and file 0 left out.
void read_short_tables(Reader& reader, std::vector<FileName>& files) {
  std::vector<std::string_view> folders{""};
  while (reader.ok()) {
    const std::string_view folder = reader.text();
    if (folder.empty()) break;
    folders.push_back(folder);
  }
  files.emplace_back();
  while (reader.ok()) {
    const std::string_view name = reader.text();
    if (name.empty()) break;
    const uint64_t folder = reader.uleb();
    reader.uleb();  // when it was changed
    reader.uleb();  // how long it is
    files.push_back({folder < folders.size() ? folders[folder] : "", name});
  }
}

struct Field {
  uint64_t content;
  uint64_t form;
};
constexpr uint64_t kContentPath = 1;
constexpr uint64_t kContentFolder = 2;

/// One value of a table of version 5, as text or as number.
struct Value {
  std::string_view text;
  uint64_t number = 0;
};

Value read_value(Reader& reader, uint64_t form, uint64_t offset_size, const TextSections& texts) {
  switch (form) {
    case 0x08:  // string
      return {reader.text(), 0};
    case 0x0e:  // strp
      return {text_at(texts.texts, reader.unsigned_of(offset_size)), 0};
    case 0x1f:  // line_strp
      return {text_at(texts.line_texts, reader.unsigned_of(offset_size)), 0};
    case 0x0b:  // data1
      return {{}, reader.u8()};
    case 0x05:  // data2
      return {{}, reader.u16()};
    case 0x06:  // data4
      return {{}, reader.u32()};
    case 0x07:  // data8
      return {{}, reader.u64()};
    case 0x0f:  // udata
      return {{}, reader.uleb()};
    case 0x1e:  // data16: a checksum
      reader.skip(16);
      return {};
    case 0x09:  // block
      reader.skip(reader.uleb());
      return {};
    default:  // of unknown length: nothing after it can be read
      reader.skip(~uint64_t{0});
      return {};
  }
}

/// A table of version 5, which says itself what it has of each entry.
std::vector<std::pair<std::string_view, uint64_t>> read_table(Reader& reader, uint64_t offset_size,
                                                              const TextSections& texts) {
  std::vector<Field> fields(reader.u8());
  for (Field& field : fields) {
    field.content = reader.uleb();
    field.form = reader.uleb();
  }
  std::vector<std::pair<std::string_view, uint64_t>> entries;
  // An entry without fields takes no room: no file has a reason to have many of them.
  for (uint64_t left = fields.empty() ? 0 : reader.uleb(); left > 0 && !reader.at_end(); --left) {
    auto& [name, folder] = entries.emplace_back();
    for (const Field& field : fields) {
      const Value value = read_value(reader, field.form, offset_size, texts);
      if (field.content == kContentPath) name = value.text;
      if (field.content == kContentFolder) folder = value.number;
    }
  }
  if (fields.empty()) reader.uleb();
  return entries;
}

void read_long_tables(Reader& reader, uint64_t offset_size, const TextSections& texts,
                      std::vector<FileName>& files) {
  const auto folders = read_table(reader, offset_size, texts);
  for (const auto& [name, folder] : read_table(reader, offset_size, texts)) {
    files.push_back({folder < folders.size() ? folders[folder].first : "", name});
  }
}

}  // namespace

LineHeader read_line_header(Bytes section, uint64_t start, const TextSections& texts) {
  LineHeader header;
  Reader reader(section, start);
  uint64_t length = reader.u32(), offset_size = 4;
  if (length == 0xffffffff) {
    length = reader.u64();
    offset_size = 8;
  }
  const bool is_whole = reader.ok() && length <= section.size() - reader.position();
  header.end = is_whole ? reader.position() + length : section.size();
  const uint16_t version = reader.u16();
  if (!is_whole || version < 2 || version > 5) return header;
  if (version == 5) {
    header.address_size = reader.u8();
    reader.skip(1);  // the size of segment selectors
  }
  const uint64_t rest = reader.unsigned_of(offset_size);
  header.program = reader.position() + std::min(rest, section.size() - reader.position());
  header.shortest_instruction = reader.u8();
  if (version >= 4) reader.skip(1);  // operations an instruction
  reader.skip(1);                    // whether rows are statements
  header.line_base = static_cast<int8_t>(reader.u8());
  header.line_range = reader.u8();
  header.opcode_base = reader.u8();
  for (unsigned opcode = 1; opcode < header.opcode_base; ++opcode) {
    header.operand_counts[opcode] = reader.u8();
  }
  if (version == 5) {
    read_long_tables(reader, offset_size, texts, header.files);
  } else {
    read_short_tables(reader, header.files);
  }
  header.is_readable = reader.ok() && header.line_range != 0 && header.opcode_base != 0 &&
                       header.address_size <= 8 && header.program <= header.end;
  return header;
}

namespace {

constexpr uint64_t kEmptyUnit = 4;  // a length of 0: filling between units

enum Opcode : uint8_t {
  kExtended = 0,
  kCopy = 1,
  kAdvancePc = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kSetColumn = 5,
  kConstAddPc = 8,
  kFixedAdvancePc = 9,
};
enum ExtendedOpcode : uint8_t {
  kEndSequence = 1,
  kSetAddress = 2,
  kInlinedCall =
      0x90,  // NVIDIA's: row of the caller, name of the callee; both 0 after inlined code
};

class Machine {
 public:
  Machine(Bytes section, const LineHeader& header,
          const std::unordered_map<uint64_t, Place>& places)
      : header_(header), places_(places), reader_(section.first(header.end), header.program) {}

  /// Runs to the end of a sequence. False when the program is over or cannot be read.
  bool next() {
    sequence_.rows.clear();
    sequence_.section.reset();
    row_ = LineRow();
    while (!reader_.at_end()) {
      if (step()) return reader_.ok();
    }
    is_cut_off_ = !sequence_.rows.empty();
    return false;
  }

  const LineSequence& sequence() const { return sequence_; }
  bool ok() const { return reader_.ok() && !is_cut_off_; }

 private:
  /// One opcode; whether it ended the sequence.
  bool step() {
    const uint8_t opcode = reader_.u8();
    if (opcode >= header_.opcode_base) {
      const unsigned both = opcode - header_.opcode_base;
      advance(both / header_.line_range);
      row_.line += static_cast<uint32_t>(header_.line_base + int(both % header_.line_range));
      add_row();
      return false;
    }
    switch (opcode) {
      case kExtended:
        return extended_step();
      case kCopy:
        add_row();
        break;
      case kAdvancePc:
        advance(reader_.uleb());
        break;
      case kAdvanceLine:
        row_.line += static_cast<uint32_t>(reader_.sleb());
        break;
      case kSetFile:
        row_.file = static_cast<uint32_t>(reader_.uleb());
        break;
      case kSetColumn:
        row_.column = static_cast<uint32_t>(reader_.uleb());
        break;
      case kConstAddPc:
        advance((255u - header_.opcode_base) / header_.line_range);
        break;
      case kFixedAdvancePc:
        row_.offset += reader_.u16();
        break;
      default:
        for (uint8_t left = header_.operand_counts[opcode]; left > 0; --left) reader_.uleb();
    }
    return false;
  }

  bool extended_step() {
    const uint64_t size = reader_.uleb();
    const uint64_t start = reader_.position();
    Reader operands(reader_.bytes(size));
    switch (operands.u8()) {
      case kEndSequence:
        sequence_.end = row_.offset;
        return size > 0;
      case kSetAddress: {
        row_.offset = operands.unsigned_of(header_.address_size);
        if (const auto place = places_.find(start + 1); place != places_.end()) {
          sequence_.section = place->second.section;
          row_.offset = place->second.offset;
        }
        return false;
      }
      case kInlinedCall:
        row_.caller = static_cast<uint32_t>(operands.uleb());
        row_.callee = operands.uleb();
        return false;
      default:
        return false;
    }
  }

  void advance(uint64_t steps) { row_.offset += steps * header_.shortest_instruction; }
  void add_row() { sequence_.rows.push_back(row_); }

  const LineHeader& header_;
  const std::unordered_map<uint64_t, Place>& places_;
  Reader reader_;
  LineRow row_;
  LineSequence sequence_;
  bool is_cut_off_ = false;  // rows whose end is missing
};

}  // namespace

bool run_line_programs(Bytes section, const std::unordered_map<uint64_t, Place>& places,
                       const TextSections& texts,
                       const std::function<void(const LineSequence&, const LineHeader&)>& take) {
  bool is_whole = true;
  for (uint64_t start = 0; start < section.size();) {
    const LineHeader header = read_line_header(section, start, texts);
    if (header.is_readable) {
      Machine machine(section, header, places);
      while (machine.next()) take(machine.sequence(), header);
      is_whole = is_whole && machine.ok();
    } else if (header.end > start + kEmptyUnit) {
      is_whole = false;
    }
    start = header.end;
  }
  return is_whole;
}

}  // namespace proton::cubin
