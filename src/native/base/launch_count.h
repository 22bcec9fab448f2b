/// How many launches the calling thread has made, as far as a backend counts them: every scope
/// reads it at its entry, in place. Backends that count say where; it stays 0 where none does.
#pragma once

#include <atomic>
#include <cstdint>

namespace proton {

inline constinit std::atomic<uint64_t> no_launches{0};

inline constinit thread_local const std::atomic<uint64_t>* this_launch_count
    __attribute__((tls_model("initial-exec"))) = &no_launches;

}  // namespace proton
