#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: test.sh [OPTION of ctest ...]
# Installs what is missing, builds everything and runs the whole test suite, the tests under mpirun included.
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

"$root/scripts/setup.sh" test
build=$("$root/scripts/build.sh")
exec ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$(nproc)" "$@"
