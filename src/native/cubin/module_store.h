/// The cubins of modules that the process has loaded while instructions were sampled, by the number
/// that samples carry. One for the process: a module stays loaded from session to session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cubin/cubin.h"

namespace proton::cubin {

/// Any thread may call anything.
class ModuleStore {
 public:
  /// Of all together; modules that come later are not kept, and have no lines.
  static constexpr size_t kByteLimit = size_t{1} << 30;

  static ModuleStore& get();

  /// Copies it; `ptx` is the text it was made of, where that is at hand. False: it is known, with
  /// as much beside it, or there is no room.
  bool add(uint64_t crc, std::string_view image, std::string_view ptx = {});

  /// Parsed when it is first asked for. Null: nobody has given it, or it is no cubin.
  std::shared_ptr<const Cubin> find(uint64_t crc);

  size_t size();
  void reset_after_fork();

 private:
  struct Module {
    std::vector<std::byte> image;  // until it is parsed
    std::string ptx;
    std::shared_ptr<const Cubin> cubin;
    bool is_parsed = false;
    bool has_ptx = false;
    size_t byte_count = 0;
  };
  std::mutex mutex_;
  std::unordered_map<uint64_t, Module> modules_;
  size_t byte_count_ = 0;
};

}  // namespace proton::cubin
