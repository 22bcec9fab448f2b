// The library that NVTX loads into a program (NVTX_INJECTION64_PATH). It fills the function slots
// of every module that uses NVTX and passes the calls on to whoever listens; with nobody listening
// a call costs a load or two. It knows nothing of Python and needs no C++ runtime, because child
// processes of any kind inherit the variable.
#include <string.h>

#include <atomic>

#include "nvtx/abi.h"
#include "nvtx/handler.h"
#include "nvtx/registry.h"

namespace proton::nvtx {
namespace {

constinit std::atomic<const Handler*> current{nullptr};
constinit std::atomic<uint32_t> module_count{0};

const Handler* handler() { return current.load(std::memory_order_acquire); }

Event make_event(const char* text, uint32_t size) {
  Event event;
  event.text = text;
  event.size = size;
  return event;
}

Event make_event(const char* text) {
  return make_event(text, text == nullptr ? 0 : static_cast<uint32_t>(strlen(text)));
}

Event make_event(const WideText& text) { return make_event(text.text(), text.size()); }

void set_payload(Event& event, const EventAttributes& from) {
  event.payload_kind = PayloadKind::kInteger;
  switch (from.payload_type) {
    case kPayloadUint64:
      if (from.payload.uint64 > INT64_MAX) {
        event.payload_kind = PayloadKind::kReal;
        event.payload.real = static_cast<double>(from.payload.uint64);
      } else {
        event.payload.integer = static_cast<int64_t>(from.payload.uint64);
      }
      return;
    case kPayloadInt64:
      event.payload.integer = from.payload.int64;
      return;
    case kPayloadUint32:
      event.payload.integer = from.payload.uint32;
      return;
    case kPayloadInt32:
      event.payload.integer = from.payload.int32;
      return;
    case kPayloadDouble:
    case kPayloadFloat:
      event.payload_kind = PayloadKind::kReal;
      event.payload.real =
          from.payload_type == kPayloadDouble ? from.payload.real64 : from.payload.real32;
      return;
    default:  // none, or a structure of the payload extension
      event.payload_kind = PayloadKind::kNone;
  }
}

/// Calls `then` with the event that `attributes` describe.
template <typename Then>
auto with_event(const Domain* domain, const EventAttributes* attributes, Then then) {
  if (attributes == nullptr || attributes->size < sizeof(EventAttributes)) {
    Event event;
    event.domain = domain;
    return then(event);
  }
  const auto complete = [&](Event event) {
    event.domain = domain;
    event.category = attributes->category;
    set_payload(event, *attributes);
    return then(event);
  };
  switch (attributes->message_type) {
    case kMessageAscii:
      return complete(make_event(attributes->message.ascii));
    case kMessageWide:
      return complete(make_event(WideText(attributes->message.wide)));
    case kMessageRegistered: {
      Event event;
      event.registered = attributes->message.registered;
      return complete(event);
    }
    default:
      return complete(Event());
  }
}

// ---- what stands in the slots ----

int push(const Event& event) {
  const Handler* to = handler();
  return to == nullptr ? kNoTracking : to->push(event);
}

uint64_t start(const Event& event) {
  const Handler* to = handler();
  return to == nullptr ? 0 : to->start(event);
}

void mark(const Event& event) {
  if (const Handler* to = handler()) to->mark(event);
}

int domain_pop(const Domain* domain) {
  const Handler* to = handler();
  return to == nullptr ? kNoTracking : to->pop(domain);
}

void range_end(uint64_t range) {
  const Handler* to = handler();
  if (to != nullptr && range != 0) to->end(range);
}

/// A call of the program with a text, narrow or wide, or with attributes: what it describes goes to
/// `kCall`, unless nobody listens.
template <auto kCall, typename Character>
auto with_text(const Character* text) {
  if (handler() == nullptr) return kCall(Event());
  if constexpr (sizeof(Character) == 1) {
    return kCall(make_event(text));
  } else {
    return kCall(make_event(WideText(text)));
  }
}

template <auto kCall>
auto with_domain(const Domain* domain, const EventAttributes* attributes) {
  return handler() == nullptr ? kCall(Event()) : with_event(domain, attributes, kCall);
}

template <auto kCall>
auto with_attributes(const EventAttributes* attributes) {
  return with_domain<kCall>(nullptr, attributes);
}

int pop() { return domain_pop(nullptr); }
void domain_end(const Domain*, uint64_t range) { range_end(range); }

const Domain* domain_create_a(const char* name) {
  return name == nullptr ? nullptr : find_or_add_domain(name, strlen(name));
}
const Domain* domain_create_w(const wchar_t* name) {
  const WideText text(name);
  return name == nullptr ? nullptr : find_or_add_domain(text.text(), text.size());
}
void domain_destroy(const Domain*) {}  // a domain of that name may be made again

const Registered* register_a(const Domain* domain, const char* text) {
  return text == nullptr ? nullptr : find_or_add_string(domain, text, strlen(text));
}
const Registered* register_w(const Domain* domain, const wchar_t* wide) {
  const WideText text(wide);
  return wide == nullptr ? nullptr : find_or_add_string(domain, text.text(), text.size());
}

void domain_name_category_a(const Domain* domain, uint32_t category, const char* name) {
  if (name != nullptr) name_category(domain, category, name, strlen(name));
}
void domain_name_category_w(const Domain* domain, uint32_t category, const wchar_t* name) {
  const WideText text(name);
  if (name != nullptr) name_category(domain, category, text.text(), text.size());
}
void name_category_a(uint32_t category, const char* name) {
  domain_name_category_a(nullptr, category, name);
}
void name_category_w(uint32_t category, const wchar_t* name) {
  domain_name_category_w(nullptr, category, name);
}

struct Slot {
  uint32_t number;
  Function function;
};

template <typename Call>
Function erase(Call* call) {
  return reinterpret_cast<Function>(call);
}

template <size_t kCount>
bool fill(const CallbackTable& callbacks, Module module, const Slot (&slots)[kCount]) {
  FunctionTable table = nullptr;
  uint32_t size = 0;
  if (callbacks.get_module_functions(module, &table, &size) == 0 || table == nullptr) return false;
  for (const Slot& slot : slots) {
    if (slot.number < size && table[slot.number] != nullptr) *table[slot.number] = slot.function;
  }
  return true;
}

bool attach(const CallbackTable& callbacks) {
  const Slot core[] = {
      {kMarkEx, erase(with_attributes<mark>)},
      {kMarkA, erase(with_text<mark, char>)},
      {kMarkW, erase(with_text<mark, wchar_t>)},
      {kRangeStartEx, erase(with_attributes<start>)},
      {kRangeStartA, erase(with_text<start, char>)},
      {kRangeStartW, erase(with_text<start, wchar_t>)},
      {kRangeEnd, erase(range_end)},
      {kRangePushEx, erase(with_attributes<push>)},
      {kRangePushA, erase(with_text<push, char>)},
      {kRangePushW, erase(with_text<push, wchar_t>)},
      {kRangePop, erase(pop)},
      {kNameCategoryA, erase(name_category_a)},
      {kNameCategoryW, erase(name_category_w)},
  };
  const Slot core2[] = {
      {kDomainMarkEx, erase(with_domain<mark>)},
      {kDomainRangeStartEx, erase(with_domain<start>)},
      {kDomainRangeEnd, erase(domain_end)},
      {kDomainRangePushEx, erase(with_domain<push>)},
      {kDomainRangePop, erase(domain_pop)},
      {kDomainNameCategoryA, erase(domain_name_category_a)},
      {kDomainNameCategoryW, erase(domain_name_category_w)},
      {kDomainRegisterStringA, erase(register_a)},
      {kDomainRegisterStringW, erase(register_w)},
      {kDomainCreateA, erase(domain_create_a)},
      {kDomainCreateW, erase(domain_create_w)},
      {kDomainDestroy, erase(domain_destroy)},
  };
  if (!fill(callbacks, kModuleCore, core)) return false;
  fill(callbacks, kModuleCore2, core2);  // NVTX 1 has none
  return true;
}

}  // namespace
}  // namespace proton::nvtx

#define PROTON_EXPORT extern "C" __attribute__((visibility("default")))

/// Called by every module at its first NVTX call; 0 tells it to go on without us.
PROTON_EXPORT int InitializeInjectionNvtx2(proton::nvtx::GetExportTable get_table) {
  using namespace proton::nvtx;
  const auto* callbacks = static_cast<const CallbackTable*>(get_table(kTableCallbacks));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(CallbackTable)) return 0;
  if (!attach(*callbacks)) return 0;
  module_count.fetch_add(1, std::memory_order_relaxed);
  return 1;
}

PROTON_EXPORT bool proton_nvtx_set_handler(uint32_t version, const proton::nvtx::Handler* handler) {
  if (version != proton::nvtx::kHandlerVersion) return false;
  proton::nvtx::current.store(handler, std::memory_order_release);
  return true;
}

PROTON_EXPORT const char* proton_nvtx_find_category(const proton::nvtx::Domain* domain,
                                                    uint32_t category) {
  return proton::nvtx::find_category(domain, category);
}

PROTON_EXPORT uint32_t proton_nvtx_count_modules() {
  return proton::nvtx::module_count.load(std::memory_order_relaxed);
}
