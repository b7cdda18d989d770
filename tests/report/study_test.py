#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: study_test.py ORRERY CASE [NUMBER]. Studies: their table, going on after a kill, failed members, seeds, failure laws."""
import csv
import os
import re
import subprocess
import sys
import time

from orrery_runs import Runs, expect


def table(runs, out):
    with open(runs.at(out + "/study.csv")) as file:
        return list(csv.DictReader(file))


def lines(runs, out):
    """Whole results that are on the disk."""
    path = runs.at(out + "/members.0-1.jsonl")
    if not os.path.exists(path):
        return 0
    with open(path) as file:
        return sum(line.startswith("{") and line.endswith("\n") for line in file)


STUDY = """
name: hashing and placement
scenario: tiny.yaml
matrix:
  hashing:
    spray: [fabric.leaf_spine.load_balancing=spray]
    ecmp: [fabric.leaf_spine.load_balancing=ecmp]
  placement:
    in order: [workload.experts.placement=contiguous]
    eplb: [workload.experts.placement=eplb, workload.experts.redundant=16]
seeds: 6
prices: {rank: 100, switch: 50, link: 1}
"""


def table_case(runs):
    """The figures of the table are those of the runs it stands for."""
    runs.write("study.yaml", STUDY)
    runs.orrery("study", "study.yaml", "--out", "s")
    rows = table(runs, "s")
    expect([(r["hashing"], r["placement"]) for r in rows] ==
           [("spray", "in order"), ("spray", "eplb"), ("ecmp", "in order"), ("ecmp", "eplb")], rows)
    for row in rows:
        expect(float(row["p5_s"]) <= float(row["p50_s"]) <= float(row["p95_s"]), row)
        expect(0 < float(row["of_bound"]) <= 1.05 and row["hottest_class"] and row["status"] == "complete", row)
        expect(float(row["cost"]) == 16 * 100 + 6 * 50 + (2 * 16 + 2 * 2 * 4) * 1, "the price of the fabric is", row["cost"])
    # Hashing meets collisions, spraying does not; the worst seed replays to the digest of the table.
    expect(float(rows[2]["p50_s"]) > float(rows[0]["p50_s"]), "hashing is not slower")
    worst = rows[2]
    digest = runs.run("replay", "tiny.yaml", f"seed={worst['worst_seed']}", "fabric.leaf_spine.load_balancing=ecmp",
                      "workload.experts.placement=contiguous")
    expect(digest == worst["worst_digest"], "the worst seed replays to", digest)
    # A study that is complete has nothing to run; a new variant runs alone.
    before = lines(runs, "s")
    runs.orrery("study", "study.yaml", "--out", "s")
    expect(lines(runs, "s") == before == 24, "results:", lines(runs, "s"))
    runs.write("study.yaml", STUDY.replace("seeds: 6", "seeds: 7"))
    runs.orrery("study", "study.yaml", "--out", "s")
    expect(lines(runs, "s") == 28, "one more seed of four makes", lines(runs, "s"))


def stale_case(runs):
    """A result counts only while the files that its scenario names are what they were; equal cells share theirs."""
    runs.write("study.yaml", "scenario: tiny.yaml\nmatrix: {one: {a: [], b: []}}\n")
    runs.orrery("study", "study.yaml", "--out", "s")
    runs.orrery("study", "study.yaml", "--out", "s")
    a, b = table(runs, "s")
    expect(a["status"] == b["status"] == "complete" and lines(runs, "s") == 2, a, b, lines(runs, "s"))
    expect(a["worst_digest"] == b["worst_digest"], "equal cells differ")
    model = open(runs.at("tiny.json")).read()
    wider = re.sub(r'"hidden_size": (\d+)', lambda found: f'"hidden_size": {2 * int(found[1])}', model)
    expect(wider != model, "tiny.json has no hidden_size")
    runs.write("tiny.json", wider)
    runs.orrery("study", "study.yaml", "--out", "s")
    expect(lines(runs, "s") == 4 and float(table(runs, "s")[0]["p50_s"]) > float(a["p50_s"]), "results of another model")
    runs.write("tiny.json", model)
    runs.orrery("study", "study.yaml", "--out", "s")
    expect(lines(runs, "s") == 4 and table(runs, "s") == [a, b], "the first model's results are lost")


