#include "bindings/rescue.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "base/byte_sink.h"
#include "base/clock.h"
#include "base/text.h"
#include "bindings/objects/values.h"
#include "files/writers.h"
#include "session/snapshot/phase_copy.h"
#include "session/snapshot/trace_builder.h"

namespace proton::bindings {
namespace {

// As in files/journal/format.py.
constexpr std::string_view kMagic = "proton journal 1\n";
constexpr std::string_view kFacts = "FACT";
constexpr std::string_view kData = "DATA";

struct Prepared {
  std::string path;
  std::string facts;
  Value::Map header;
  RescueParts parts;
};

std::map<const PySession*, Prepared>& prepared() {
  static auto& sessions = *new std::map<const PySession*, Prepared>;
  return sessions;
}

uint32_t checksum(std::string_view bytes, uint32_t before = 0) {
  static const auto table = [] {
    std::array<uint32_t, 256> rests{};
    for (uint32_t i = 0; i < rests.size(); ++i) {
      uint32_t rest = i;
      for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest % 2 == 1 ? 0xEDB88320U : 0);
      rests[i] = rest;
    }
    return rests;
  }();
  uint32_t rest = ~before;
  for (const char byte : bytes) {
    rest = table[(rest ^ static_cast<unsigned char>(byte)) & 0xFF] ^ (rest >> 8);
  }
  return ~rest;
}

void write_number(uint64_t number, int size, ByteSink& out) {
  for (int i = 0; i < size; ++i) {
    const char byte = static_cast<char>(number >> (8 * i));
    out.write({&byte, 1});
  }
}

void write_chunk(std::string_view kind, std::string_view content, ByteSink& out) {
  out.write(kind);
  write_number(checksum(content, checksum(kind)), 4, out);
  write_number(content.size(), 8, out);
  out.write(content);
}

void set(Value::Map& map, const char* key, Value value) {
  for (auto& [known, old] : map) {
    if (known != key) continue;
    old = std::move(value);
    return;
  }
  map.emplace_back(key, std::move(value));
}

/// Formats a phase into `out`; without a format as journals have it.
void write_phase(const Session& session, std::string_view format, int phase, Value::Map header,
                 ByteSink& out) {
  set(header, "phase", Value{int64_t{phase}});
  if (session.host.data() == DataKind::kTrace) {
    const TraceLog log = build_trace(session, phase, std::move(header));
    return format == "chrome_trace" ? write_chrome_trace(log, out) : write_perfetto(log, out);
  }
  PhaseCopy copy(session, phase);
  copy.copy_device_part();
  copy.copy_host_part(std::move(header));
  const CallTree tree = build_tree(std::move(copy));
  format == "hatchet" ? write_hatchet(tree, out) : write_hatchet_msgpack(tree, out);
}

/// Whether somebody else wrote the file while the session was open.
bool is_of_another(const std::string& path, const Session& session) {
  constexpr int64_t kSecond = 1'000'000'000;
  struct stat found;
  if (stat(path.c_str(), &found) != 0) return false;
  return found.st_mtim.tv_sec * kSecond + found.st_mtim.tv_nsec >= session.facts.base_unix_ns;
}

/// First: the journal may hold one of them, and is replaced.
void write_parts(const Session& session, const Prepared& prepared) {
  const RescueParts& parts = prepared.parts;
  for (int phase = 0; phase < session.host.phase(); ++phase) {
    if (!session.host.has_phase(phase) || std::ranges::count(parts.written, phase) > 0) continue;
    const auto path_of = [&](const std::string& stem) {
      return concat(stem, ".part_", phase, parts.suffix);
    };
    const std::string path = path_of(parts.stem);
    FileSink file(is_of_another(path, session) ? path_of(parts.spare_stem) : path);
    write_phase(session, parts.format, phase, prepared.header, file);
    file.commit();
  }
}

void write_journal(Session& session, Prepared& prepared, int signal) {
  const char* const name = signal == SIGHUP ? "SIGHUP" : "SIGTERM";  // no others are caught
  const int phase = session.host.phase();
  Value::Map& header = prepared.header;
  set(header, "end_time_ns", Value{unix_now_ns()});
  set(header, "ended_by", Value{std::string(name)});
  // The process itself may have said it, and lost the GIL then.
  session.losses.warn_once(concat("the program was ended by ", name,
                                  "; scopes that were open have their time until then"));
  write_parts(session, prepared);
  const bool is_tree = session.host.data() == DataKind::kTree;
  if (is_tree && session.host.is_active()) session.host.book_open_times();
  MemorySink content;
  write_phase(session, "", phase, std::move(header), content);
  FileSink file(prepared.path);
  file.write(kMagic);
  write_chunk(kFacts, concat(prepared.facts, ", \"phase\": ", phase, "}"), file);
  write_chunk(kData, content.take(), file);
  file.commit();
}

}  // namespace

void prepare_rescue(PySession& session, std::string path, std::string facts,
                    nanobind::object header, RescueParts parts) {
  opened(session);
  prepared()[&session] = {std::move(path), std::move(facts), to_map(header), std::move(parts)};
}

void forget_rescue(const PySession& session) { prepared().erase(&session); }

void write_rescue(int signal) {
  for (auto& [session, own] : prepared()) {
    // The child is a copy: what is changed here, the process does not see.
    write_journal(const_cast<PySession*>(session)->core, own, signal);
  }
}

}  // namespace proton::bindings
