#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# slurm_test.sh ORRERY SOURCE_DIR: a real Slurm of one node. A job meets its time limit, queues itself again, resumes and
# ends with the digest of an uninterrupted run; SIGTERM to the processes of srun stops them with a checkpoint.
# Exits 77, with the reason, where Slurm cannot be started.
set -euo pipefail
orrery=$1 source=$2
work=$(mktemp -d)
chmod 755 "$work" # munged has a user of its own
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
source "$source/tests/slurm/one_node_slurm.sh"
trap 'stop_slurm; rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*"
    tail -n 40 "$work"/*.log || true
    exit 1
}
# until_true SECONDS COMMAND...: until it succeeds.
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.2
    done
}
state() { scontrol show job "$1" | sed -n 's/.*JobState=\([A-Z]*\).*/\1/p'; }
in_state() { [ "$(state "$1")" = "$2" ]; }
digest() { sed -n 's/^  "digest": "\(.*\)",$/\1/p' "$1/summary.json"; }

start_slurm "$work/slurm" || {
    echo "skipped: $slurm_problem"
    exit 77
}
srun --mpi=list 2>&1 | grep -qw pmix || {
    echo "skipped: this Slurm has no pmix plugin"
    exit 77
}

# 16 ranks, 10,000 layers: some six CPU seconds.
cat >"$work/model.json" <<'EOF'
{"model_type": "qwen3_moe", "num_hidden_layers": 10000, "hidden_size": 1024, "num_attention_heads": 16,
 "num_key_value_heads": 4, "head_dim": 64, "num_experts": 32, "num_experts_per_tok": 4, "moe_intermediate_size": 512,
 "intermediate_size": 2048, "decoder_sparse_step": 1, "mlp_only_layers": [0], "vocab_size": 32000}
EOF
cat >"$work/long.yaml" <<'EOF'
name: long
seed: 1
fabric: {kind: single_switch, single_switch: {hosts: 16}}
workload: {model: model.json, batch_per_rank: 24, context: 1024, ep: 8, ep_groups: 2, microbatches: 2}
output: {detail: layers}
EOF
cd "$work"

# Limits are whole minutes. So that nobody has to wait for one: the end of the job is moved before the program looks.
cat >"$work/orrery" <<EOF
#!/bin/bash
until [ -e "$work/go" ]; do sleep 0.1; done
exec "$orrery" "\$@"
EOF
chmod +x "$work/orrery"
job=$(ORRERY=$work/orrery ORRERY_OUT=$work/out sbatch --parsable --ntasks=2 --overcommit --time=1 --output="$work/job.log" \
    "$source/scripts/slurm/orrery.sbatch" long.yaml)
until_true 20 in_state "$job" RUNNING || fail "the job did not start"
scontrol update jobid="$job" EndTime=now+6
touch "$work/go"
"$orrery" run long.yaml --out whole --quiet || fail "the run without Slurm"
until_true 30 in_state "$job" PENDING || fail "the job did not queue itself again"
[ -d out/checkpoints ] && grep -q 'ended with 4' job.log || fail "no checkpoint at the time limit"
# A requeued job waits for two minutes; on a busy machine it may meet its limit more than once.
go_on() {
    if in_state "$job" PENDING; then scontrol update jobid="$job" starttime=now 2>/dev/null || true; fi
    in_state "$job" COMPLETED
}
until_true 150 go_on || fail "the job that was queued again is $(state "$job")"
grep -q ' resume ' job.log || fail "the next start did not resume"
[ "$(digest out)" = "$(digest whole)" ] || fail "digest $(digest out), not $(digest whole)"
echo "requeued and resumed: $(digest out)"

# SIGTERM from scancel reaches the processes that srun has started.
job=$(ORRERY=$orrery ORRERY_OUT=$work/stopped sbatch --parsable --ntasks=2 --overcommit --time=5 --output="$work/term.log" \
    "$source/scripts/slurm/orrery.sbatch" long.yaml)
until_true 20 test -e "$work/stopped/parts/l000.p0001.h5" || fail "the second job did not start"
scancel --signal=TERM "$job"
until_true 20 grep -q 'ended with' term.log || fail "SIGTERM did not stop it"
grep -q 'ended with 4' term.log && [ -d stopped/checkpoints ] || fail "SIGTERM left no checkpoint"
scancel --quiet "$job" || true
"$orrery" resume stopped --quiet || fail "cannot resume what SIGTERM stopped"
[ "$(digest stopped)" = "$(digest whole)" ] || fail "digest $(digest stopped) after SIGTERM, not $(digest whole)"
echo "stopped under srun and resumed: $(digest stopped)"
