/// The CUDA contexts that were made or used since the hub subscribed, and those of devices. Any
/// thread, callbacks of the driver too; its lock is held for no call.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "backends/common/timed_flush.h"
#include "backends/cupti/driver/library.h"

namespace proton::cupti {

class ContextList {
 public:
  explicit ContextList(const Library& library) : library_(library) {}

  void add(Context context);
  void remove(Context context);
  /// On a launching thread: it may be older than our subscription, and nobody has told us of it.
  void note(Context context) noexcept;
  void clear();

  /// Also the primary contexts of devices. Never initialises the driver.
  std::vector<Context> all();
  /// Whether the program can have launched anything.
  bool has_any();

  /// Until the work of every context has ended.
  void wait_for_gpu(FlushProgress& progress);

  void reset_after_fork();

 private:
  bool has(Context context);
  void wait_for(Context context, const std::string& whose, FlushProgress& progress);

  const Library& library_;
  std::mutex mutex_;
  std::vector<Context> contexts_;
};

}  // namespace proton::cupti
