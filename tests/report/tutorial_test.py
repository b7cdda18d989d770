#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: tutorial_test.py ORRERY SOURCE. Does what docs/tutorial-five-fabrics.md says, block by block."""
import csv
import os
import re
import shutil
import sys

from orrery_runs import Runs, expect


def main():
    program, source = sys.argv[1:3]
    runs = Runs(program)
    shutil.copytree(os.path.join(source, "scenarios/models"), runs.at("models"))
    with open(os.path.join(source, "docs/tutorial-five-fabrics.md")) as page:
        blocks = re.findall(r"^```(\w*)\n(.*?)^```", page.read(), re.M | re.S)
    said = []
    for language, text in blocks:
        if language == "yaml":
            runs.write(re.match(r"# (\S+)", text).group(1), text)
            continue
        for line in text.splitlines():
            words = line.split()
            expect(words[0] == "orrery", "a command of something else:", line)
            said.append(runs.orrery(*words[1:]))
    with open(runs.at("fabrics/study.csv")) as file:
        rows = list(csv.DictReader(file))
    expect(len({row["fabric"] for row in rows}) == 5 and len(rows) == 10, [row["fabric"] for row in rows])
    expect(all(row["status"] == "complete" for row in rows), [row["status"] for row in rows])
    expect("The step takes" in said[-1], said[-1])


if __name__ == "__main__":
    main()
