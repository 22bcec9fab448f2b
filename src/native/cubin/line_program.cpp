#include "cubin/line_program.h"

namespace proton::cubin {
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
