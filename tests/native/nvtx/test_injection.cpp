// What reaches a listener through the injected library, with a handler that writes it down.
#include <string>
#include <thread>
#include <vector>

#include "check.h"
#include "nvtx/handler.h"
#include "nvtx_api.h"

using namespace proton::nvtx;

namespace {

struct Seen {
  std::string call;
  std::string domain;
  std::string text;
  uint32_t category = 0;
  PayloadKind kind = PayloadKind::kNone;
  int64_t integer = 0;
  double real = 0;
};
std::vector<Seen> seen;

void note(const char* call, const Event& event) {
  Seen one;
  one.call = call;
  if (event.domain != nullptr) one.domain = {event.domain->text, event.domain->size};
  if (event.registered != nullptr) {
    one.text = {event.registered->text, event.registered->size};
  } else if (event.text != nullptr) {
    one.text = {event.text, event.size};
  }
  one.category = event.category;
  one.kind = event.payload_kind;
  if (one.kind == PayloadKind::kInteger) one.integer = event.payload.integer;
  if (one.kind == PayloadKind::kReal) one.real = event.payload.real;
  seen.push_back(one);
}

constexpr Handler kHandler = {
    [](const Event& event) noexcept {
      note("push", event);
      return 7;
    },
    [](const Domain* domain) noexcept {
      seen.push_back({"pop", domain == nullptr ? "" : domain->text, ""});
      return 6;
    },
    [](const Event& event) noexcept {
      note("start", event);
      return uint64_t{99};
    },
    [](uint64_t range) noexcept { seen.push_back({"end", "", std::to_string(range)}); },
    [](const Event& event) noexcept { note("mark", event); },
};

template <typename Call>
Call exported(const char* name) {
  static void* library = dlopen(NVTX_LIBRARY, RTLD_NOW);
  void* symbol = dlsym(library, name);
  Call call;
  std::memcpy(&call, &symbol, sizeof(call));
  return call;
}

bool listen(const Handler* handler) {
  seen.clear();
  return exported<SetHandler>(kSetHandler)(kHandlerVersion, handler);
}

}  // namespace

TEST(with_nobody_listening_calls_return_what_nvtx_says_then) {
  CHECK(listen(nullptr));
  CHECK_EQ(api::push("a"), kNoTracking);
  CHECK_EQ(api::pop(), kNoTracking);
  CHECK_EQ(api::start("a"), 0);
  api::end(0);
  api::mark("a");
  CHECK_EQ(exported<CountModules>(kCountModules)(), 1);
}

TEST(a_listener_of_another_build_is_refused) {
  CHECK(!exported<SetHandler>(kSetHandler)(kHandlerVersion + 1, &kHandler));
}

TEST(plain_calls_of_both_alphabets_arrive_as_utf8) {
  CHECK(listen(&kHandler));
  CHECK_EQ(api::push("a"), 7);
  CHECK_EQ(api::pop(), 6);
  api::find<int (*)(const wchar_t*)>("nvtxRangePushW")(L"\u00e4\u20ac\U0001F600");
  CHECK_EQ(api::start("b"), 99);
  CHECK_EQ(api::find<uint64_t (*)(const wchar_t*)>("nvtxRangeStartW")(L"w"), 99);
  api::end(5);
  api::mark("m");
  api::find<void (*)(const wchar_t*)>("nvtxMarkW")(L"mw");
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"push", "a"},  {"pop", ""},    {"push", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
      {"start", "b"}, {"start", "w"}, {"end", "5"},
      {"mark", "m"},  {"mark", "mw"}};
  CHECK_EQ(seen.size(), expected.size());
  for (size_t i = 0; i < seen.size() && i < expected.size(); ++i) {
    CHECK_EQ(seen[i].call, expected[i].first);
    CHECK_EQ(seen[i].text, expected[i].second);
  }
  listen(nullptr);
}

