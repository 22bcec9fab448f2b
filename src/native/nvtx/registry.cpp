#include "nvtx/registry.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

namespace proton::nvtx {
namespace {

// No C++ runtime here: the library is loaded into programs of any kind.
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/// In a forked child another thread may have held it, and that thread does not exist there.
__attribute__((constructor)) void survive_forks() {
  pthread_atfork(nullptr, nullptr, [] { mutex = PTHREAD_MUTEX_INITIALIZER; });
}

class Locked {
 public:
  Locked() { pthread_mutex_lock(&mutex); }
  ~Locked() { pthread_mutex_unlock(&mutex); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

uint64_t hash_of(uint64_t key, const char* text, size_t size) {
  uint64_t hash = key ^ 0xcbf29ce484222325ull;
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3ull;
  }
  return hash ^ hash >> 32;
}

char* copy_text(const char* text, size_t size) {
  auto* copy = static_cast<char*>(malloc(size + 1));
  if (copy == nullptr) return nullptr;
  memcpy(copy, text, size);
  copy[size] = '\0';
  return copy;
}

uint64_t number_of(const Domain* domain) { return domain == nullptr ? 0 : domain->number; }

/// Texts by key, in chains.
template <typename Text>
struct Table {
  struct Node {
    Node* next;
    uint64_t key;
    Text text;
  };
  static constexpr size_t kChains = 1024;

  Node* chains[kChains];
  uint32_t count;

  /// Null: out of memory.
  const Text* find_or_add(uint64_t key, const char* text, size_t size) {
    Node*& chain = chains[hash_of(key, text, size) % kChains];
    for (Node* node = chain; node != nullptr; node = node->next) {
      const Text& known = node->text;
      if (node->key == key && known.size == size && memcmp(known.text, text, size) == 0) {
        return &known;
      }
    }
    auto* node = static_cast<Node*>(malloc(sizeof(Node)));
    char* copy = copy_text(text, size);
    if (node == nullptr || copy == nullptr) {
      free(node);
      free(copy);
      return nullptr;
    }
    node->next = chain;
    node->key = key;
    node->text.number = ++count;
    node->text.size = static_cast<uint32_t>(size);
    node->text.text = copy;
    chain = node;
    return &node->text;
  }
};

struct Category {
  Category* next;
  uint64_t key;  // the domain's number, and its own
  const char* name;
};

Table<Domain> domains;
Table<Registered> strings;
Category* categories;

const Category* category_of(uint64_t key) {
  const Category* at = categories;
  while (at != nullptr && at->key != key) at = at->next;
  return at;
}

size_t encode(uint32_t code, char* out) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
  if (code < 0x80) {
    out[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    out[0] = static_cast<char>(0xC0 | code >> 6);
    out[1] = static_cast<char>(0x80 | (code & 0x3F));
    return 2;
  }
  if (code < 0x10000) {
    out[0] = static_cast<char>(0xE0 | code >> 12);
    out[1] = static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out[2] = static_cast<char>(0x80 | (code & 0x3F));
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | code >> 18);
  out[1] = static_cast<char>(0x80 | (code >> 12 & 0x3F));
  out[2] = static_cast<char>(0x80 | (code >> 6 & 0x3F));
  out[3] = static_cast<char>(0x80 | (code & 0x3F));
  return 4;
}

}  // namespace

WideText::WideText(const wchar_t* text) : is_null_(text == nullptr) {
  for (; text != nullptr && *text != 0 && size_ < kLimit; ++text) {
    size_ += static_cast<uint32_t>(encode(static_cast<uint32_t>(*text), bytes_ + size_));
  }
}

const Domain* find_or_add_domain(const char* name, size_t size) {
  const Locked locked;
  return domains.find_or_add(0, name, size);
}

const Registered* find_or_add_string(const Domain* domain, const char* text, size_t size) {
  const Locked locked;
  return strings.find_or_add(number_of(domain), text, size);
}

void name_category(const Domain* domain, uint32_t category, const char* name, size_t size) {
  const Locked locked;
  const uint64_t key = number_of(domain) << 32 | category;
  const Category* known = category_of(key);
  if (known != nullptr && strlen(known->name) == size && memcmp(known->name, name, size) == 0)
    return;
  auto* added = static_cast<Category*>(malloc(sizeof(Category)));
  char* copy = copy_text(name, size);
  if (added == nullptr || copy == nullptr) {
    free(added);
    free(copy);
    return;
  }
  *added = {categories, key, copy};  // in front of an older name, which somebody may be reading
  categories = added;
}

const char* find_category(const Domain* domain, uint32_t category) {
  const Locked locked;
  const Category* at = category_of(number_of(domain) << 32 | category);
  return at == nullptr ? nullptr : at->name;
}

}  // namespace proton::nvtx
