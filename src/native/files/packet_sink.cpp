#include "files/packet_sink.h"

#include <dlfcn.h>

#include <system_error>

#include "files/perfetto_fields.h"

namespace proton {

namespace {

// As zlib.h declares them since version 1.2; zlib never changed them.
using CompressBound = unsigned long (*)(unsigned long);
using Compress = int (*)(unsigned char* to, unsigned long* to_size, const unsigned char* from,
                         unsigned long from_size, int level);

// Of traces, level 1 makes 15 % more than level 6, in a fifth of its time.
constexpr int kLevel = 1;

struct Zlib {
  CompressBound bound = nullptr;
  Compress compress = nullptr;

  Zlib() {
    // Never closed: Python's own zlib module has it open too.
    void* library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    bound = reinterpret_cast<CompressBound>(dlsym(library, "compressBound"));
    compress = reinterpret_cast<Compress>(dlsym(library, "compress2"));
  }
};

const Zlib& zlib() {
  static const Zlib opened;
  return opened;
}

/// Puts `bytes` as one zlib stream into `out`; false where there is no zlib, or it refused.
bool deflate_bytes(std::string_view bytes, std::string& out) {
  if (!can_deflate()) return false;
  unsigned long size = zlib().bound(bytes.size());
  out.resize(size);
  const int status =
      zlib().compress(reinterpret_cast<unsigned char*>(out.data()), &size,
                      reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), kLevel);
  out.resize(status == 0 ? size : 0);
  return status == 0;
}

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

bool can_deflate() { return zlib().bound != nullptr && zlib().compress != nullptr; }

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
