#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""read_during_run.py ORRERY SCRIPTS NO_LOCKS LAUNCHER...: opens the parts of runs 100 times while they grow.

Every opening must show, row for row, a prefix of what the finished run holds of that process, at least all rows with a
time before complete_until, and never less than the opening before. Half of the openings have no file locks.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: /usr/bin/python3 has no {missing.name} (install python3-h5py)")
    sys.exit(77)

orrery, scripts, no_locks, launcher = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
sys.path.insert(0, scripts)
from timeline_live import read_part

MODEL = """{"model_type": "qwen3_moe", "num_hidden_layers": 50, "hidden_size": 1024, "num_attention_heads": 16,
  "num_key_value_heads": 4, "head_dim": 64, "num_experts": 32, "num_experts_per_tok": 1, "moe_intermediate_size": 512,
  "intermediate_size": 2048, "decoder_sparse_step": 1, "mlp_only_layers": [0], "vocab_size": 32000}"""
SCENARIO = """name: many rows
fabric: {kind: single_switch, single_switch: {hosts: 512}}
workload: {model: model.json, batch_per_rank: 4, context: 1024, ep: 4, ep_groups: 128}
network: {model: analytic}
output: {link_bin: 1us}
"""
OPENINGS = 100


def run(directory, environment):
    """Runs once; the openings of each part: [(tables, complete_until)]."""
    command = [*launcher, orrery, "run", "many.yaml", "--out", "out", "--force", "--quiet", "--flush-interval", "50ms"]
    process = subprocess.Popen(command, cwd=directory, env=environment)
    seen = {}
    while process.poll() is None:
        for path in (directory / "out" / "parts").glob("l*.p*.h5"):
            try:
                seen.setdefault(path.name, []).append(read_part(path))
            except FileNotFoundError:
                pass  # it has just begun, or has just ended
        time.sleep(0.002)
    assert process.returncode == 0, process.returncode
    return seen


def check(openings, finished):
    """How many openings there were; none may show what the finished run does not."""
    for name, views in openings.items():
        ranks = np.unique(views[-1][0]["operations"]["rank"])
        mine = np.isin(finished["operations"]["rank"], ranks)
        whole = {column: values[mine] for column, values in finished["operations"].items()}
        before = 0
        for tables, complete_until in views:
            rows = len(tables["operations"]["end"])
            for column, values in tables["operations"].items():
                assert len(values) == rows, f"{name}: {column} has {len(values)} rows of {rows}"
                assert np.array_equal(values, whole[column][:rows]), f"{name}: {column} is no prefix"
            assert rows >= before, f"{name}: {before} rows became {rows}"
            assert rows >= np.searchsorted(whole["end"], complete_until), f"{name}: rows before {complete_until} lack"
            before = rows
    return sum(len(views) for views in openings.values())


def main():
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "model.json").write_text(MODEL)
        (directory / "many.yaml").write_text(SCENARIO)
        count, runs, rows = 0, 0, 0
        while count < OPENINGS:
            environment = dict(os.environ)
            if runs % 2 == 1:
                environment["LD_PRELOAD"] = no_locks
            openings = run(directory, environment)
            with h5py.File(directory / "out" / "run.h5", "r") as file:
                finished = {"operations": {c: data[:] for c, data in file["operations"].items()}}
            count += check(openings, finished)
            rows = max([rows, *(len(v[-1][0]["operations"]["end"]) for v in openings.values())])
            runs += 1
            assert runs < 20, f"only {count} openings in {runs} runs"
        print(f"{count} openings in {runs} runs, of up to {rows} operations of {len(finished['operations']['end'])}")
        assert rows > 16384  # whole chunks, not only tails


main()
