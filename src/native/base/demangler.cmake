# GCC's runtime can demangle a name piece by piece, so that a hostile one can be stopped; the entry is
# in its static library only. Sets `demangler` to what is linked for it, empty where it is not there.
# Another compiler's runtime has no such entry: PROTON_DEMANGLER can name a library with that one object.
include(CheckCXXSourceCompiles)
set(PROTON_DEMANGLER -l:libsupc++.a CACHE STRING "library that has GCC's demangler")
set(CMAKE_REQUIRED_FLAGS "-fPIC")
set(CMAKE_REQUIRED_LINK_OPTIONS -shared -Wl,--no-undefined)
set(CMAKE_REQUIRED_LIBRARIES ${PROTON_DEMANGLER})
check_cxx_source_compiles("
  #include <cstddef>
  extern \"C\" int __gcclibcxx_demangle_callback(const char*,
                                               void (*)(const char*, size_t, void*), void*);
  int demangle(const char* name, void (*take)(const char*, size_t, void*)) {
    return __gcclibcxx_demangle_callback(name, take, nullptr);
  }" PROTON_HAS_DEMANGLE_CALLBACK)
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
unset(CMAKE_REQUIRED_LIBRARIES)
set(demangler)
if(PROTON_HAS_DEMANGLE_CALLBACK)
  set(demangler ${PROTON_DEMANGLER})
  set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/demangle.cpp" PROPERTIES
    COMPILE_DEFINITIONS PROTON_DEMANGLE_BY_CALLBACK SKIP_UNITY_BUILD_INCLUSION ON)
endif()
