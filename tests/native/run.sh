#!/bin/sh
# Configures, builds and runs the native tests: run.sh [plain|address|thread] [ctest arguments].
# `address` also turns on the undefined-behaviour sanitizer. Builds in build/{native,asan,tsan}, or,
# with PROTON_UNITY=ON (fast from nothing, slow after a change), in build/{native,asan,tsan}-unity.
set -eu

kind="${1:-plain}"
[ $# -gt 0 ] && shift
root="$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)"
run=""
case "$kind" in
  plain) folder=native sanitize=OFF ;;
  address) folder=asan sanitize=address ;;
  thread)
    folder=tsan sanitize=thread
    # ThreadSanitizer's shadow memory clashes with kernels that randomise addresses widely
    # (vm.mmap_rnd_bits above 28): run without randomisation where that is allowed.
    if setarch "$(uname -m)" -R true 2>/dev/null; then run="setarch $(uname -m) -R"; fi
    ;;
  *)
    echo "run.sh: unknown kind '$kind'; choose one of 'plain', 'address', 'thread'" >&2
    exit 2
    ;;
esac
unity="${PROTON_UNITY:-OFF}"
if [ "$unity" = ON ]; then folder="$folder-unity"; fi
build="$root/build/$folder"
generator=""
if [ ! -f "$build/CMakeCache.txt" ] && command -v ninja >/dev/null; then generator="-G Ninja"; fi

# shellcheck disable=SC2086  # empty means no words
cmake -S "$root/tests/native" -B "$build" $generator -DPROTON_SANITIZE=$sanitize \
  -DPROTON_UNITY="$unity" -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null
cmake --build "$build" --parallel "${PROTON_JOBS:-2}"
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1:strict_string_checks=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}"
# shellcheck disable=SC2086
exec $run ctest --test-dir "$build" --parallel "${PROTON_JOBS:-2}" --output-on-failure "$@"
