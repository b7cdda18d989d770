#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: compare_test.py ORRERY. What `orrery compare` says of two runs: what changed, and why the time did or did not."""
import re
import sys

from orrery_runs import Runs, expect

SUPER_NODE = """name: two nodes of a super-node
fabric: {kind: cloudmatrix384, cloudmatrix384: {nodes: 2}}
workload: {model: tiny.json, batch_per_rank: 1024, context: 1024, ep: 32}
"""


def said(runs, before, after):
    text = runs.orrery("compare", before, after)
    print(f"---- {before} and {after}\n{text}")
    return text


def has(text, *patterns):
    for pattern in patterns:
        expect(re.search(pattern, text, re.M), f"nothing like /{pattern}/ in\n{text}")


def main():
    runs = Runs(sys.argv[1])
    first = runs.run("base")
    expect(runs.run("again") == first, "one scenario, two digests")
    has(said(runs, "base", "again"), "Nothing changed: the inputs are equal", "^Inputs: equal")

    runs.run("eplb", "tiny.yaml", "workload.experts.placement=eplb", "workload.experts.redundant=16")
    text = said(runs, "base", "eplb")
    has(text, r"^The step takes .* (less|longer)", r"workload.experts.placement +contiguous +eplb",
        r"^  (dispatch|combine) -.*its bound goes from .* to ", r"^waiting in combine .*-\S+ us$",
        r"the link that moved most: \S+")

    runs.run("switch", "tiny.yaml", "fabric.kind=single_switch", "fabric.single_switch.hosts=16")
    text = said(runs, "base", "switch")
    has(text, r"fabric.kind +leaf_spine +single_switch", r"^  (dispatch|combine) -.*(its bound goes from|less or more closely)",
        r"links that moved most")

    runs.write("plane.yaml", SUPER_NODE)
    runs.run("planes", "plane.yaml")
    runs.run("six", "plane.yaml", "fabric.degrade=[{links: 'sn0.n*.d*-l1.0.*', down: true}]")
    text = said(runs, "planes", "six")
    has(text, r"^The step takes .* longer", r"fabric.degrade\[0\].down +not set +true",
        r"^  (dispatch|combine) \+.*its bound goes from .*by ub.die-l1", r"ub.*-l1")

    # A run that was stopped is not compared, and a timeline is never what a command writes over.
    runs.orrery("run", "tiny.yaml", "--out", "stopped", "--until", "1us", code=4)
    runs.orrery("compare", "stopped", "base", code=2)
    runs.orrery("report", "base", "--out", "base/run.h5", code=2)
    runs.orrery("export", "base", "--perfetto", "base/run.h5", code=2)
    runs.orrery("export", "base", "--chrome", "slice.json", "--ranks", "100", code=2)

    expect(runs.run("groups", "tiny.yaml", "workload.routing.group_limited=false") == first, "an idle setting changed results")
    text = said(runs, "base", "groups")
    has(text, "^No result changed, bit for bit", r"workload.routing.group_limited has no effect \(the model has no expert groups\)")

    runs.orrery("compare", "base", "nowhere", code=2)


if __name__ == "__main__":
    main()
