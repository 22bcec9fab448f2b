/// Compression by the system's zlib, which is opened when first needed and never linked: without it
/// files are larger, not missing.
#pragma once

#include <string>
#include <string_view>

namespace proton {

/// False where this process finds no zlib.
bool can_deflate();

/// Puts `bytes` as one zlib stream into `out`; false where there is no zlib, or it refused.
bool deflate_bytes(std::string_view bytes, std::string& out);

}  // namespace proton
