#include "bindings/nvtx_handler.h"

#include <dlfcn.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "session/scopes/process.h"

namespace proton::bindings {
namespace {

constexpr std::string_view kDigits = "0123456789-";

/// The end of the part that begins at `at` (", seq = 12"), if it is one to leave out; else `at`.
size_t skip_part(std::string_view name, size_t at) {
  const std::string_view rest = name.substr(at);
  for (const std::string_view key : {", seq = ", ", op_id = "}) {
    if (!rest.starts_with(key)) continue;
    const size_t end = rest.find_first_not_of(kDigits, key.size());
    if (end == key.size()) return at;  // no number
    return end == std::string_view::npos ? name.size() : at + end;
  }
  constexpr std::string_view kInputs = ", input_op_ids = [";
  if (!rest.starts_with(kInputs)) return at;
  size_t depth = 1;
  size_t end = kInputs.size();
  for (; end < rest.size() && depth > 0; ++end) {
    if (rest[end] == '[') ++depth;
    if (rest[end] == ']') --depth;
  }
  return at + end;
}

struct Library {
  nvtx::SetHandler set_handler = nullptr;
  nvtx::FindCategory find_category = nullptr;
  nvtx::CountModules count_modules = nullptr;
};
Library library;  // filled once, under the GIL, before anything is called

/// The name of a category, or its number; never freed. Null: it has none.
const char* category_of(const nvtx::Event& event) {
  if (event.category == 0 || !process.ranges.keeps_spans()) return nullptr;
  const char* name = library.find_category == nullptr
                         ? nullptr
                         : library.find_category(event.domain, event.category);
  if (name != nullptr) return name;
  static std::mutex mutex;
  static auto& numbers = *new std::map<uint32_t, std::string>;
  std::lock_guard lock(mutex);
  return numbers.try_emplace(event.category, std::to_string(event.category)).first->second.c_str();
}

/// What `event` says; a name that is made up here stands in `buffer`.
RangeStart start_of(const nvtx::Event& event, std::string& buffer) {
  RangeStart start;
  if (event.domain != nullptr) {
    start.domain = event.domain->number;
    start.domain_name = {event.domain->text, event.domain->size};
  }
  if (event.registered != nullptr) {
    start.registered = event.registered->number;
    start.text = {event.registered->text, event.registered->size};
  } else if (event.text != nullptr && event.size != 0) {
    start.text = plain_name({event.text, event.size}, buffer);
  } else {
    start.text = kNoName;
  }
  start.category = category_of(event);
  switch (event.payload_kind) {
    case nvtx::PayloadKind::kInteger:
      start.payload.kind = RangePayload::Kind::kInteger;
      start.payload.integer = event.payload.integer;
      break;
    case nvtx::PayloadKind::kReal:
      start.payload.kind = RangePayload::Kind::kReal;
      start.payload.real = event.payload.real;
      break;
    default:
      break;
  }
  return start;
}

int push(const nvtx::Event& event) noexcept {
  std::string buffer;
  return process.ranges.push(start_of(event, buffer));
}

int pop(const nvtx::Domain* domain) noexcept {
  return process.ranges.pop(domain == nullptr ? 0 : domain->number);
}

uint64_t start(const nvtx::Event& event) noexcept {
  std::string buffer;
  return process.ranges.start(start_of(event, buffer));
}

void end(uint64_t range) noexcept { process.ranges.end(range); }

void mark(const nvtx::Event& event) noexcept {
  std::string buffer;
  process.ranges.mark(start_of(event, buffer));
}

constexpr nvtx::Handler handler = {push, pop, start, end, mark};

template <typename Call>
Call find(void* opened, const char* name, const std::string& path) {
  void* symbol = dlsym(opened, name);
  if (symbol == nullptr) {
    throw Error(ErrorKind::kUsage, concat(path, ": has no function ", name,
                                          "; reinstall proton, its files are not of one build"));
  }
  Call call;
  std::memcpy(&call, &symbol, sizeof(call));
  return call;
}

}  // namespace

std::string_view plain_name(std::string_view name, std::string& buffer) {
  size_t comma = name.find(", ");
  if (comma == std::string_view::npos) return name;
  size_t kept = 0;
  for (; comma != std::string_view::npos; comma = name.find(", ", comma)) {
    const size_t end = skip_part(name, comma);
    if (end == comma) {
      ++comma;
      continue;
    }
    buffer.append(name.substr(kept, comma - kept));
    kept = comma = end;
  }
  if (kept == 0) return name;
  buffer.append(name.substr(kept));
  return buffer;
}

const nvtx::Handler& nvtx_handler() { return handler; }

void load_nvtx(const std::string& path) {
  if (library.set_handler != nullptr) return;
  void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    throw Error(ErrorKind::kUsage, concat("NVTX ranges cannot be followed: ", dlerror(),
                                          "; reinstall proton or set TRITON_ENABLE_NVTX=0"));
  }
  Library found;
  found.find_category = find<nvtx::FindCategory>(opened, nvtx::kFindCategory, path);
  found.count_modules = find<nvtx::CountModules>(opened, nvtx::kCountModules, path);
  found.set_handler = find<nvtx::SetHandler>(opened, nvtx::kSetHandler, path);
  if (!found.set_handler(nvtx::kHandlerVersion, nullptr)) {
    throw Error(ErrorKind::kUsage,
                concat(path,
                       ": is of another version; reinstall proton, its files are not of one "
                       "build"));
  }
  library = found;
}

void listen_to_nvtx(bool is_listening) {
  if (library.set_handler == nullptr) return;
  if (is_listening) process.ranges.restart();
  library.set_handler(nvtx::kHandlerVersion, is_listening ? &handler : nullptr);
}

uint32_t count_nvtx_modules() {
  return library.count_modules == nullptr ? 0 : library.count_modules();
}

void forget_nvtx() noexcept {
  if (library.set_handler != nullptr) library.set_handler(nvtx::kHandlerVersion, nullptr);
}

}  // namespace proton::bindings
