/// What the injected library tells the extension module, across the border between two shared
/// objects: plain structures and functions. All of them may be called on any thread, with or
/// without the GIL.
#pragma once

#include <cstdint>

namespace proton::nvtx {

/// Grows when anything below changes: both sides must be of one build.
inline constexpr uint32_t kHandlerVersion = 1;

/// A text under a number; made once and never freed.
struct Named {
  uint32_t number;  // from 1
  uint32_t size;
  const char* text;  // UTF-8
};

struct Domain : Named {};  // the default domain, number 0, has none
struct Registered : Named {};

enum class PayloadKind : uint8_t { kNone, kInteger, kReal };

/// A range that begins, or a mark.
struct Event {
  const Domain* domain = nullptr;  // null: the default one
  const Registered* registered = nullptr;
  const char* text = nullptr;  // UTF-8, if not registered; good during the call only
  uint32_t size = 0;
  uint32_t category = 0;
  PayloadKind payload_kind = PayloadKind::kNone;
  union {
    int64_t integer;
    double real;
  } payload = {};
};

/// Ranges nest by thread and domain; a started one is known by the number that `start` returned
/// (never 0). `push` and `pop` return the level of the range, from 0, or a negative number.
struct Handler {
  int (*push)(const Event& event) noexcept;
  int (*pop)(const Domain* domain) noexcept;
  uint64_t (*start)(const Event& event) noexcept;
  void (*end)(uint64_t range) noexcept;
  void (*mark)(const Event& event) noexcept;
};

/// Exported by the injected library.
using SetHandler = bool (*)(uint32_t version, const Handler* handler);  // null: nobody listens
using FindCategory = const char* (*)(const Domain* domain, uint32_t category);  // null: no name
using CountModules = uint32_t (*)();  // how many have handed over their slots

inline constexpr const char* kSetHandler = "proton_nvtx_set_handler";
inline constexpr const char* kFindCategory = "proton_nvtx_find_category";
inline constexpr const char* kCountModules = "proton_nvtx_count_modules";

}  // namespace proton::nvtx
