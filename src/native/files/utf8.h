/// UTF-8 checking: files hold valid text only, whatever names the program gave.
#pragma once

#include <string>
#include <string_view>

namespace proton {

/// True where every byte of `text` is part of valid UTF-8 (no surrogates, nothing overlong).
bool is_valid_utf8(std::string_view text);

/// `text` with U+FFFD for every maximal invalid part, as Python's errors="replace" does.
std::string replace_invalid_utf8(std::string_view text);

}  // namespace proton
