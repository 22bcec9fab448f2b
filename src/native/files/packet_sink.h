/// Packets of a Perfetto trace on their way to a file: grouped, and compressed where zlib is.
/// Blocks are compressed on threads of their own while the caller goes on; the file has them in
/// order.
#pragma once

#include <deque>
#include <future>
#include <string>
#include <string_view>

#include "base/byte_sink.h"
#include "files/proto_encoder.h"

namespace proton {

/// False where this process finds no zlib, which is opened when first needed and never linked:
/// without it files are larger, not missing.
bool can_deflate();

class PacketSink {
 public:
  explicit PacketSink(ByteSink& out) : out_(out) {}

  /// Takes one encoded TracePacket.
  void add(std::string_view packet);
  /// Writes what is still here.
  void flush();

 private:
  static constexpr size_t kBlockBytes = 512 * 1024;
  static constexpr size_t kMaxInFlight = 4;

  void end_block();
  void write_oldest();

  ByteSink& out_;
  ProtoEncoder block_;                           // a TracePackets message
  std::deque<std::future<std::string>> blocks_;  // on their way, the oldest first
};

}  // namespace proton
