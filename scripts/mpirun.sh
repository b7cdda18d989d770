#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Usage: mpirun.sh -n PROCESSES COMMAND ...   (installed as orrery-mpirun)
# mpirun as one wants it on a single machine: as root in a container, with more processes than cores, quietly. Whatever
# is already set in the environment wins. On a cluster use the scheduler's own mpirun or srun (docs/hpc.md).
set -euo pipefail

command -v mpirun >/dev/null || {
    echo "No mpirun here: install openmpi-bin (scripts/setup.sh does)." >&2
    exit 1
}
if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# More processes than cores; no binding, or two runs at a time share core 0; give way while waiting.
export OMPI_MCA_rmaps_base_oversubscribe=${OMPI_MCA_rmaps_base_oversubscribe:-1}
export OMPI_MCA_hwloc_base_binding_policy=${OMPI_MCA_hwloc_base_binding_policy:-none}
export OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1}
# Shared memory without the single-copy mechanism, which containers forbid; not under a scheduler, which knows more nodes.
if [ -z "${SLURM_JOB_ID:-}${PBS_JOBID:-}${LSB_JOBID:-}" ]; then
    export OMPI_MCA_btl=${OMPI_MCA_btl:-self,vader}
    export OMPI_MCA_btl_vader_single_copy_mechanism=${OMPI_MCA_btl_vader_single_copy_mechanism:-none}
fi
# mpirun answers SIGTERM and SIGINT by killing everything within a second or two. They go to the processes on this node
# instead: one that knows is enough for all of them to stop together and write their checkpoint.
setsid mpirun "$@" &
mpirun=$!
signalled=
trap 'signalled=1; pkill -TERM -P "$mpirun" || true' TERM INT HUP
trap 'signalled=1; kill -USR1 "$mpirun"' USR1
trap 'signalled=1; kill -USR2 "$mpirun"' USR2
while true; do
    code=0
    wait "$mpirun" || code=$?
    [ -n "$signalled" ] || exit "$code"  # otherwise the wait may have been interrupted
    signalled=
done
