# SPDX-License-Identifier: Apache-2.0
# A Slurm of one node on this machine, for tests; to be sourced. start_slurm DIR starts it with everything below DIR, or
# sets slurm_problem and returns 1; stop_slurm ends what was started. Needs root; listens on loopback only.
# shellcheck shell=bash
slurm_pids=()

# started FILE: remembers the process whose number a daemon wrote to FILE, once it has.
started() {
    for _ in $(seq 50); do
        if [ -s "$1" ]; then
            slurm_pids+=("$(cat "$1")")
            return 0
        fi
        sleep 0.1
    done
    return 1
}

stop_slurm() {
    local pid
    for pid in "${slurm_pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${slurm_pids[@]}"; do
        for _ in $(seq 50); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL "$pid" 2>/dev/null || true
    done
    slurm_pids=()
}

# A port that nobody listens on, of the range below those that the system hands out.
free_port() {
    local port
    for _ in $(seq 50); do
        port=$((20000 + RANDOM % 10000))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || {
            echo "$port"
            return
        }
    done
}

start_slurm() {
    local root=$1 program host cpus
    slurm_problem=
    for program in munged slurmctld slurmd sbatch srun squeue scontrol runuser; do
        PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || {
            slurm_problem="no $program here (packages slurmctld, slurmd, slurm-client, munge)"
            return 1
        }
    done
    [ "$(id -u)" -eq 0 ] || { slurm_problem="only root can start munged as its own user" && return 1; }
    host=$(hostname)
    cpus=$(nproc)
    mkdir -p "$root"/{state,spool,munge}
    chmod 755 "$root"
    head -c 128 /dev/urandom >"$root/munge/key"
    chown -R munge:munge "$root/munge"
    chmod 755 "$root/munge"
    chmod 400 "$root/munge/key"
    runuser -u munge -- /usr/sbin/munged --key-file="$root/munge/key" --socket="$root/munge/socket" \
        --pid-file="$root/munge/pid" --log-file="$root/munge/log" --seed-file="$root/munge/seed" --force \
        2>"$root/munge.err" && started "$root/munge/pid" || {
        slurm_problem="munged did not start: $(tail -n 1 "$root/munge.err")"
        return 1
    }
    cat >"$root/slurm.conf" <<EOF
ClusterName=orrery
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$root/munge/socket
CommunicationParameters=NoAddrCache,NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=$root/state
SlurmdSpoolDir=$root/spool
SlurmctldPidFile=$root/slurmctld.pid
SlurmdPidFile=$root/slurmd.pid
SlurmctldLogFile=$root/slurmctld.log
SlurmdLogFile=$root/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2
ReturnToService=2
KillWait=5
MpiDefault=none
NodeName=node NodeHostname=$host NodeAddr=127.0.0.1 Port=$(free_port) CPUs=$cpus RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=FORCE:4 State=UP
EOF
    export SLURM_CONF=$root/slurm.conf
    setsid /usr/sbin/slurmctld -c </dev/null >"$root/daemons.err" 2>&1 && started "$root/slurmctld.pid" || {
        slurm_problem="slurmctld did not start: $(tail -n 1 "$root/daemons.err")"
        return 1
    }
    setsid /usr/sbin/slurmd -N node </dev/null >>"$root/daemons.err" 2>&1 && started "$root/slurmd.pid" || {
        slurm_problem="slurmd did not start: $(tail -n 1 "$root/daemons.err" "$root/slurmd.log" | tr '\n' ' ')"
        return 1
    }
    for _ in $(seq 100); do
        [ "$(sinfo --noheader --states=idle --format=%D 2>/dev/null)" = 1 ] && return 0
        sleep 0.1
    done
    slurm_problem="the node did not become idle: $(tail -n 1 "$root/slurmctld.log")"
    return 1
}
