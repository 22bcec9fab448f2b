#include "frameworks/torch/calibration.h"

#include <atomic>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace proton {
namespace {

constexpr const char* kRemedy = "use a version of torch that Proton was tested with";

/// Who watches; null: nobody. Callbacks stay registered, as torch cannot remove them safely beside
/// running operators, so a later calibration uses those of the first.
std::atomic<Calibration*> watcher{nullptr};

struct Registered {
  decltype(TorchLibrary::add_callback) library = nullptr;
  uint64_t operators = 0;
  uint64_t nodes = 0;
} registered;

uint64_t register_for(const TorchLibrary& library, RecordScope scope, RecordCallback::Start start,
                      RecordCallback::End end) {
  RecordCallback callback{start, end};
  callback.flags[static_cast<size_t>(scope)] = true;
  const uint64_t handle = library.add_callback(callback);
  library.disable_callback(handle);
  return handle;
}

}  // namespace

Calibration::Calibration(const TorchLibrary& library) : library_(library) {
  if (registered.library == library.add_callback) return;
  registered = {library.add_callback,
                register_for(library, RecordScope::kFunction, on_operator, on_end),
                register_for(library, RecordScope::kBackward, on_node, on_end)};
}

Calibration::~Calibration() { stop(); }

void Calibration::watch_numbers() {
  thread_ = pthread_self();
  watcher.store(this);
  library_.reenable_callback(registered.operators);
  is_watching_ = true;
}

void Calibration::watch_node(uint64_t forward_thread, uint64_t number) {
  thread_ = pthread_self();
  forward_thread_ = forward_thread;
  node_number_ = number;
  watcher.store(this);
  library_.reenable_callback(registered.nodes);
  is_watching_ = true;
}

void Calibration::stop() {
  if (!is_watching_) return;
  is_watching_ = false;
  library_.disable_callback(registered.operators);
  library_.disable_callback(registered.nodes);
  watcher.store(nullptr);
}

Calibration::Places Calibration::holding(const RecordFunction* function, uint64_t value,
                                         Places places) {
  for (size_t i = 0; i < kPlaces; ++i) {
    uint64_t held;
    std::memcpy(&held, reinterpret_cast<const char*>(function) + i * sizeof held, sizeof held);
    if (held != value) places.reset(i);
  }
  return places;
}

RecordCallback::Object Calibration::on_operator(const RecordFunction* function) {
  Calibration* const self = watcher.load();
  if (self == nullptr || !pthread_equal(self->thread_, pthread_self())) return {};
  if (std::string_view(self->library_.name(function)) != "aten::mul") return {};
  const uint64_t number = self->library_.next_number();
  self->numbers_.insert(number);
  self->number_places_ = holding(function, number, self->number_places_);
  return {};
}

RecordCallback::Object Calibration::on_node(const RecordFunction* function) {
  Calibration* const self = watcher.load();
  if (self == nullptr || !pthread_equal(self->thread_, pthread_self())) return {};
  if (std::string_view(self->library_.name(function)) != "MulBackward0") return {};
  self->threads_.insert(self->forward_thread_);
  self->thread_places_ = holding(function, self->forward_thread_, self->thread_places_);
  self->number_places_ = holding(function, self->node_number_, self->number_places_);
  return {};
}

void Calibration::on_end(const RecordFunction*, void*) {}

size_t Calibration::only_place(const Places& places, const char* what) {
  if (places.count() == 1) return static_cast<size_t>(__builtin_ctzll(places.to_ullong()));
  const std::string count = places.none() ? "no field" : concat(places.count(), " fields");
  throw BackendError(
      "torch", concat("the layout of its RecordFunction is not certain: ", count, " can be ", what),
      kRemedy);
}

RecordFields Calibration::fields() const {
  if (numbers_.size() < kFewestOperators || threads_.size() < kFewestThreads) {
    throw BackendError("torch",
                       concat("its observers reported ", numbers_.size(), " of at least ",
                              kFewestOperators, " operators and nodes of ", threads_.size(),
                              " of at least ", kFewestThreads, " threads"),
                       kRemedy);
  }
  return {only_place(number_places_, "the sequence number"),
          only_place(thread_places_, "the thread of the forward operator")};
}

}  // namespace proton
