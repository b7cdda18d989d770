#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: page_test.py ORRERY SCENARIOS CASE. Pages in a headless Chromium: drawn, nothing on the console, no request, every
chart with something in it, filters and tooltips work, small and quick enough. With ORRERY_SCREENSHOTS=DIR they stay."""
import os
import sys
import time

from chromium import Chromium, NoBrowser
from orrery_runs import Runs, expect, skip

RUN_CHARTS = ["parts", "topology", "heat", "rank_bars", "timeline"]
# Different colours in a picture of the chart, and how many of its pixels are not its ground.
INK = """(name => {
    const seen = new Set(); let inked = 0, all = 1;
    for (const canvas of orreryPage.charts[name].getDom().querySelectorAll('canvas')) {  // layers
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        all = pixels.length / 4;
        for (let i = 0; i < pixels.length; i += 4) {
            if (pixels[i + 3] < 40) continue;
            ++inked;
            seen.add((pixels[i] >> 4) * 256 + (pixels[i + 1] >> 4) * 16 + (pixels[i + 2] >> 4));
        }
    }
    return [seen.size, inked / all];
})"""
CHOOSE = """((filter, value) => {
    const box = document.querySelector(`[data-filter="${filter}"]`);
    box.value = value === null ? box.options[1].value : value;
    box.dispatchEvent(new Event(box.tagName === 'SELECT' ? 'change' : 'input'));
    return box.value;
})"""


def marks(browser, chart, series=0):
    return browser.evaluate(f"orreryPage.charts.{chart}.getOption().series[{series}].data.length")


def choose(browser, name, value=None):
    text = "null" if value is None else repr(value)
    return browser.evaluate(f"{CHOOSE}({name!r}, {text})")


def tooltip(browser, chart, series=0, number=0):
    """What is said when the pointer is over one of the marks."""
    return browser.evaluate(f"""new Promise(done => {{
        const chart = orreryPage.charts.{chart};
        chart.dispatchAction({{type: 'showTip', seriesIndex: {series}, dataIndex: {number}}});
        setTimeout(() => done([...chart.getDom().children].map(c => c.innerText || '').join(' ')), 120);
    }})""")


def check_page(browser, page, charts):
    drawn = []
    for _ in range(3):  # the machine may be busy
        browser.open(page)
        drawn.append(browser.evaluate("orreryPage.drawn_ms"))
        if drawn[-1] < 2000:
            break
    expect(min(drawn) < 2000, page, "took", drawn, "ms to draw")
    expect(os.path.getsize(page) < 15e6, page, "is", os.path.getsize(page), "bytes")
    there = browser.evaluate("Object.keys(orreryPage.charts)")
    expect(set(there) == set(charts), "charts", there, "and not", charts)
    for chart in charts:
        browser.evaluate(f"orreryPage.charts.{chart}.getDom().scrollIntoView()")
        for _ in range(50):  # pictures appear at the browser's next frames
            colours, inked = browser.evaluate(f"{INK}({chart!r})")
            if colours > 3 and inked > 0.005:
                break
            time.sleep(0.1)
        expect(colours > 3 and inked > 0.005, chart, "has", colours, "colours on", inked, "of its pixels")
    if "topology" in charts:
        flag = browser.evaluate("orreryPage.charts.topology.getOption().series[0].data.at(-1).label.formatter")
        expect("hot link" in str(flag), "the hot link is not named in the fabric:", flag)
    expect(browser.complaints() == [], browser.complaints())
    print(f"{os.path.basename(page)}: {os.path.getsize(page) / 1e6:.2f} MB, drawn in {min(drawn):.0f} ms")


def check_filters(browser):
    before = marks(browser, "heat")
    choose(browser, "class")
    one_class = marks(browser, "heat")
    expect(0 < one_class < before, "the class filter leaves", one_class, "of", before, "cells")
    choose(browser, "class", "")
    choose(browser, "name", "no such link")
    expect(marks(browser, "heat") == 0, "the name filter hides nothing")
    choose(browser, "name", "")
    expect(marks(browser, "heat") == before, "clearing the filters does not bring all back")
    before = marks(browser, "timeline")
    choose(browser, "rank")
    one_rank = marks(browser, "timeline")
    expect(0 < one_rank < before, "the rank filter leaves", one_rank, "of", before)
    choose(browser, "operation")
    expect(0 < marks(browser, "timeline") < one_rank, "the operation filter does nothing")
    choose(browser, "least", "0.8")
    all_links = browser.evaluate("orreryPage.charts.topology.getOption().series[0].links.length")
    choose(browser, "least", "0")
    expect(all_links < browser.evaluate("orreryPage.charts.topology.getOption().series[0].links.length"),
           "the filter of the fabric does nothing")
    expect("busy" in tooltip(browser, "heat"), "no tooltip over a link:", tooltip(browser, "heat"))
    expect("layer" in tooltip(browser, "timeline"), "no tooltip over an operation")
    expect("%" in tooltip(browser, "parts"), "no tooltip over a part")
    expect(browser.complaints() == [], browser.complaints())


def answer_is_first(browser, *words):
    """What a reader sees without scrolling."""
    seen = browser.evaluate("document.querySelector('.tiles').innerText")
    bottom = browser.evaluate("document.querySelector('.tiles').getBoundingClientRect().bottom")
    expect(bottom < 450, "the answer ends at", bottom)
    for word in words:
        expect(word.lower() in seen.lower(), repr(word), "is not in", repr(seen))


def run_case(runs, browser, scenarios):
    runs.run("main", os.path.join(scenarios, "cloudmatrix384_decode.yaml"), "workload.moe_layers=3")
    runs.orrery("report", "main")
    check_page(browser, runs.at("main/page.html"), RUN_CHARTS + ["traffic", "expert_load", "imbalance"])
    answer_is_first(browser, "one step takes", "ms", "what limits it", "attention", "bound by BF16 cube", "hot link", "sn0.n")
    check_filters(browser)
    before = browser.evaluate("orreryPage.charts.expert_load.getOption().series[0].data[0][1]")
    choose(browser, "layer")
    expect(before != browser.evaluate("orreryPage.charts.expert_load.getOption().series[0].data[0][1]"),
           "the layer filter does nothing")
    choose(browser, "traffic", "1")
    expect("rank" in tooltip(browser, "traffic"), "no tooltip over a pair")


def packets_case(runs, browser, scenarios):
    runs.run("packets", "tiny.yaml", "network.model=packet")
    runs.orrery("report", "packets/run.h5", "--out", "elsewhere.html")
    check_page(browser, runs.at("elsewhere.html"),
               RUN_CHARTS + ["traffic", "expert_load", "imbalance", "flow_times", "slowdown"])
    answer_is_first(browser, "hot link", "leaf")
    expect("x" in tooltip(browser, "slowdown"), "no tooltip over the slowdown")
    last = browser.evaluate("orreryPage.charts.flow_times.getOption().series[0].data.at(-1)[1]")
    expect(abs(last - 1) < 1e-12, "the distribution ends at", last)


def many_ranks_case(runs, browser, scenarios):
    runs.run("many", os.path.join(scenarios, "superpod_32k.yaml"), "workload.moe_layers=1", "network.model=analytic",
             "workload.ep=8", "workload.ep_groups=4128")
    runs.orrery("report", "many")
    check_page(browser, runs.at("many/page.html"), RUN_CHARTS + ["expert_load", "imbalance"])
    answer_is_first(browser, "33,024 ranks")
    expect(browser.evaluate("document.getElementById('traffic').innerText.includes('output.detail')"),
           "nothing says why there is no traffic matrix")


def study_case(runs, browser, scenarios):
    runs.write("study.yaml", """
