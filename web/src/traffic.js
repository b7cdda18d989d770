// SPDX-License-Identifier: Apache-2.0
// Who sent how much to whom.
import { chart } from "./charts.js";
import { card, element, missing, select } from "./dom.js";
import { bytes } from "./format.js";

const title = "Traffic from rank to rank";

export function traffic(data) {
  if (missing("traffic", title, data)) return;
  const box = card("traffic", title, "Payload over the whole run; senders down, receivers across" +
    (data.per_block > 1 ? `; a cell is ${data.per_block} x ${data.per_block} ranks.` : "."));
  const n = data.blocks;
  const name = (block) => {
    const first = data.first_rank + block * data.per_block;
    return data.per_block === 1 ? `rank ${first}` : `ranks ${first} to ${Math.min(first + data.per_block, data.first_rank + data.ranks) - 1}`;
  };
  const option = (which) => {
    const cells = [];
    let most = 0;
    for (let i = 0; i < n * n; ++i) {
      const sent = which === "all" ? data.bytes.reduce((sum, m) => sum + m[i], 0) : data.bytes[which][i];
      if (sent > 0) cells.push([i % n, n - 1 - Math.floor(i / n), sent]);
      most = Math.max(most, sent);
    }
    return {
      visualMap: { max: most },
      series: [{ type: "heatmap", data: cells, progressive: 0 }],
    };
  };
  const first = option("all");
  const labels = Array.from({ length: n }, (_, i) => data.first_rank + i * data.per_block);
  const bar = element("div", { class: "bar" });
  box.append(bar);
  const drawn = chart(box, "traffic", 560, {
    grid: { left: 70, right: 130, top: 10, bottom: 40 },
    tooltip: { formatter: (p) => `${name(n - 1 - p.data[1])}<br>to ${name(p.data[0])}: <b>${bytes(p.data[2])}</b>` },
    visualMap: {
      min: 0, orient: "vertical", right: 0, top: "middle", itemHeight: 300, calculable: true, formatter: (v) => bytes(Math.round(v)),
      inRange: { color: ["#eef3f7", "#8fbbd9", "#2f6db5", "#12305a"] }, ...first.visualMap,
    },
    xAxis: { type: "category", data: labels, name: "receiver", nameLocation: "middle", nameGap: 24 },
    yAxis: { type: "category", data: [...labels].reverse(), axisLabel: { interval: Math.floor(n / 24) }, name: "sender", nameLocation: "middle", nameGap: 46 },
    series: first.series,
  });
  bar.append(select("show", "traffic", [["all", "all"], ...data.names.map((text, i) => [String(i), text])],
    (v) => drawn.setOption(option(v))));
}
