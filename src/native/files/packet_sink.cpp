#include "files/packet_sink.h"

#include <system_error>

#include "files/deflate.h"
#include "files/perfetto_fields.h"

namespace proton {

namespace {

/// The packets of a block as they stand in the file: as one compressed packet, or as they are.
std::string pack(std::string block) {
  std::string deflated;
  if (!deflate_bytes(block, deflated)) return block;
  ProtoEncoder packet;
  packet.bytes_field(perfetto::packet::kCompressedPackets, deflated);
  ProtoEncoder packed;
  packed.bytes_field(perfetto::kTracePacket, packet.view());
  return std::string(packed.view());
}

}  // namespace

void PacketSink::add(std::string_view packet) {
  block_.bytes_field(perfetto::kTracePacket, packet);
  if (block_.size() >= kBlockBytes) end_block();
}

void PacketSink::flush() {
  if (block_.size() > 0) end_block();
  while (!blocks_.empty()) write_oldest();
}

void PacketSink::end_block() {
  std::string block(block_.view());
  block_.clear();
  if (blocks_.size() >= kMaxInFlight) write_oldest();
  try {
    blocks_.push_back(std::async(std::launch::async, pack, block));
  } catch (const std::system_error&) {  // no more threads for this process: do it here
    blocks_.push_back(std::async(std::launch::deferred, pack, std::move(block)));
  }
}

void PacketSink::write_oldest() {
  out_.write(blocks_.front().get());
  blocks_.pop_front();
}

}  // namespace proton