TEST(payloads_of_every_kind_arrive_as_numbers) {
  CHECK(listen(&kHandler));
  EventAttributes event = api::attributes("x");
  const auto push = [&](int32_t type) {
    event.payload_type = type;
    api::push_ex(nullptr, event);
    return seen.back();
  };
  event.payload.uint64 = 12;
  CHECK_EQ(push(kPayloadUint64).integer, 12);
  event.payload.uint64 = UINT64_MAX;
  CHECK_EQ(push(kPayloadUint64).real, 18446744073709551616.0);
  event.payload.int64 = -3;
  CHECK_EQ(push(kPayloadInt64).integer, -3);
  event.payload.real64 = 0.5;
  CHECK_EQ(push(kPayloadDouble).real, 0.5);
  event.payload.uint32 = 4000000000u;
  CHECK_EQ(push(kPayloadUint32).integer, 4000000000);
  event.payload.int32 = -4;
  CHECK_EQ(push(kPayloadInt32).integer, -4);
  event.payload.real32 = 0.25f;
  CHECK_EQ(push(kPayloadFloat).real, 0.25);
  CHECK(push(kPayloadNone).kind == PayloadKind::kNone);
  CHECK(push(0x7fbd0009).kind == PayloadKind::kNone);  // a structure of an extension
  listen(nullptr);
}

TEST(domains_strings_and_categories_made_before_anybody_listens_are_known) {
  listen(nullptr);
  const void* domain = api::domain("lib");
  CHECK(domain == api::domain("lib"));
  CHECK(domain != api::domain("other"));
  const void* text = api::registered(domain, "layer");
  CHECK(text == api::registered(domain, "layer"));
  CHECK(text != api::registered(nullptr, "layer"));
  using Name = void (*)(const void*, uint32_t, const char*);
  api::find<Name>("nvtxDomainNameCategoryA")(domain, 3, "first");
  api::find<Name>("nvtxDomainNameCategoryA")(domain, 3, "copies");
  api::find<void (*)(uint32_t, const wchar_t*)>("nvtxNameCategoryW")(3, L"default");
  CHECK(listen(&kHandler));
  EventAttributes event = api::attributes(nullptr);
  event.message_type = kMessageRegistered;
  event.message.registered = static_cast<const Registered*>(text);
  event.category = 3;
  CHECK_EQ(api::push_ex(domain, event), 7);
  CHECK_EQ(api::domain_pop(domain), 6);
  CHECK_EQ(seen[0].domain, "lib");
  CHECK_EQ(seen[0].text, "layer");
  CHECK_EQ(seen[0].category, 3);
  CHECK_EQ(seen[1].domain, "lib");
  const auto category = exported<FindCategory>(kFindCategory);
  CHECK_EQ(std::string(category(static_cast<const Domain*>(domain), 3)), "copies");
  CHECK_EQ(std::string(category(nullptr, 3)), "default");
  CHECK(category(nullptr, 4) == nullptr);
  listen(nullptr);
}

TEST(attributes_that_are_missing_or_too_short_are_a_range_without_a_name) {
  CHECK(listen(&kHandler));
  api::find<int (*)(const EventAttributes*)>("nvtxRangePushEx")(nullptr);
  EventAttributes event = api::attributes("x");
  event.size = 8;
  api::push_ex(nullptr, event);
  api::push(nullptr);
  CHECK_EQ(seen.size(), 3);
  for (const Seen& one : seen) CHECK_EQ(one.text, "");
  listen(nullptr);
}

TEST(threads_may_register_and_listen_at_the_same_time) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) {
        const std::string name = "name" + std::to_string(i);
        const void* domain = api::domain(name.c_str());
        api::registered(domain, name.c_str());
        api::push_ex(domain, api::attributes("x"));
        api::domain_pop(domain);
      }
    });
  }
  for (int i = 0; i < 50; ++i) listen(nullptr);
  for (std::thread& thread : threads) thread.join();
  CHECK(api::domain("name7") == api::domain("name7"));
}
