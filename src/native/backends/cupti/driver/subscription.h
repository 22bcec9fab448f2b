/// The libraries, and our place as CUPTI's one subscriber: taken, given up, and what CUPTI is told
/// once with it (buffers, clock, hardware trace). Callers hold the hub's control lock, but for what
/// is said to be good on any thread.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "backends/cupti/driver/activities.h"
#include "backends/cupti/driver/buffers.h"
#include "backends/cupti/driver/contexts.h"
#include "backends/cupti/driver/library.h"

namespace proton::cupti {

/// Whom CUPTI calls.
struct SubscriberFunctions {
  CallbackFunction callback;
  void* user;  // of the callback
  BufferRequested buffer_requested;
  BufferCompleted buffer_completed;
};

class Subscription {
 public:
  Subscription(const SubscriberFunctions& functions, BufferPool& buffers)
      : functions_(functions), buffers_(buffers) {}

  /// Opens the libraries, once; the version of CUPTI. Throws BackendError.
  uint32_t load(const std::string& cupti_path, const std::string& cuda_path);
  bool is_loaded() const { return is_loaded_.load(std::memory_order_acquire); }  // any thread
  const Library& library() const { return library_; }                            // once loaded
  /// Throws BackendError unless this process can subscribe.
  void expect_usable() const;

  /// Subscribes; both clocks at that moment. Throws BackendError; then it is not open.
  ClockPair open();
  void close();
  bool is_open() const { return is_open_; }
  Subscriber subscriber() const { return subscriber_; }

  /// Another tool may have put its own buffers in their place since we subscribed.
  void register_buffers(std::vector<std::string>& warnings);
  /// Both clocks at one moment. Throws BackendError.
  ClockPair read_clocks() const;

  /// Why nobody can subscribe here, as a text for the user; empty: it is open, or could be.
  std::string check();
  /// Has CUPTI let go of the driver, while nothing is open and nobody flushes; false: it stays, for
  /// another tool's sake or for ever. Once `note_sampled`, code that first runs while kernels are
  /// not timed is nobody's for CUPTI until it has.
  bool let_go();
  bool can_let_go() const { return !has_hw_trace_; }
  bool is_attached() const { return is_attached_; }
  void note_sampled() { was_sampled_ = true; }
  bool was_sampled() const { return was_sampled_; }

  /// While it is open: kernels are timed by the hardware's own events (Blackwell and later) from
  /// now on, to the end of the process. A line for the user where that cannot be, once a process;
  /// else "".
  std::string enable_hw_trace(ContextList& contexts);

  /// In a forked child: CUPTI is the parent's.
  void abandon();
  bool is_forked() const { return is_forked_; }  // any thread

 private:
  void give_zeroed_buffers();
  void take_back_zeroed_buffers();
  std::string describe_holder();
  std::string try_hw_trace(ContextList& contexts);

  const SubscriberFunctions functions_;
  BufferPool& buffers_;
  Library library_;
  std::atomic<bool> is_loaded_{false};
  bool is_forked_ = false;
  Subscriber subscriber_ = nullptr;
  bool is_open_ = false;
  bool is_attached_ = false;    // CUPTI holds the driver
  bool was_sampled_ = false;    // since it does
  bool has_zeroed_ = false;     // CUPTI takes our buffers for zeroed
  uint8_t zeroed_before_ = 0;   // what it was told before us
  bool has_timestamp_ = false;  // registered, once a process
  bool has_hw_trace_ = false;   // cannot be undone
  bool has_said_no_hw_trace_ = false;
};

}  // namespace proton::cupti
