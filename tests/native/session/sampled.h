/// Samples for tests: a module whose code knows its lines, and batches made by hand.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host.h"
#include "model/sampled_code.h"
#include "session/booking/session.h"
#include "session/scopes/process.h"

namespace sampled {

inline constexpr uint64_t kModule = 7;  // has lines
inline constexpr uint64_t kBare = 8;    // has none
inline const std::vector<std::string> kReasons = {"selected", "long_scoreboard", "not_selected",
                                                  "no_instructions", "warpgroup_arrive"};

/// How long functions of kModule and kBare are; 0: nobody knows.
inline uint32_t code_bytes = 0;

/// pc 16: user.py:10. pc 32: lib.py:3 inlined into user.py:10. pc 48: lib.py:3 inlined into
/// user.py:11. Others: nowhere.
class Code : public proton::SampledCode {
 public:
  explicit Code(bool has_lines) : has_lines_(has_lines) {}
  uint32_t architecture() const override { return 90; }
  uint32_t locate(uint32_t pc) const override {
    return has_lines_ && pc >= 16 && pc <= 48 ? pc / 16 : 0;
  }
  std::vector<proton::SourceFrame> frames(uint32_t location) const override {
    std::vector<proton::SourceFrame> frames = {{"user.py", location == 3 ? 11u : 10u, ""}};
    if (location > 1) frames.push_back({"lib.py", 3, location == 2 ? "helper" : ""});
    return frames;
  }
  uint32_t size() const override { return code_bytes; }
  std::span<const std::byte> instruction(uint32_t) const override {
    static const std::byte kCode[16] = {std::byte{1}, std::byte{2}, std::byte{0xff}};
    return kCode;
  }

 private:
  bool has_lines_;
};

/// While it lives, the process knows the code of kModule and kBare.
struct Modules {
  explicit Modules(uint32_t bytes = 0) {
    code_bytes = bytes;
    proton::process.find_code = [](uint64_t module, std::string_view) {
      std::shared_ptr<const proton::SampledCode> code;
      if (module == kModule || module == kBare) code = std::make_shared<Code>(module == kModule);
      return code;
    };
  }
  ~Modules() { proton::process.find_code = nullptr; }
};

struct Pc {
  std::string function;
  uint32_t pc;
  std::vector<uint32_t> samples;
  std::vector<uint32_t> latency = {};
  uint64_t module = kModule;
};

inline void report(proton::Session& session, const std::vector<Pc>& pcs, uint32_t device = 0,
                   const std::vector<std::string>& reasons = kReasons) {
  std::vector<proton::SampledPc> plain;
  for (const Pc& pc : pcs) {
    plain.push_back({pc.module, pc.function, pc.pc, pc.samples, pc.latency});
  }
  session.device.on_samples({"FAKE", device, reasons, plain});
}

/// A kernel that ran in a scope.
inline void run(proton::Session& session, const char* scope, const char* kernel,
                int64_t duration_ns, uint32_t device = 0) {
  host::enter(scope);
  proton::KernelEvent event = host::kernel(proton::current_context_unlocked(), duration_ns);
  event.name = kernel;
  event.name_id = 0;
  event.device_id = device;
  session.device.on_events({&event, 1});
  host::leave();
}

inline int64_t count(const proton::CallTree& tree, const std::string& path,
                     const char* key = "num_samples") {
  const uint32_t row = host::row_of(tree, path);
  return row == 0 ? -2 : std::get<int64_t>(host::metric(tree, row, key));
}

/// The sum of a metric over all rows.
inline int64_t total(const proton::CallTree& tree, const char* key) {
  int64_t sum = 0;
  for (const proton::Metric& metric : tree.metrics) {
    if (*metric.key == key) sum += std::get<int64_t>(metric.value);
  }
  return sum;
}

inline const proton::Value& at(const proton::Value::Map& map, const std::string& key) {
  static const proton::Value kNone{};
  for (const auto& [name, value] : map) {
    if (name == key) return value;
  }
  return kNone;
}
inline int64_t number(const proton::Value& value) { return std::get<int64_t>(value.data); }
inline const proton::Value::List& list(const proton::Value& value) {
  return std::get<proton::Value::List>(value.data);
}
inline const proton::Value::Map& map(const proton::Value& value) {
  return std::get<proton::Value::Map>(value.data);
}
inline const std::string& text(const proton::Value& value) {
  return std::get<std::string>(value.data);
}

}  // namespace sampled
