#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Orrery with published measurements of CloudMatrix384 and prints the tables of docs/accuracy.md.

    scripts/accuracy.py [--orrery BINARY] [--data DIR] [--write | --fit]

BINARY is build/release/apps/orrery by default. DIR holds groundtruth/*.csv: ORRERY_SHARED_DATA, else ../shared/data beside the
checkout. --write puts the tables into docs/accuracy.md; --fit prints the constants that would meet the fitted rows
exactly, for comparison with those in workloads/operators/. Needs nothing but Python; takes one or two minutes. Rows
of split `calib` may have been used to fit a constant (docs/operators.md says which); rows of split `valid` never were.
"""
import argparse
import contextlib
import csv
import functools
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ["cann_ep_vs_deepep", "sgl_kernel_npu_deepep", "stratacl_ubep", "xdeepserve", "cloudmatrix_infer",
           "cm384_fabric_p2p", "ascend_memfabric_a3"]

MARKER = "<!-- What follows is written by scripts/accuracy.py --write -->"

# Bytes of one message as the test programs of the two DeepEP modes count them (hidden size 7,168): low latency
# hidden + 4 per 128 + 16, normal 2 hidden x (1 + 4/128) / 2. The other sources do not say: what Orrery sends.
COUNTED = {"deepep": {"dispatch": 7408, "combine": 14336}, "deepep_normal": {"dispatch": 7392, "combine": 14336}}
SENT = {"dispatch": 7680, "combine": 14336}


def error(sets):
    """Exact shares for small groups; for large ones within 1 %, which costs a part of the time."""
    return "exact" if any(f"workload.ep={ep}" in sets for ep in (8, 16, 32, 64)) else "1%"


class Simulator:
    """Runs scenarios; equal runs are done once."""

    def __init__(self, binary):
        self.binary = binary
        self.env = dict(os.environ)
        if os.geteuid() == 0:  # Open MPI wants to be told twice
            self.env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    @functools.lru_cache(maxsize=None)
    def run(self, scenario, *sets):
        with tempfile.TemporaryDirectory() as directory:
            command = [self.binary, "run", str(ROOT / "scenarios" / scenario), "--out", directory + "/out", "--quiet"]
            for item in ("output.detail=summary", f"network.flow.error={error(sets)}") + sets:
                command += ["--set", item]
            done = subprocess.run(command, env=self.env, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{' '.join(command)}\n{done.stderr}")
            summary = json.loads(pathlib.Path(directory, "out", "summary.json").read_text())
        return summary["step_time_s"], {o["name"]: o for o in summary["operations"]}

    def operator(self, kind, *sets):
        """Mean over ranks of one operator in one layer with uniform routing, less the wait for late starters; in us."""
        operation = self.run("cloudmatrix384_decode.yaml", "workload.moe_layers=1", "workload.routing.source=uniform",
                             "workload.experts.placement=contiguous", *sets)[1][kind]
        return (operation["mean_s"] - operation["wait_mean_s"]) * 1e6

    def check(self, *sets):
        command = [self.binary, "check", str(ROOT / "scenarios" / "cloudmatrix384_decode.yaml")]
        for item in sets:
            command += ["--set", item]
        return subprocess.run(command, env=self.env, capture_output=True, text=True, check=True).stdout


def plain_ep(variant, ep):
    """No replicas and no dedicated shared expert: every token has eight messages."""
    return (f"workload.operators.variant={variant}", f"workload.ep={ep}", "workload.experts.redundant=0",
            "workload.experts.shared=local")


LOW_LATENCY = ("workload.batch_per_rank=128",)
NORMAL = ("workload.phase=prefill", "workload.batch_per_rank=1", "workload.context=4096")
# 256 routed experts and 32 copies of the shared one on 288 dies; 60 sequences of two tokens per die (MTP1). The skew of
# the measured load is not published: uniform.
XCCL = ("workload.operators.variant=pull", "workload.ep=288", "workload.experts.redundant=0",
        "workload.batch_per_rank=60", "workload.tokens_per_sequence=2", "workload.context=3072",
        "workload.routing.source=uniform", "workload.experts.placement=contiguous")
OUTSIDE_LAYERS_MS = 7  # embedding, sampling, MTP layer, host: "one step is 61 layers and about 7 ms", arXiv:2506.12708


class Skip(Exception):
    """Why Orrery has no prediction for a row."""


def exchange(simulator, row, variant, sets, kind, tokens, counted):
    time = simulator.operator(kind, *plain_ep(variant, row["ep"]), *sets)
    if row["metric"] == "latency":
        return time
    return tokens * 8 * counted[kind] / time * 1e-3  # GB/s


def kind_of(row):
    return "dispatch" if "dispatch" in row["workload"] else "combine"


def cann_ep_vs_deepep(simulator, row):
    return exchange(simulator, row, "fused", LOW_LATENCY, kind_of(row), 128, SENT)


def sgl_kernel_npu_deepep(simulator, row):
    if row["workload"].startswith("LL"):
        return exchange(simulator, row, "deepep", LOW_LATENCY, kind_of(row), 128, COUNTED["deepep"])
    return exchange(simulator, row, "deepep_normal", NORMAL, kind_of(row), 4096, COUNTED["deepep_normal"])


def stratacl_ubep(simulator, row):
    if row["system"] == "CANN EP":
        if " LL" in row["workload"]:  # the table does not name the batch: 128 as in the other tables of this stack
            return exchange(simulator, row, "fused", LOW_LATENCY, kind_of(row), 128, SENT)
        return exchange(simulator, row, "deepep_normal", NORMAL, kind_of(row), 4096, SENT)
    if "zerocopy" in row["system"] and "CANN EP" in row["system"]:
        raise Skip("a third operator (no copy at either end) that has no variant")
    if row["workload"] == "MoE comm":
        raise Skip("share of a serving system whose batch, context and EP are not given")
    if "AIV latency" in row["workload"]:
        raise Skip("latency of single vector cores under a mapping of experts to cores; cores are not modelled singly")
    if row["workload"] in ("TFF payload efficiency", "SyncAll"):
        raise Skip("an input of the model" if row["workload"] == "SyncAll" else "a protocol without a variant")
    raise Skip("ring, full-mesh or overlapped HCCL collectives: no such workload yet")


def xdeepserve(simulator, row):
    if row["workload"] in ("dispatch in decode", "combine in decode"):
        kind = kind_of(row)
        if row["metric"] == "latency_min":
            return simulator.operator(kind, *XCCL)
        operation = simulator.run("cloudmatrix384_decode.yaml", "workload.moe_layers=4", *XCCL)[1][kind]
        return operation["mean_s"] * 1e6  # waits included, as in the source
    if row["workload"] == "decode kernel share":
        operations = simulator.run("cloudmatrix384_decode.yaml", "workload.moe_layers=4", *XCCL)[1]
        total = sum(o["mean_s"] for o in operations.values())
        if row["params"] in ("MoE-Dispatch", "MoE-Combine"):
            return 100 * operations[row["params"][4:].lower()]["mean_s"] / total
        raise Skip("the profile splits compute by kernel, Orrery by operation: " + row["params"] +
                   " is part of several operations")
    if row["workload"] in ("decode iteration", "decode colocated"):
        step_ms = xccl_step_ms(simulator)
        if row["metric"] == "iteration_time":
            return step_ms
        per_token_ms = (step_ms + 2) / 1.9  # a bubble of 2 ms (XDS-012); acceptance 0.9
        if row["metric"] == "TPOT":
            return per_token_ms
        die = 60 / per_token_ms * 1e3
        return die * (2 if row["metric"] == "throughput_per_chip" else 288)
    if row["workload"] in ("A2E (trampoline)", "E2A (trampoline)") or "disagg" in row["workload"]:
        raise Skip("attention and experts on different dies: no such workload yet")
    if row["workload"] == "send/recv p2p":
        raise Skip("a point-to-point primitive; the workload has collective exchanges only")
    if row["workload"] == "decode iteration gap":
        raise Skip("host scheduling, added to TPOT as given")
    if row["workload"] == "EPLB":
        raise Skip("a gain over a batch sweep with a measured expert load that is not published")
    raise Skip("a property of the input (expert load)")


def xccl_step_ms(simulator):
    dense = simulator.run("cloudmatrix384_decode.yaml", "workload.moe_layers=4", *XCCL)
    # 58 MoE layers like those four; three dense layers are attention and a dense FFN, of which attention is nearly all.
    layer = dense[0] / 4
    attention = dense[1]["attention"]["mean_s"]
    return (58 * layer + 3 * attention) * 1e3 + OUTSIDE_LAYERS_MS


def best_decode(simulator, batch_per_npu, tokens_per_sequence):
    """With one or two micro-batches, whichever is faster: who serves a batch of 8 would not split it."""
    return min(decode(simulator, batch_per_npu, tokens_per_sequence, n) for n in (1, 2))


def decode(simulator, batch_per_npu, tokens_per_sequence, microbatches):
    """Duration of one MoE layer in us: CloudMatrix-Infer, EP320, prompt 4,096."""
    step, _ = simulator.run("cloudmatrix384_decode.yaml", "workload.moe_layers=4",
                            f"workload.batch_per_rank={batch_per_npu // 2}",
                            f"workload.tokens_per_sequence={tokens_per_sequence}",
                            f"workload.microbatches={microbatches}")
    return step * 1e6 / 4


def cloudmatrix_infer(simulator, row):
    if row["workload"] == "DeepSeek-R1 decode SLO sweep":
        batch = int(row["params"].split("batch per NPU ")[1].split(";")[0])
        tpot = (61e-3 * best_decode(simulator, batch, 2) + OUTSIDE_LAYERS_MS) / 1.7
        return tpot if row["metric"] == "TPOT" else batch / tpot * 1e3
    if row["workload"] == "decode layer latency":
        return best_decode(simulator, 96, 1 if row["params"] == "MTP off" else 2)
    if row["workload"] == "decode microbatch ablation":
        batch = 96 if "96" in row["params"] else 64
        one, two = decode(simulator, batch, 2, 1), decode(simulator, batch, 2, 2)
        if row["metric"] == "latency_reduction":
            return 100 * (1 - two / one)
        whole = [61e-3 * layer + OUTSIDE_LAYERS_MS for layer in (one, two)]
        return 100 * (whole[0] / whole[1] - 1)
    if row["workload"] == "decode MTP ablation":
        batch = 96 if "large" in row["params"] else 8
        off = 61e-3 * best_decode(simulator, batch, 1) + OUTSIDE_LAYERS_MS
        on = (61e-3 * best_decode(simulator, batch, 2) + OUTSIDE_LAYERS_MS) / 1.7
        return 100 * (off / on - 1)
    if row["workload"] == "DeepSeek-R1 prefill":
        source = "zipf" if "default" in row["params"] else "uniform"
        # 16,384 tokens per accelerator (NPU): two prompts of 4,096 per die. EP32: 8 routed experts, one replica and
        # one copy of the shared expert on each die. The hybrid parallelism of attention is not modelled.
        step, _ = simulator.run("cloudmatrix384_decode.yaml", "workload.moe_layers=4", "workload.phase=prefill",
                                "workload.batch_per_rank=2", "workload.context=4096", "workload.ep=32",
                                "workload.operators.variant=deepep_normal", "workload.microbatches=2",
                                f"workload.routing.source={source}")
        return 16384 / (step / 4 * 61)
    if row["workload"] == "decode stream latency":
        raise Skip("cores are not divided between streams")
    if row["workload"].startswith("prefill microbatch"):
        raise Skip("gain of a prefill pipeline that differs from the two streams here")
    if row["workload"].startswith(("EMS", "model load")):
        raise Skip("caching and loading: no such workload")
    raise Skip("an input of the device model (docs/models.md) or of this comparison")



class Routes:
    """Latencies and rates of single transfers, read from `orrery check`."""

    def __init__(self, simulator):
        text = simulator.check()
        found = re.findall(r"dies of (one package|one node|two nodes) .* hops, ([0-9.]+) (ns|us)", text)
        self.latency = {where: float(value) * (1e-3 if unit == "ns" else 1) for where, value, unit in found}
        links = int(re.search(r"dies of one node +(\d+) shortest", text).group(1))
        die = float(re.search(r"ub.die-l1.up .* links of ([0-9.]+) GB/s", text).group(1)) * links
        sio = float(re.search(r"sio.die-die .* links of ([0-9.]+) GB/s", text).group(1))
        self.port = {"one package": sio, "one node": die, "two nodes": die}
        self.efficiency = {"write": self.payload_share(simulator, "fused"),
                           "read": self.payload_share(simulator, "pull")}

    @staticmethod
    def payload_share(simulator, variant):
        text = simulator.check(f"workload.operators.variant={variant}")
        wire, payload = re.search(r"combine .*\((\d+) B per (\d+) B message\)", text).groups()
        return int(payload) / int(wire)

    def rate(self, where, how):
        return self.port[where] * self.efficiency[how]


def where_of(row):
    same_package = ("same NPU", "intra-NPU")
    if any(word in row["workload"] for word in same_package):
        return "one package"
    text = row["workload"] + " " + row["params"]
    return "two nodes" if "inter-node" in text or "two-hop" in text else "one node"


def cm384_fabric_p2p(simulator, row):
    routes = simulator.routes
    if "NPU-CPU" in row["workload"]:
        raise Skip("nothing sends to or from CPUs")
    if row["metric"] == "aiv_cores_for_95pct_bw":
        raise Skip("an input of the variant deepep_normal")
    if row["metric"] == "bandwidth_degradation_max":
        return 100 * (1 - routes.rate("two nodes", "read") / routes.rate("one node", "read"))
    if row["metric"] == "latency_increase_max":  # of a read, as in the table of that paper: there and back
        return 2 * (routes.latency["two nodes"] - routes.latency["one node"])
    where = where_of(row)
    if row["metric"] == "bandwidth_unidir":
        return routes.rate(where, "read")
    if "read" in row["workload"]:  # a request there, the data back
        return 2 * routes.latency[where] + int(row["msg_bytes"]) / routes.rate(where, "read") * 1e-3
    latency = routes.latency[where]
    return latency * 1e3 if row["unit"] == "ns" else latency


def ascend_memfabric_a3(simulator, row):
    if row["workload"] in ("RD2D", "D2RD"):
        return simulator.routes.rate("two nodes", "read" if row["workload"] == "RD2D" else "write")
    if row["workload"] in ("RH2D", "D2RH"):
        raise Skip("nothing sends to or from CPUs")
    raise Skip("the copy engine (SDMA); operators here are driven by vector cores")


# Rows that a constant was fitted to: docs/operators.md and docs/fabrics/ say which constant.
FITTED = {"CEP-001", "CEP-003", "SGN-001", "SGN-002", "SGN-011", "SGN-013", "XDS-006", "XDS-009", "MFB-005", "MFB-006",
          "MFB-007", "MFB-008", "CMP2P-019", "CMP2P-021", "CMP2P-023"}


def describe(row):
    parts = [row["workload"], f"EP{row['ep']}" if row["ep"] else "", row["params"]]
    return ", ".join(part for part in parts if part).replace("|", "/")


def number(value):
    return f"{value:.4g}"


def compare(simulator, source, path):
    """Prints one table and the rows left out; returns absolute errors in percent by class of row."""
    errors, skipped = {}, {}
    print(f"### {source}\n")
    print("| row | what | metric | measured | Orrery | error | split |\n|---|---|---|---|---|---|---|")
    for row in csv.DictReader(path.open()):
        if row["split"] not in ("calib", "valid"):
            continue
        try:
            got = globals()[source](simulator, row)
        except Skip as reason:
            skipped.setdefault(str(reason), []).append(row["id"])
            continue
        measured = float(row["value"])
        split = "fitted" if row["id"] in FITTED else row["split"]
        if row["unit"] == "%":
            error = f"{got - measured:+.1f} points"
        else:
            percent = 100 * (got / measured - 1)
            error = f"{percent:+.1f} %"
            errors.setdefault(split, []).append(abs(percent))
        print(f"| {row['id']} | {describe(row)} | {row['metric']} | {number(measured)} {row['unit']} |"
              f" {number(got)} {row['unit']} | {error} | {split} |")
    print()
    for reason, rows in skipped.items():
        print(f"- Without a prediction: {', '.join(rows)} ({reason}).")
    print()
    return errors


def solve(get, guess, target):
    """The argument at which `get`, nearly linear, meets the target (secant)."""
    low, high = guess, guess * 1.05
    for _ in range(5):
        a, b = get(low), get(high)
        root = low + (target - a) * (high - low) / (b - a)
        if abs(root - high) < 2e-4 * abs(high):
            break
        low, high = root, root * 1.01
    return root


def fit(simulator):
    """One constant per row; the order and what is held fixed stand in docs/operators.md. Times in ns."""
    def operator(variant, ep, kind, sets, **constants):
        base = XCCL if variant == "pull" else plain_ep(variant, ep)
        return simulator.operator(kind, *base, *sets,
                                  *(f"workload.operators.{kind}.{name}={value}" for name, value in constants.items()))

    def time(name, variant, ep, kind, sets, guess, target):
        root = solve(lambda v: operator(variant, ep, kind, sets, **{name: f"{v:.0f}ns"}), guess, target)
        print(f"{variant} {kind} {name}: {root:.0f} ns")

    def efficiency(kind, guess, target):  # time is linear in its inverse
        root = solve(lambda v: operator("deepep_normal", 8, kind, NORMAL, efficiency=f"{1 / v:.6f}"), 1 / guess, target)
        print(f"deepep_normal {kind} efficiency: {1 / root:.4f}")

    time("per_message", "fused", 8, "dispatch", LOW_LATENCY, 2200, 116)   # CEP-001
    time("per_message", "fused", 8, "combine", LOW_LATENCY, 550, 118)     # CEP-003
    time("launch", "deepep", 8, "combine", LOW_LATENCY, 12500, 126)       # SGN-013
    time("per_message", "deepep", 8, "dispatch", LOW_LATENCY, 2500, 132)  # SGN-011
    time("per_peer", "pull", 288, "combine", (), 4800, 165)               # XDS-009
    time("per_message", "pull", 288, "dispatch", (), 3200, 185)           # XDS-006
    efficiency("dispatch", 0.60, 4096 * 8 * 7392 / 146e3)                 # SGN-001
    efficiency("combine", 0.48, 4096 * 8 * 14336 / 125e3)                 # SGN-002


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--orrery", default=str(ROOT / "build" / "release" / "apps" / "orrery"), help="the program to run")
    parser.add_argument("--data", default=os.environ.get("ORRERY_SHARED_DATA", str(ROOT.parent / "shared" / "data")))
    parser.add_argument("--write", action="store_true", help="replace the tables of docs/accuracy.md")
    parser.add_argument("--fit", action="store_true", help="print the constants that meet the fitted rows")
    arguments = parser.parse_args()
    if arguments.fit:
        return fit(Simulator(arguments.orrery))
    folder = pathlib.Path(arguments.data, "groundtruth")
    if not folder.is_dir():
        sys.exit(f"{folder} is not there: set ORRERY_SHARED_DATA or --data")
    simulator = Simulator(arguments.orrery)
    simulator.routes = Routes(simulator)
    if not arguments.write:
        return tables(simulator, folder)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        tables(simulator, folder)
    page = ROOT / "docs" / "accuracy.md"
    prose = page.read_text().split(MARKER)[0]
    page.write_text(prose + MARKER + "\n\n" + text.getvalue())


def tables(simulator, folder):
    table = {source: compare(simulator, source, folder / f"{source}.csv") for source in SOURCES}

    print("### Mean absolute error by source\n")
    print("Rows in percent are left out; in brackets the number of rows.\n")
    print("| source | fitted | calib, not fitted | valid |\n|---|---|---|---|")
    classes = ("fitted", "calib", "valid")
    means = {split: [] for split in classes}
    for source, errors in table.items():
        cells = []
        for split in classes:
            values = errors.get(split, [])
            if values:
                means[split].append(sum(values) / len(values))
            cells.append(f"{sum(values) / len(values):.1f} % ({len(values)})" if values else "")
        print(f"| {source} | {' | '.join(cells)} |")
    overall = [f"{sum(m) / len(m):.1f} %" if m else "" for m in means.values()]
    print(f"| **mean of sources** | {' | '.join(overall)} |")


if __name__ == "__main__":
    main()
