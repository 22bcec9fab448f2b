#include "files/packet_sink.h"

#include "files/deflate.h"
#include "files/perfetto_fields.h"

namespace proton {

void PacketSink::add(std::string_view packet) {
  block_.bytes_field(perfetto::kTracePacket, packet);
  if (block_.size() >= kBlockBytes) flush();
}

void PacketSink::flush() {
  if (block_.size() == 0) return;
  if (deflate_bytes(block_.view(), deflated_)) {
    outer_.clear();
    outer_.bytes_field(perfetto::packet::kCompressedPackets, deflated_);
    block_.clear();
    block_.bytes_field(perfetto::kTracePacket, outer_.view());
  }
  out_.write(block_.view());
  block_.clear();
}

}  // namespace proton
