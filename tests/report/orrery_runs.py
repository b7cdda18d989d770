# SPDX-License-Identifier: Apache-2.0
"""For tests of what looks back at runs: the program, a directory of its own, and the facts they check."""
import os
import subprocess
import sys
import tempfile

SKIPPED = 77  # what CTest is told to take for "skipped"

TINY_MODEL = """{"model_type": "qwen3_moe", "num_hidden_layers": 3, "hidden_size": 1024, "num_attention_heads": 16,
"num_key_value_heads": 4, "head_dim": 64, "num_experts": 32, "num_experts_per_tok": 4, "moe_intermediate_size": 512,
"intermediate_size": 2048, "decoder_sparse_step": 1, "mlp_only_layers": [0], "vocab_size": 32000}"""

TINY = """name: sixteen ranks on two leaves
seed: 1
fabric:
  kind: leaf_spine
  leaf_spine: {hosts: 16, hosts_per_leaf: 8, spines: 4, load_balancing: ecmp, oversubscription: 4}
workload:
  model: tiny.json
  batch_per_rank: 512
  context: 1024
  ep: 16
  routing: {source: zipf, zipf_s: 0.8}
"""


class Runs:
    """A temporary directory with tiny.yaml in it, and the program to run there."""

    def __init__(self, program):
        self.program = os.path.abspath(program)
        self._directory = tempfile.TemporaryDirectory(prefix="orrery-report-")
        self.path = self._directory.name
        self.write("tiny.json", TINY_MODEL)
        self.write("tiny.yaml", TINY)

    def write(self, name, text):
        with open(self.at(name), "w") as file:
            file.write(text)
        return self.at(name)

    def at(self, name):
        return os.path.join(self.path, name)

    def orrery(self, *arguments, code=0):
        done = subprocess.run([self.program, *arguments], cwd=self.path, capture_output=True, text=True)
        if "makes no pages in this build" in done.stderr:
            skip("this program was built without npm")
        assert done.returncode == code, f"orrery {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def run(self, name, scenario="tiny.yaml", *sets):
        """Simulates into the directory `name`; the digest."""
        words = [word for one in sets for word in ("--set", one)]
        said = self.orrery("run", scenario, "--out", name, *words)
        return said.strip().splitlines()[-1].split()[-1]


def expect(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(w) for w in what))


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)
