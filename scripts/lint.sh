#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: lint.sh [FOLDER ...]   (default: all)
# clang-format on every source, clang-tidy on every source outside tests/ and bench/. Changes nothing.
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

"$root/scripts/setup.sh" lint
cd "$root"
[ $# -gt 0 ] || set -- apps bench core io netmodels partitions tests workloads
find "$@" -name '*.[ch]pp' -print0 | xargs -0 clang-format-19 --dry-run -Werror
# The schema's headers are generated, so they must be there before clang-tidy reads what includes them.
build=$("$root/scripts/build.sh" orrery_proto)
find "$@" -name '*.cpp' -not -path 'tests/*' -not -path 'bench/*' -print0 |
    xargs -0 --no-run-if-empty -n 1 -P "$(compile_jobs)" clang-tidy-19 --quiet -p "$build"
say "clang-format and clang-tidy have nothing to say."
