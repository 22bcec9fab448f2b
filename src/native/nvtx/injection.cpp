// The library that NVTX loads into a program (NVTX_INJECTION64_PATH). It fills the function slots
// of every module that uses NVTX and passes the calls on to whoever listens; with nobody listening
// a call costs one load. It knows nothing of Python and needs no C++ runtime, because child
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

int domain_push(const Domain* domain, const EventAttributes* attributes) {
  return handler() == nullptr ? kNoTracking : with_event(domain, attributes, push);
}

uint64_t domain_start(const Domain* domain, const EventAttributes* attributes) {
  return handler() == nullptr ? 0 : with_event(domain, attributes, start);
}

void domain_mark(const Domain* domain, const EventAttributes* attributes) {
  if (handler() != nullptr) with_event(domain, attributes, mark);
}

int push_a(const char* text) { return handler() == nullptr ? kNoTracking : push(make_event(text)); }
int push_w(const wchar_t* text) {
  return handler() == nullptr ? kNoTracking : push(make_event(WideText(text)));
}
uint64_t start_a(const char* text) { return handler() == nullptr ? 0 : start(make_event(text)); }
uint64_t start_w(const wchar_t* text) {
  return handler() == nullptr ? 0 : start(make_event(WideText(text)));
}
void mark_a(const char* text) {
  if (handler() != nullptr) mark(make_event(text));
}
void mark_w(const wchar_t* text) {
  if (handler() != nullptr) mark(make_event(WideText(text)));
}

int push_ex(const EventAttributes* attributes) { return domain_push(nullptr, attributes); }
uint64_t start_ex(const EventAttributes* attributes) { return domain_start(nullptr, attributes); }
void mark_ex(const EventAttributes* attributes) { domain_mark(nullptr, attributes); }
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

bool fill(const CallbackTable& callbacks, Module module, const Slot* slots, size_t count) {
  FunctionTable table = nullptr;
  uint32_t size = 0;
  if (callbacks.get_module_functions(module, &table, &size) == 0 || table == nullptr) return false;
  for (size_t i = 0; i < count; ++i) {
    if (slots[i].number < size && table[slots[i].number] != nullptr) {
      *table[slots[i].number] = slots[i].function;
    }
  }
  return true;
}

template <size_t kCount>
bool fill(const CallbackTable& callbacks, Module module, const Slot (&slots)[kCount]) {
  return fill(callbacks, module, slots, kCount);
}

bool attach(const CallbackTable& callbacks) {
  const Slot core[] = {
      {kMarkEx, erase(mark_ex)},
      {kMarkA, erase(mark_a)},
      {kMarkW, erase(mark_w)},
      {kRangeStartEx, erase(start_ex)},
      {kRangeStartA, erase(start_a)},
      {kRangeStartW, erase(start_w)},
      {kRangeEnd, erase(range_end)},
      {kRangePushEx, erase(push_ex)},
      {kRangePushA, erase(push_a)},
      {kRangePushW, erase(push_w)},
      {kRangePop, erase(pop)},
      {kNameCategoryA, erase(name_category_a)},
      {kNameCategoryW, erase(name_category_w)},
  };
  const Slot core2[] = {
      {kDomainMarkEx, erase(domain_mark)},
      {kDomainRangeStartEx, erase(domain_start)},
      {kDomainRangeEnd, erase(domain_end)},
      {kDomainRangePushEx, erase(domain_push)},
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
