#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# same_result.sh ORRERY TIMELINE_DIFF MPIEXEC SCENARIO [--set ...]: one digest and one content for 1, 2, 3, 4, 7
# processes, each number with another partition.
set -euo pipefail
orrery=$1 diff=$2 mpiexec=$3 scenario=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run NAME PROCESSES OPTIONS...: runs and compares with the first run
run() {
    local name=$1 processes=$2
    shift 2
    "$mpiexec" -n "$processes" "$orrery" run "$scenario" "$@" --out "$work/$name" > "$work/$name.screen"
    local digest
    digest=$(tail -n 1 "$work/$name.screen")
    [[ $digest =~ ^digest:\ [0-9a-f]{32}$ ]] || { echo "$name: last line is '$digest'"; exit 1; }
    echo "$name: $digest"
    if [ ! -e "$work/first" ]; then
        echo "$digest" > "$work/first"
        ln -s "$work/$name/run.h5" "$work/first.h5"
        return
    fi
    [ "$digest" = "$(cat "$work/first")" ] || { echo "$name: another digest"; exit 1; }
    "$diff" "$work/first.h5" "$work/$name/run.h5" || { echo "$name: other content"; exit 1; }
    rm -r "${work:?}/$name"
}

run alone 1 "$@"
run blocks_on_2 2 "$@"
run metis_on_3 3 "$@" --partition metis
run round_robin_on_4 4 "$@" --partition round_robin
run random_on_7 7 "$@" --partition random
