#include "cubin/line_header.h"

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

}  // namespace proton::cubin