def killed_case(runs):
    """kill -9 of the study: its workers go with it, and the same command runs the rest only."""
    runs.write("study.yaml", STUDY.replace("seeds: 6", "seeds: 60"))
    study = subprocess.Popen([runs.program, "study", "study.yaml", "--out", "s"], cwd=runs.path,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while lines(runs, "s") < 20:
        time.sleep(0.01)
        expect(study.poll() is None, "the study ended before it was killed")
    study.kill()
    study.wait()
    end = time.monotonic() + 60
    while subprocess.run(["pgrep", "-s", str(study.pid)], stdout=subprocess.DEVNULL).returncode == 0:
        expect(time.monotonic() < end, "workers outlive their study")
        time.sleep(0.05)
    done = lines(runs, "s")
    expect(done < 240, "nothing is left to go on with")
    with open(runs.at("s/members.0-1.jsonl"), "a") as file:
        file.write('{"member": 3, "ke')  # as if the kill had come halfway through a line
    runs.orrery("study", "study.yaml", "--out", "s")
    expect(lines(runs, "s") <= 241, "members ran again:", lines(runs, "s") - 240)
    whole = table(runs, "s")
    # Two shares in place of one, on the way to the same table.
    runs.orrery("study", "study.yaml", "--out", "t", "--share", "0/2")
    runs.orrery("study", "study.yaml", "--out", "t", "--share", "1/2", "--workers", "1")
    expect(table(runs, "t") == whole, "shares make another table")


def hashing_case(runs, seeds=500):
    """Eight flows of each leaf hashed over its eight uplinks use 8 (1 - (7/8)^8) = 5.25 of them on average."""
    runs.write("hash.yaml", """
fabric: {kind: leaf_spine, leaf_spine: {hosts: 9, hosts_per_leaf: 1, spines: 8, load_balancing: ecmp}}
workload: {model: tiny.json, batch_per_rank: 24, context: 1024, ep: 9, moe_layers: 1, experts: {redundant: 4}}
""")
    runs.write("study.yaml", f"scenario: hash.yaml\nseeds: {seeds}\n")
    runs.orrery("study", "study.yaml", "--out", "s")
    row, = table(runs, "s")
    used = dict(pair.split("=") for pair in row["links_used"].split())
    mean = float(used["leaf.up"]) / 9
    print(f"{seeds} seeds: {mean:.4f} uplinks of 8 used")
    expect(abs(mean - 5.25) < 0.05, "uplinks used:", mean)
    digest = runs.run("worst", "hash.yaml", f"seed={row['worst_seed']}")
    expect(digest == row["worst_digest"], "the worst seed replays to", digest)


def failed_case(runs):
    """One member that cannot finish: its row is red and without figures, the others are whole."""
    runs.write("study.yaml", """
scenario: tiny.yaml
failures:
  none: []
  cut off: ["fabric.degrade=[{links: 'h03*.up', down: true, from: 20us}]"]
  bad: [workload.ep=17]
seeds: 2
""")
    said = runs.orrery("study", "study.yaml", "--out", "s", code=3)
    expect("FAILED: 4 of 6 members" in said, said)
    healthy, cut, bad = table(runs, "s")
    expect(healthy["status"] == "complete" and float(healthy["p50_s"]) > 0, healthy)
    for row in (cut, bad):
        expect(row["status"] == "2 of 2 failed" and not row["p50_s"] and not row["worst_digest"], row)
    if os.path.exists(runs.at("s/study.html")):
        with open(runs.at("s/study.html")) as page:
            expect('"failed":4' in page.read(), "the page does not know what failed")


def mistakes_case(runs):
    """All that is wrong with a study, with its place."""
    runs.write("study.yaml", "scenaro: tiny.yaml\nmatrix: {fabric: {a: [nothing]}}\nseeds: none\n")
    done = subprocess.run([runs.program, "study", "study.yaml"], cwd=runs.path, capture_output=True, text=True)
    expect(done.returncode == 2, done.returncode, done.stderr)
    for words in ("study.yaml:1:1", "did you mean scenario?", "study.yaml:2:23", "nothing (not path=value)", "study.yaml:3:",
                  "seeds = none"):
        expect(words in done.stderr, repr(words), "is not in", done.stderr)
    for text, words in (("matrix: {p50: {a: []}, digest: {b: []}}", ("p50 is no name", "digest is no name", "links_used")),
                        ("matrix: {one: {a: [], b: [seed=3]}}", ("b holds seed=3", "use seeds and first_seed")),
                        ("matrix: {one: {a: [], b: [workload.eq=3]}}", ("one: b (its scenario", "workload.eq is unknown"))):
        runs.write("study.yaml", f"scenario: tiny.yaml\n{text}\n")
        done = subprocess.run([runs.program, "study", "study.yaml"], cwd=runs.path, capture_output=True, text=True)
        expect(done.returncode == 2 and not os.path.exists(runs.at("study.study")), done.returncode, done.stderr)
        for word in words:
            expect(word in done.stderr, repr(word), "is not in", done.stderr)
    runs.write("study.yaml", "scenario: tiny.yaml\nmatrix: {one: {a: [], b: [fabric.torus.shape=4x4]}}\nseeds: 2\n")
    done = subprocess.run([runs.program, "study", "study.yaml"], cwd=runs.path, capture_output=True, text=True)
    expect(done.returncode == 0 and done.stderr.count("ignored: one: b: fabric.torus.shape") == 1, done.stderr)


LAWS = """
scenario: laws.yaml
failures:
  none: []
  recovers: ["fabric.degrade=[{links: 'h04-leaf0.down', rate_factor: 0.25, from: 900us, until: 1200us}]"]
  for ever: ["fabric.degrade=[{links: 'h04-leaf0.down', rate_factor: 0.25, from: 900us}]"]
"""


def laws_case(runs):
    """A link that recovers costs no more than one that does not; goodput goes with the step; the delayed are counted."""
    runs.write("laws.yaml", open(runs.at("tiny.yaml")).read().replace("hosts: 16", "hosts: 16"))
    runs.write("study.yaml", LAWS)
    runs.orrery("study", "study.yaml", "--out", "s")
    none, recovers, for_ever = table(runs, "s")
    steps = [float(row["p50_s"]) for row in (none, recovers, for_ever)]
    expect(steps[0] < steps[1] < steps[2], "steps:", steps)
    goodput = [float(row["goodput_bytes_per_s"]) for row in (none, recovers, for_ever)]
    expect(goodput[0] > goodput[1] > goodput[2], "goodput:", goodput)
    delayed = [int(row["affected_ranks"]) for row in (none, recovers, for_ever)]
    expect(delayed[0] == 0 < delayed[1] <= delayed[2] <= 16, "delayed ranks:", delayed)
    # A rank at half speed: the step takes at least its time, and no more than what it lost.
    for name, last in (("even", "100us"), ("straggler", "200us")):
        runs.write(name + ".yaml", f"""
orrery_schedule: 1
ranks: 8
groups: {{all: 0-7}}
collectives: {{sum: {{op: all-reduce, group: all, bytes: 1MiB, algorithm: ring}}}}
programs:
  - {{ranks: 0-6, tasks: [{{name: work, compute: 100us}}, {{collective: sum, after: work}}]}}
  - {{ranks: 7, tasks: [{{name: work, compute: {last}}}, {{collective: sum, after: work}}]}}
""")
    runs.write("ranks.yaml", "fabric: {kind: single_switch, single_switch: {hosts: 8}}\n"
               "workload: {kind: schedule, schedule: {file: even.yaml}}\n")
    runs.write("speeds.yaml", "scenario: ranks.yaml\nfailures:\n  none: []\n"
               "  one at half speed: [workload.schedule.file=straggler.yaml]\n")
    runs.orrery("study", "speeds.yaml", "--out", "r")
    even, slow = (float(row["p50_s"]) for row in table(runs, "r"))
    expect(slow >= 200e-6 and abs(slow - even - 100e-6) < 1e-9, "with a straggler:", even, slow)
    # One of the 112 L2 chips of a super-node: sprayed traffic loses at most its share of the way it is on.
    runs.write("chip.yaml", "fabric: {kind: cloudmatrix384, cloudmatrix384: {nodes: 4}}\n"
               "workload: {model: tiny.json, batch_per_rank: 24, context: 1024, ep: 64, routing: {source: uniform}, experts: {redundant: 32}}\n")
    runs.write("chips.yaml", "scenario: chip.yaml\nfailures:\n  none: []\n"
               "  one chip: [\"fabric.degrade=[{links: '*l1.0-l2.00*', down: true}]\"]\n")
    runs.orrery("study", "chips.yaml", "--out", "c")
    none, chip = (float(row["p50_s"]) for row in table(runs, "c"))
    expect(none <= chip <= none * (1 + 1 / 16), "without one chip:", chip / none)


def main():
    program, case, *more = sys.argv[1:]
    globals()[case + "_case"](Runs(program), *map(int, more))


if __name__ == "__main__":
    main()
