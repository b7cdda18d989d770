#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: build.sh [TARGET ...]   (default: everything)
# Configures the release preset, without the benchmarks, into build/release and builds. Prints the build directory as its
# last line of output.
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

build=$(writable build/release)
command -v cmake >/dev/null || fail "No cmake here: run scripts/setup.sh first."
fresh=()
# A tree that was moved or copied brings a cache that points to its old place.
if [ -f "$build/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
    fresh=(--fresh)
fi
mkdir -p "$build"
log=$build/configure.log
(cd "$root" && cmake --preset release -DORRERY_PRECOMPILE=ON -DORRERY_BENCH=OFF -B "$build" "${fresh[@]}") >"$log" 2>&1 || {
    cat "$log" >&2
    fail "cmake could not configure $root (its message is above)."
}
targets=()
[ $# -eq 0 ] || targets=(--target "$@")
cmake --build "$build" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(compile_jobs)}" "${targets[@]}" >&2 ||
    fail "The build in $build failed (the compiler's message is above)."
printf '%s\n' "$build"
