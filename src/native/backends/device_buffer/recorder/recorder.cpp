#include "backends/device_buffer/recorder/recorder.h"

#include <algorithm>
#include <new>

namespace proton::device_buffer {

thread_local LaunchBuffer Recorder::pending_;
thread_local const EventSink* Recorder::only_ = nullptr;

Recorder& Recorder::get() {
  static Recorder* const recorder = new Recorder;
  return *recorder;
}

void Recorder::load(const std::string& cuda_path) {
  std::lock_guard lock(mutex_);
  if (is_loaded()) return;
  driver_.open_driver(cuda_path);
  is_loaded_.store(true, std::memory_order_release);
}

uint32_t Recorder::add_kernel(RecordingKernel kernel) {
  std::lock_guard lock(mutex_);
  kernels_.push_back(std::make_unique<const RecordingKernel>(std::move(kernel)));
  return static_cast<uint32_t>(kernels_.size() - 1);
}

const RecordingKernel* Recorder::find_kernel(uint32_t number) {
  std::lock_guard lock(mutex_);
  return number < kernels_.size() ? kernels_[number].get() : nullptr;
}

std::string Recorder::kernel_name(uint32_t number) {
  const RecordingKernel* const kernel = find_kernel(number);
  return kernel == nullptr ? std::string() : kernel->name;
}

void Recorder::start(EventSink& sink, SinkOptions options) {
  reporter_.add(sink, std::move(options));
  follower_.start();
}

void Recorder::stop(EventSink& sink) {
  if (reporter_.remove(sink)) follower_.stop();
}

std::pair<std::string, int> Recorder::describe_device() {
  int device = 0, version = 0;
  char name[256] = {};
  pool_.current_context();
  pool_.check(driver_.current_device(&device), "cuCtxGetDevice");
  pool_.check(driver_.device_name(name, sizeof(name), device), "cuDeviceGetName");
  pool_.check(driver_.driver_version(&version), "cuDriverGetVersion");
  return {name, version};
}

DeviceAddress Recorder::allocate(size_t bytes, size_t alignment, CudaStream stream,
                                 bool in_host_memory) {
  static thread_local const ThreadEnd thread_end;
  give_up();  // an earlier one: its launch failed, or nobody was told of it
  const auto era = reporter_.era();
  if (!era) return pool_.scrap(bytes, alignment);  // the last session has ended since
  LaunchBuffer buffer = pool_.take(bytes, alignment, stream, in_host_memory);
  buffer.era = *era;
  pending_ = buffer;
  return buffer.address;
}

/// Asks the driver nothing: it may be on its way out, too.
Recorder::ThreadEnd::~ThreadEnd() {
  const LaunchBuffer buffer = std::exchange(pending_, {});
  if (buffer.block != nullptr && buffer.comes_back()) get().pool_.leave_behind(buffer);
}

void Recorder::launched(uint32_t kernel, uint64_t note) {
  if (pending_.block == nullptr) return;
  auto launch = std::make_unique<Launch>(std::exchange(pending_, {}));
  launch->kernel = find_kernel(kernel);
  if (launch->kernel == nullptr) return;
  launch->kernel_number = kernel;
  launch->note = note;
  launch->grid_ctas = launch->bytes / std::max<uint32_t>(launch->kernel->scratch_bytes, 1);
  auto destinations = reporter_.destinations(launch->era, only_);
  if (!destinations) {  // its session has ended meanwhile
    launch->leave_unread();
    if (launch->comes_back()) follower_.add(std::move(launch));
    return;
  }
  launch->destinations = std::move(*destinations);
  if (launch->is_scrap && launch->replay_counter == ReplayCounters::kNone) {
    ++reporter_.counts.dropped;
    Reporter::book_drop(*launch, true);
    return;
  }
  if (launch->is_captured) {
    ++reporter_.counts.captured;
    graphs_.add(std::move(launch));
    return;
  }
  ++reporter_.counts.launches;
  if (launch->destinations.empty()) launch->leave_unread();
  follower_.add(std::move(launch));
}

void Recorder::unread() {
  if (give_up()) {
    problems_.note(
        "a launch with records was not read: it is not known which kernel it was of; launch "
        "kernels through Triton");
  }
}

/// Has the memory back once the stream has got there, unread: whether it was used is not known.
/// False: there was none, or its session has ended.
bool Recorder::give_up() {
  const LaunchBuffer buffer = std::exchange(pending_, {});
  if (buffer.block == nullptr) return false;
  const bool is_lost = reporter_.count_unread(buffer.era);
  if (buffer.comes_back()) follower_.add(std::make_unique<Launch>(buffer));
  return is_lost;
}

RecorderStats Recorder::stats() {
  const Reporter::Counts& counts = reporter_.counts;
  return {counts.launches,    counts.captured,       counts.decoded,  counts.dropped,
          pool_.size_bytes(), follower_.in_flight(), counts.decode_ns};
}

void Recorder::abandon() noexcept {
  // The thread does not exist here, and its locks may be held for ever. What it had is the parent's
  // memory: leaked on purpose.
  const bool was_loaded = is_loaded();
  const CudaDriver driver = driver_;
  const ContextSource source = reporter_.source();
  new (this) Recorder;
  driver_ = driver;
  reporter_.set_source(source);
  is_loaded_.store(was_loaded);
  pending_ = {};
}

}  // namespace proton::device_buffer
