// SPDX-License-Identifier: Apache-2.0
// Flow completion times, and how many times longer flows took than on an empty fabric.
import { chart } from "./charts.js";
import { card, element, missing } from "./dom.js";
import { count, factor, percent, ps, sizeClass } from "./format.js";

const title = "Flow completion times and slowdown";

export function flows(data) {
  if (missing("flows", title, data)) return;
  const total = data.counts.reduce((sum, n) => sum + n, 0);
  const box = card("flows", title, `${count(total)} flows. Left: share that was complete after a time. Right: time over ` +
    "that on an empty fabric, by size; 1 is as fast as the links allow.");
  const row = element("div", { style: "display:grid;grid-template-columns:1fr 1fr;gap:12px" });
  const [left, right] = [element("div", { style: "min-width:0" }), element("div", { style: "min-width:0" })];
  row.append(left, right);
  box.append(row);
  let seen = 0;
  const points = data.times_ps.map((t, i) => [t * 1e-6, (seen += data.counts[i]) / total]);
  chart(left, "flow_times", 320, {
    grid: { left: 56, right: 24, top: 16, bottom: 44 },
    tooltip: { trigger: "axis", formatter: ([p]) => `${percent(p.data[1])} of the flows within ${ps(p.data[0] * 1e6)}` },
    xAxis: {
      type: "log", name: "completion time", nameLocation: "middle", nameGap: 28, min: points[0][0] * 0.95,
      axisLabel: { formatter: (v) => ps(v * 1e6), hideOverlap: true },
    },
    yAxis: { type: "value", min: 0, max: 1, axisLabel: { formatter: percent } },
    series: [{ type: "line", step: "end", showSymbol: false, data: points, lineStyle: { color: "#2f6db5", width: 2 }, areaStyle: { color: "#2f6db522" } }],
  });
  const line = (name, key, colour) => ({
    name, type: "line", data: data.sizes.map((s) => s[key]), symbolSize: 7, itemStyle: { color: colour }, lineStyle: { color: colour },
  });
  chart(right, "slowdown", 320, {
    grid: { left: 56, right: 24, top: 34, bottom: 44 },
    legend: { top: 0 },
    tooltip: {
      trigger: "axis",
      formatter: (all) => `flows from ${sizeClass(data.sizes[all[0].dataIndex].from)}: ${count(data.sizes[all[0].dataIndex].flows)}<br>` +
        all.map((p) => `${p.seriesName}: ${factor(p.value)}`).join("<br>"),
    },
    xAxis: { type: "category", data: data.sizes.map((s) => sizeClass(s.from)), name: "flows of at least", nameLocation: "middle", nameGap: 28 },
    yAxis: { type: "log", min: 1, axisLabel: { formatter: factor } },
    series: [line("p50", "p50", "#2f6db5"), line("p95", "p95", "#e08a2c"), line("p99", "p99", "#c2261c"), line("max", "max", "#7c8b99")],
  });
}
