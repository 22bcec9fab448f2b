// What runs on launching threads, and what sessions ask; the rest is in
// recorder_{thread,reading,graphs,report}.cpp.
#include "backends/device_buffer/recorder/recorder.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "model/losses.h"

namespace proton::device_buffer {
namespace {

constexpr size_t kProblems = 32;  // that are told of a session
constexpr size_t kCrowd = 128;    // launches that the thread is woken up for before it looks again

}  // namespace

thread_local Recorder::Pending Recorder::pending_;
thread_local const EventSink* Recorder::only_ = nullptr;

Recorder& Recorder::get() {
  static Recorder* const recorder = new Recorder;
  return *recorder;
}

void Recorder::load(const std::string& cuda_path) {
  std::lock_guard lock(mutex_);
  if (is_loaded()) return;
  driver_ = Driver::open(cuda_path);
  is_loaded_.store(true, std::memory_order_release);
}

uint32_t Recorder::add_kernel(RecordingKernel kernel) {
  std::lock_guard lock(mutex_);
  kernels_.push_back(std::make_unique<const RecordingKernel>(std::move(kernel)));
  return static_cast<uint32_t>(kernels_.size() - 1);
}

std::string Recorder::kernel_name(uint32_t number) {
  std::lock_guard lock(mutex_);
  return number < kernels_.size() ? kernels_[number]->name : std::string();
}

void Recorder::start(EventSink& sink, SinkOptions options) {
  std::lock_guard lock(mutex_);
  auto target = std::make_shared<Target>();
  target->sink = &sink;
  target->options = std::move(options);
  targets_.push_back(std::move(target));
  if (targets_.size() == 1) told_.clear();
  is_stopping_ = false;  // a thread that is about to end goes on
  if (is_running_) return;
  // Launches that an earlier session ended under: where their context has gone, so have they.
  std::erase_if(queue_, [&](const LaunchPointer& launch) { return has_gone(*launch->state); });
  stats_.in_flight = queue_.size();
  if (thread_.joinable()) thread_.detach();  // it has ended, and who stopped it was not so fast
  thread_ = std::thread([this] { run(); });
  is_running_ = true;
}

/// Whether the context is no more, or another one is in its place.
bool Recorder::has_gone(const ContextState& state) const {
  unsigned long long id = 0;
  return driver_.context_id(state.context, &id) != kCudaSuccess || id != state.id;
}

bool Recorder::has(const EventSink& sink) {
  std::lock_guard lock(mutex_);
  return std::ranges::any_of(targets_, [&](const auto& each) { return each->sink == &sink; });
}

void Recorder::stop(EventSink& sink) {
  TargetPointer target;
  bool is_last;
  {
    std::lock_guard lock(mutex_);
    const auto found =
        std::ranges::find_if(targets_, [&](const auto& each) { return each->sink == &sink; });
    if (found == targets_.end()) return;
    target = *found;
    targets_.erase(found);
    is_last = targets_.empty();
    if (is_last) ++era_;
  }
  {
    std::lock_guard telling(target->mutex);
    target->sink = nullptr;
  }
  if (is_last) stop_thread();
}

/// A thread that has none gets the one that Triton would give it next.
CudaContext Recorder::current_context() {
  CudaContext context = nullptr;
  driver_.check(driver_.current_context(&context), "cuCtxGetCurrent");
  if (context != nullptr) return context;
  driver_.check(driver_.retain_primary_context(&context, 0), "cuDevicePrimaryCtxRetain");
  driver_.check(driver_.set_context(context), "cuCtxSetCurrent");
  return context;
}

Recorder::ContextState& Recorder::current_state() {
  CudaContext const context = current_context();
  for (const auto& state : states_) {
    if (state->context == context) return *state;
  }
  int device = 0;
  driver_.check(driver_.current_device(&device), "cuCtxGetDevice");
  return *states_.emplace_back(
      std::make_unique<ContextState>(driver_, context, device, most_bytes_));
}

std::pair<std::string, int> Recorder::describe_device() {
  int device = 0, version = 0;
  char name[256] = {};
  current_context();
  driver_.check(driver_.current_device(&device), "cuCtxGetDevice");
  driver_.check(driver_.device_name(name, sizeof(name), device), "cuDeviceGetName");
  driver_.check(driver_.version(&version), "cuDriverGetVersion");
  return {name, version};
}

uint64_t Recorder::lane_of(ContextState& state, CudaStream stream) {
  const auto found = std::ranges::find(state.streams, stream);
  const auto lane = static_cast<uint64_t>(found - state.streams.begin());
  if (found == state.streams.end()) state.streams.push_back(stream);
  return lane;
}

DeviceAddress Recorder::allocate(size_t bytes, size_t alignment, CudaStream stream,
                                 bool in_host_memory) {
  static thread_local const ThreadEnd thread_end;
  std::unique_lock lock(mutex_);
  give_up();               // an earlier one: its launch failed, or nobody was told of it
  if (targets_.empty()) {  // the last session has ended since this was asked
    lock.unlock();
    return allocate_scrap(bytes, alignment);
  }
  ContextState& state = current_state();
  int capturing = 0;
  if (driver_.is_capturing(stream, &capturing) != kCudaSuccess) capturing = 0;
  const size_t slack = alignment > BlockPool::kAlignment ? alignment : 0;
  CudaResult result;
  Pending pending;
  pending.state = &state;
  pending.block = state.pool.take(bytes + slack, in_host_memory, capturing != 0, result);
  if (pending.block == nullptr) {
    if (result != kCudaSuccess) {
      note_problem(concat("no memory for the records of a launch (", bytes,
                          " bytes): ", driver_.describe(result)));
    }
    pending.block = state.pool.scrap(bytes + slack, result);
    driver_.check(result, "cuMemAlloc");
    pending.is_scrap = true;
  }
  const size_t align = std::max<size_t>(alignment, 1);
  pending.address = (pending.block->address + align - 1) / align * align;
  pending.bytes = bytes;
  pending.stream = stream;
  pending.lane = lane_of(state, stream);
  pending.is_captured = capturing != 0;
  pending.era = era_;
  // A graph zeroes its buffer at every replay; other buffers are zeroed when they have been read.
  if (pending.is_captured || !pending.block->is_zero) {
    if (const CudaResult failed = prepare(pending); failed != kCudaSuccess) {
      if (!pending.is_scrap) state.pool.give_back(pending.block);  // nothing uses it
      driver_.check(failed, "cuMemsetD8Async");
    }
  }
  pending.block->is_zero = false;
  pending.start_ns = now_ns();
  pending_ = pending;
  return pending.address;
}

/// Asks the driver nothing: it may be on its way out, too.
Recorder::ThreadEnd::~ThreadEnd() {
  const Pending pending = std::exchange(pending_, {});
  if (pending.block == nullptr || pending.is_scrap || pending.is_captured) return;
  Recorder& recorder = get();
  std::lock_guard lock(recorder.mutex_);
  recorder.left_behind_.push_back(pending);
}

/// Puts in front of the launch what zeroes its memory and, in a graph, counts its replays. The
/// count comes first: a kernel may be one that begins before the kernel in front of it has ended.
CudaResult Recorder::prepare(Pending& pending) {
  const bool was_ours = disown_(true);
  CudaResult result = kCudaSuccess;
  if (pending.is_captured) {
    pending.replay_counter = pending.state->replays.add(pending.stream, result);
    if (result != kCudaSuccess) {
      note_problem(concat("replays of a graph are not counted: ", driver_.describe(result),
                          "; what the last one left counts as one launch at every flush"));
    }
  }
  result = pending.is_scrap ? kCudaSuccess
                            : driver_.set_bytes(pending.address, 0, pending.bytes, pending.stream);
  disown_(was_ours);
  return result;
}

std::vector<Recorder::Destination> Recorder::destinations() {
  std::vector<Destination> found;
  for (const TargetPointer& target : targets_) {
    if (!target->options.is_active() || (only_ != nullptr && target->sink != only_)) continue;
    const ContextId context = target->options.with_frames ? source_.python() : source_.shadow();
    found.push_back({target, context, target->options.phase()});
  }
  return found;
}

Recorder::LaunchPointer Recorder::make_launch(const Pending& pending) {
  auto launch = std::make_unique<Launch>();
  launch->state = pending.state;
  launch->block = pending.block;
  launch->address = pending.address;
  launch->bytes = pending.bytes;
  launch->stream = pending.stream;
  launch->lane = pending.lane;
  launch->start_ns = pending.start_ns;
  launch->is_captured = pending.is_captured;
  launch->replay_counter = pending.replay_counter;
  return launch;
}

void Recorder::launched(uint32_t kernel, uint64_t note) {
  if (pending_.block == nullptr) return;
  std::lock_guard lock(mutex_);
  const Pending pending = pending_;
  pending_ = {};
  if (kernel >= kernels_.size()) return;
  const RecordingKernel* const known = kernels_[kernel].get();
  auto launch = make_launch(pending);
  launch->kernel_number = kernel;
  launch->kernel = known;
  launch->note = note;
  launch->grid_ctas = pending.bytes / std::max<uint32_t>(known->scratch_bytes, 1);
  if (pending.era != era_) {  // its session has ended meanwhile
    let_go(*launch);
    if (!pending.is_scrap && !pending.is_captured) queue(std::move(launch));
    return;
  }
  launch->destinations = destinations();
  launch->is_scrap = pending.is_scrap;
  const bool is_counted = pending.replay_counter != ReplayCounters::kNone;
  if (pending.is_scrap && !is_counted) {
    ++stats_.dropped;
    for (const auto& [target, context, phase] : launch->destinations) {
      target->book.drop({phase, kernel, context, pending.is_captured,
                         static_cast<uint32_t>(pending.state->device)});
    }
    return;
  }
  if (pending.is_captured) {
    ++stats_.captured;
    captured_.push_back(std::move(launch));
    return;
  }
  ++stats_.launches;
  if (launch->destinations.empty()) let_go(*launch);
  queue(std::move(launch));
}

void Recorder::unread() {
  std::lock_guard lock(mutex_);
  if (pending_.block != nullptr && pending_.era == era_) {
    note_problem(
        "a launch with records was not read: it is not known which kernel it was of; launch "
        "kernels through Triton");
  }
  give_up();
}

/// Has the memory back once the stream has got there, unread: whether it was used is not known.
void Recorder::give_up() {
  const Pending pending = std::exchange(pending_, {});
  if (pending.block == nullptr) return;
  if (pending.era == era_) {
    for (const TargetPointer& target : targets_) {
      // Whoever stops leaves `targets_` first: the sink is still there.
      if (target->options.is_active()) target->sink->on_loss(losses::kDroppedBuffers, 1);
    }
    ++stats_.dropped;
  }
  if (!pending.is_scrap && !pending.is_captured) queue(make_launch(pending));
}

CudaResult Recorder::record_event(Launch& launch) {
  auto& events = launch.state->events;
  if (!events.empty()) {
    launch.event = events.back();
    events.pop_back();
  } else if (const CudaResult result = driver_.create_event(&launch.event, kEventDisableTiming);
             result != kCudaSuccess) {
    return result;
  }
  return driver_.record_event(launch.event, launch.stream);
}

void Recorder::queue(LaunchPointer launch) {
  if (const CudaResult result = record_event(*launch); result != kCudaSuccess) {
    // The memory is lost with it: a kernel may still write there.
    note_problem(concat("a launch could not be followed: ", driver_.describe(result)));
    ++stats_.dropped;
    return;
  }
  launch->number = ++launched_;
  queue_.push_back(std::move(launch));
  ++stats_.in_flight;
  if (is_waiting_ || queue_.size() >= kCrowd) wake_.notify_one();
}

void Recorder::note_phases() {
  std::lock_guard lock(mutex_);
  for (const TargetPointer& target : targets_) {
    target->flush_phase.store(target->options.phase());
  }
}

bool Recorder::flush(int64_t limit_ns) {
  std::unique_lock lock(mutex_);
  if (!is_running_) return true;
  const uint64_t last = launched_;
  const uint64_t graphs = captured_.empty() ? graphs_asked_ : ++graphs_asked_;
  ++flushes_;
  wake_.notify_one();
  const bool is_done = settled_.wait_for(lock, std::chrono::nanoseconds(limit_ns), [&] {
    const bool has_queued = !queue_.empty() && queue_.front()->number <= last;
    return !is_running_ || (!has_queued && oldest_ > last && graphs_read_ >= graphs);
  });
  --flushes_;
  return is_done;
}

std::vector<KernelSum> Recorder::sums(const EventSink& sink, int phase) {
  std::lock_guard lock(mutex_);
  for (const TargetPointer& target : targets_) {
    if (target->sink == &sink) return target->book.sums(phase);
  }
  return {};
}

void Recorder::forget_phase(const EventSink& sink, int phase) {
  std::lock_guard lock(mutex_);
  for (const TargetPointer& target : targets_) {
    if (target->sink == &sink) target->book.forget_phase(phase);
  }
}

std::vector<KeptBuffer> Recorder::take_kept(const EventSink& sink) {
  TargetPointer found;
  {
    std::lock_guard lock(mutex_);
    for (const TargetPointer& target : targets_) {
      if (target->sink == &sink) found = target;
    }
  }
  if (found == nullptr) return {};
  std::lock_guard telling(found->mutex);
  found->kept_bytes = 0;
  return std::exchange(found->kept, {});
}

DeviceAddress Recorder::allocate_scrap(size_t bytes, size_t alignment) {
  std::lock_guard lock(mutex_);
  CudaResult result;
  const size_t align = std::max<size_t>(alignment, 1);
  const Block* block = current_state().pool.scrap(bytes + align, result);
  driver_.check(result, "cuMemAlloc");
  return (block->address + align - 1) / align * align;
}

RecorderStats Recorder::stats() {
  std::lock_guard lock(mutex_);
  stats_.pool_bytes = 0;
  for (const auto& state : states_) stats_.pool_bytes += state->pool.size_bytes();
  return stats_;
}

void Recorder::note_problem(const std::string& text) {
  if (told_.size() >= kProblems || std::ranges::find(told_, text) != told_.end()) return;
  told_.push_back(text);
  problems_.push_back(text);
}

std::vector<std::string> Recorder::take_problems() {
  std::lock_guard lock(mutex_);
  return std::exchange(problems_, {});
}

void Recorder::abandon() noexcept {
  // The thread does not exist here, and its locks may be held for ever. What it had is the parent's
  // memory: leaked on purpose.
  const bool was_loaded = is_loaded();
  const Driver driver = driver_;
  const ContextSource source = source_;
  const auto disown = disown_;
  new (this) Recorder;
  driver_ = driver;
  source_ = source;
  disown_ = disown;
  is_loaded_.store(was_loaded);
  pending_ = {};
}

}  // namespace proton::device_buffer
