#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: run.sh [OPTION of `orrery run` ...]
# From a bare Debian 12 to a result: installs what is missing, builds, and simulates one decoding step of DeepSeek-R1
# on a CloudMatrix384 super-node on two MPI processes. The results replace those of an earlier call.
source "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

"$root/scripts/setup.sh"
build=$("$root/scripts/build.sh" orrery)
out=$(writable out/cloudmatrix384_decode)
for argument in "$@"; do
    case $argument in --out | --out=*) out= ;; esac
done
exec "$root/scripts/mpirun.sh" -n 2 "$build/apps/orrery" run "$root/scenarios/cloudmatrix384_decode.yaml" --progress \
    ${out:+--out "$out" --force} "$@"
