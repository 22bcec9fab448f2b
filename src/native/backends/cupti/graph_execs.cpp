#include "backends/cupti/graph_execs.h"

#include <new>

namespace proton::cupti {

void GraphExecs::set_traced(bool is_traced) {
  std::lock_guard lock(mutex_);
  if (is_traced == is_traced_.load(std::memory_order_relaxed)) return;
  known_.clear();
  is_traced_.store(is_traced, std::memory_order_relaxed);
}

void GraphExecs::add(void* exec) {
  if (!is_traced()) return;
  std::lock_guard lock(mutex_);
  known_.insert(exec);
}

void GraphExecs::remove(void* exec) noexcept {
  if (!is_traced()) return;
  std::lock_guard lock(mutex_);
  known_.erase(exec);
}

bool GraphExecs::allows(void* exec) noexcept {
  if (!is_traced()) return true;
  std::lock_guard lock(mutex_);
  return known_.contains(exec);
}

void GraphExecs::reset_after_fork() {
  new (&mutex_) std::mutex;
  is_traced_.store(false);
}

}  // namespace proton::cupti
