/// Packets of a Perfetto trace on their way to a file: grouped, and compressed where zlib is.
#pragma once

#include <string>
#include <string_view>

#include "base/byte_sink.h"
#include "files/proto_encoder.h"

namespace proton {

class PacketSink {
 public:
  explicit PacketSink(ByteSink& out) : out_(out) {}

  /// Takes one encoded TracePacket.
  void add(std::string_view packet);
  /// Writes what is still here.
  void flush();

 private:
  static constexpr size_t kBlockBytes = 512 * 1024;

  ByteSink& out_;
  ProtoEncoder block_;  // a TracePackets message
  ProtoEncoder outer_;
  std::string deflated_;
};

}  // namespace proton
