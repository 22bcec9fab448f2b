#include "frameworks/torch/calibration.h"

#include <atomic>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "frameworks/torch/observer.h"

namespace proton {
namespace {

std::atomic<Calibration*> watching{nullptr};

}  // namespace

Calibration::Calibration(const TorchLibrary& library) : library_(library) {
  torch_observer.open(library);
}

Calibration::~Calibration() { stop(); }

void Calibration::watch_numbers() {
  thread_ = pthread_self();
  watching.store(this);
  torch_observer.watch(RecordScope::kFunction, on_start);
}

void Calibration::watch_node(uint64_t forward_thread, uint64_t number) {
  thread_ = pthread_self();
  forward_thread_ = forward_thread;
  node_number_ = number;
  watching.store(this);
  torch_observer.watch(RecordScope::kBackward, on_start);
}

void Calibration::stop() {
  if (watching.load() != this) return;
  torch_observer.set_tier(ObserverTier::kOff);
  watching.store(nullptr);
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

void Calibration::on_start(const RecordFunction* function, RecordScope scope) {
  Calibration* const self = watching.load();
  const bool is_ours = self != nullptr && pthread_equal(self->thread_, pthread_self());
  if (is_ours) self->look_at(function, scope);
}

void Calibration::look_at(const RecordFunction* function, RecordScope scope) {
  const std::string_view name = library_.name(function);
  if (scope == RecordScope::kFunction &&
      name == "aten::mul") {  // those that it calls have no number
    const uint64_t number = library_.next_number();
    numbers_.insert(number);
    number_places_ = holding(function, number, number_places_);
  } else if (scope == RecordScope::kBackward && name == "MulBackward0") {
    threads_.insert(forward_thread_);
    thread_places_ = holding(function, forward_thread_, thread_places_);
    number_places_ = holding(function, node_number_, number_places_);
  }
}

size_t Calibration::only_place(const Places& places, const char* what) {
  if (places.count() == 1) return static_cast<size_t>(__builtin_ctzll(places.to_ullong()));
  const std::string count = places.none() ? "no field" : concat(places.count(), " fields");
  throw BackendError(
      "torch", concat("the layout of its RecordFunction is not certain: ", count, " can be ", what),
      kOtherTorch);
}

RecordFields Calibration::fields() const {
  if (numbers_.size() < kFewestOperators || threads_.size() < kFewestThreads) {
    throw BackendError("torch",
                       concat("its observers reported ", numbers_.size(), " of at least ",
                              kFewestOperators, " operators and nodes of ", threads_.size(),
                              " of at least ", kFewestThreads, " threads"),
                       kOtherTorch);
  }
  return {only_place(number_places_, "the sequence number"),
          only_place(thread_places_, "the thread of the forward operator")};
}

}  // namespace proton