name: two by two
scenario: tiny.yaml
matrix:
  hashing: {spray: [fabric.leaf_spine.load_balancing=spray], ecmp: [fabric.leaf_spine.load_balancing=ecmp]}
failures: {none: [], slow: ["fabric.degrade=[{links: 'leaf0*', rate_factor: 0.5}]"]}
seeds: 3
prices: {rank: 100, switch: 50, link: 1}
""")
    runs.orrery("study", "study.yaml", "--out", "s")
    check_page(browser, runs.at("s/study.html"), ["study_steps"])
    answer_is_first(browser, "fastest", "slowest", "0 failed")
    rows = "document.querySelectorAll('#study_table tbody tr').length"
    expect(browser.evaluate(rows) == 4, "rows of the table:", browser.evaluate(rows))
    choose(browser, "hashing")
    expect(browser.evaluate(rows) == 2 and marks(browser, "study_steps") == 2, "the axis filter does nothing")
    expect("bound" in tooltip(browser, "study_steps"), "no tooltip over a bar")


def main():
    program, scenarios, case = sys.argv[1:4]
    runs = Runs(program)
    try:
        with Chromium() as browser:
            globals()[case + "_case"](runs, browser, scenarios)
            if kept := os.environ.get("ORRERY_SCREENSHOTS"):
                browser.evaluate("scrollTo(0, 0)")
                browser.screenshot(os.path.join(kept, case + ".png"), whole=True)
    except NoBrowser as reason:
        skip(reason)


if __name__ == "__main__":
    main()
