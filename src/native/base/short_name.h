/// Names of kernels in the room that people have for them, as `shorten_cpp` in
/// src/proton/render/demangle.py gives them: a test holds the two equal. Both are there because
/// profiles are read without this core as well.
#pragma once

#include <cstddef>
#include <string>

namespace proton {

/// Columns for the template arguments of a shortened name.
inline constexpr size_t kArgumentRoom = 40;

/// `void a::f<4, b::C<int> >(int)` -> `a::f<4, C<int>>`: return type and parameters go, template
/// arguments lose their namespaces and, past a room, their tail. What does not look like a C++
/// function stays as it is.
std::string shorten_declaration(const std::string& declaration, size_t room = kArgumentRoom);

/// The shortened declaration behind a C++ symbol; any other name as it is.
std::string short_name(const std::string& name);

}  // namespace proton
