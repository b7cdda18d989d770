// SPDX-License-Identifier: Apache-2.0
// Expert load before and after placement.
import { chart } from "./charts.js";
import { card, element, missing, select } from "./dom.js";
import { factor } from "./format.js";

const title = "Expert load before and after placement";

export function experts(data) {
  if (missing("experts", title, data)) return;
  const box = card("experts", title, `Placement: ${data.placement}. Left: tokens over their mean, heaviest first. Right: ` +
    "the heaviest of each layer; 1 is perfect balance.");
  const bar = element("div", { class: "bar" });
  const row = element("div", { style: "display:grid;grid-template-columns:1fr 1fr;gap:12px" });
  const [left, right] = [element("div", { style: "min-width:0" }), element("div", { style: "min-width:0" })];
  row.append(left, right);
  box.append(bar, row);
  const kinds = [
    ["before", "ranks, experts in order", "#c2261c"], ["after", "ranks, as placed", "#1f7a4d"],
    ["experts", "experts", "#e0a05a"], ["slots", "slots, as placed", "#86b6de"],
  ];
  const lines = (layer) => ({
    series: kinds.map(([key, name, colour]) => ({
      name, type: "line", showSymbol: false, data: layer[key].points.map((v, i) => [(100 * i) / (layer[key].points.length - 1), v]),
      lineStyle: { color: colour, width: key === "before" || key === "after" ? 2.5 : 1.2 }, itemStyle: { color: colour },
    })),
  });
  const curves = chart(left, "expert_load", 330, {
    grid: { left: 50, right: 20, top: 52, bottom: 44 },
    legend: { top: 0 },
    tooltip: { trigger: "axis", formatter: (all) => `the top ${Math.round(all[0].data[0])} %<br>` + all.map((p) => `${p.marker}${p.seriesName}: ${factor(p.data[1])} the mean`).join("<br>") },
    xAxis: { type: "value", min: 0, max: 100, axisLabel: { formatter: "{value} %" }, name: "from the heaviest to the lightest", nameLocation: "middle", nameGap: 28 },
    yAxis: { type: "value", min: 0, axisLabel: { formatter: factor } },
    ...lines(data.mean),
  });
  chart(right, "imbalance", 330, {
    grid: { left: 50, right: 20, top: 52, bottom: 44 },
    legend: { top: 0 },
    tooltip: { trigger: "axis", formatter: (all) => `layer ${all[0].axisValue}<br>` + all.map((p) => `${p.marker}${p.seriesName}: ${factor(p.data)}`).join("<br>") },
    xAxis: { type: "category", data: data.layers.map((l) => l.layer), name: "layer", nameLocation: "middle", nameGap: 28 },
    yAxis: { type: "value", min: 1, axisLabel: { formatter: factor } },
    series: kinds.slice(0, 2).map(([key, name, colour]) => ({
      name, type: "line", showSymbol: data.layers.length < 10, data: data.layers.map((l) => l[key].largest),
      lineStyle: { color: colour, width: 2 }, itemStyle: { color: colour },
    })),
  });
  bar.append(select("layer", "layer", [["", "mean of all"], ...data.layers.map((l, i) => [String(i), String(l.layer)])],
    (v) => curves.setOption(lines(v === "" ? data.mean : data.layers[Number(v)]))));
}
