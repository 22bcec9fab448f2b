/// Sessions on the fake driver for C++ tests: the real hub, the real session, no Python.
#pragma once

#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../session/host.h"
#include "backends/cupti/driver/thread_cells.h"
#include "backends/cupti/hub.h"
#include "base/clock.h"
#include "base/error.h"
#include "fake_cuda/fake.h"

namespace gpu {

using proton::cupti::Hub;
using proton::cupti::SinkOptions;

inline constexpr int64_t kSecond = 1'000'000'000;

/// The hub with the fake driver loaded.
inline Hub& hub() {
  static Hub& loaded = [&]() -> Hub& {
    host::install();
    Hub& hub = Hub::get();
    hub.load(fake::library_path(), fake::library_path());
    proton::ContextSource source{};
    source.shadow = []() noexcept { return proton::current_context_unlocked(); };
    source.python = []() noexcept { return proton::kRootPath; };
    source.thread_number = []() noexcept { return proton::current_thread_number(); };
    source.epoch = []() noexcept { return proton::process.epoch.load(); };
    source.is_with_lead = proton::is_with_lead_unlocked;
    source.forget_node = [](uint64_t node) noexcept {
      proton::process.captured_metrics.forget(node);
    };
    proton::process.graphs = {proton::cupti::captured_count,
                              proton::cupti::captured_since,
                              proton::cupti::metrics_node_since,
                              Hub::attach_metrics,
                              Hub::captured_contexts,
                              Hub::move_contexts,
                              &proton::cupti::lead_captured_count()};
    hub.set_source(source);
    return hub;
  }();
  return loaded;
}

/// PROTON_LONG=1: ten times as much work.
inline uint64_t scaled(uint64_t count) {
  return std::getenv("PROTON_LONG") != nullptr ? 10 * count : count;
}

/// Until it is true, ten seconds at most.
template <typename Claim>
bool eventually(Claim claim) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!claim()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// A kernel's row.
struct Row {
  int64_t count = 0;
  int64_t time_ns = 0;

  bool operator==(const Row&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.count << " runs, " << row.time_ns << " ns";
}

using Rows = std::map<std::string, Row>;

inline std::ostream& operator<<(std::ostream& out, const Rows& rows) {
  for (const auto& [path, row] : rows) out << "\n    " << path << ": " << row;
  return out;
}

/// What was lost, as text; "" is nothing.
inline std::string describe(const std::map<std::string, uint64_t>& losses) {
  std::string text;
  for (const auto& [kind, count] : losses) text += kind + ": " + std::to_string(count) + " ";
  return text;
}

/// A session on the hub, from its start to its end.
class Recording {
 public:
  explicit Recording(SinkOptions options = {}, proton::DataKind data = proton::DataKind::kTree,
                     size_t buffer_bytes = 0) {
    hub();
    const std::lock_guard gil(host::gil());
    proton::process.threads.lead(host::thread());
    session_ = std::make_unique<proton::Session>(next_id(), proton::ContextKind::kShadow, data);
    try {
      hub().start(session_->device, options, buffer_bytes);
      session_->set_launch_counter(proton::cupti::newest_correlation);
      session_->host.activate();
      warnings = hub().set_active(session_->device, true);
    } catch (...) {
      session_->host.deactivate();
      hub().stop(session_->device);
      session_->host.close();
      throw;
    }
  }
  ~Recording() {
    if (session_ != nullptr) close();
  }

  void set_active(bool is_active) {
    const std::lock_guard gil(host::gil());
    if (is_active) session_->host.activate();
    hub().set_active(session_->device, is_active);
    if (!is_active) session_->host.deactivate();
  }

  bool flush(int64_t limit_ns = 60 * kSecond) { return hub().flush(limit_ns, true); }

  /// Paths and sums of all kernels, copies and graphs so far.
  Rows rows(int phase = 0) {
    flush();
    const std::lock_guard gil(host::gil());
    const proton::CallTree tree = host::tree(*session_, phase, {});
    Rows found;
    std::vector<std::pair<uint32_t, std::string>> pending{{0, ""}};
    while (!pending.empty()) {
      const auto [row, path] = pending.back();
      pending.pop_back();
      for (const uint32_t child : tree.nodes[row].children) {
        const std::string& name = *tree.nodes[child].name;
        pending.emplace_back(child, path.empty() ? name : path + "/" + name);
      }
      const auto count = host::metric(tree, row, "count");
      if (row == 0 || std::get<int64_t>(count) < 0) continue;
      const auto time = host::metric(tree, row, "time (ns)");
      found[path] = {std::get<int64_t>(count), std::get<int64_t>(time)};
    }
    return found;
  }

  std::map<std::string, uint64_t> losses() {
    flush();
    return session_->count_losses();
  }

  proton::Session& session() { return *session_; }

  std::vector<std::string> warnings;

  /// Stops and forgets, as `finalize` does.
  void close() {
    const std::lock_guard gil(host::gil());
    hub().set_active(session_->device, false);
    session_->host.deactivate();
    hub().stop(session_->device);
    session_->host.close();
    session_.reset();
  }

 private:
  static int64_t next_id() {
    static int64_t id = 0;
    return id++;
  }
  std::unique_ptr<proton::Session> session_;
};

/// A scope of the calling thread.
class Scope {
 public:
  explicit Scope(const char* name) {
    const std::lock_guard gil(host::gil());
    host::enter(name);
  }
  ~Scope() {
    const std::lock_guard gil(host::gil());
    host::leave();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

inline uint32_t launch(const char* name, uint64_t time_ns = 10, void* stream = nullptr) {
  static const auto call = FAKE(fake_launch);
  return call(name, time_ns, stream);
}

inline int64_t counter(const char* name) { return FAKE(fake_counter)(name); }

/// Options, failures and counters as new; every test begins with it.
inline void begin() {
  hub();
  FAKE(fake_clear)();
}

inline void set(const char* option, int64_t value) {
  if (FAKE(fake_set_option)(option, value) != 0) std::abort();
}

}  // namespace gpu
