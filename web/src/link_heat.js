// SPDX-License-Identifier: Apache-2.0
// Links by time: which were busy when.
import { chart, heat } from "./charts.js";
import { card, element, escape, missing, search, select } from "./dom.js";
import { bytes, count, percent, ps } from "./format.js";

const title = "Links over time";

export function linkHeat(data) {
  if (missing("heat", title, data)) return;
  const box = card("heat", title, `The hottest links of each class, ${count(data.rows.length)} of ` +
    `${count(data.with_traffic)} with traffic; a cell is ${ps(data.bin_ps)}. Hover for names, drag below to zoom.`);
  let linkClass = "";
  let text = "";
  const classes = [...new Set(data.rows.map((row) => row.class))];
  const chosen = () => data.rows.filter((row) => (!linkClass || row.class === linkClass) &&
    row.name.toLowerCase().includes(text.toLowerCase())).slice(0, linkClass || text ? 400 : 60);
  const said = element("span", { class: "note" });
  const bar = element("div", { class: "bar" });
  box.append(bar);
  let rows = [];
  const option = () => {
    rows = chosen();
    const cells = [];
    rows.forEach((row, y) => row.cells.forEach((v, x) => { if (v > 0) cells.push([x, rows.length - 1 - y, v / 1000]); }));
    said.textContent = `${rows.length} links shown`;
    return {
      yAxis: { data: rows.map((row) => row.name).reverse() },
      series: [{ type: "heatmap", data: cells, progressive: 0, emphasis: { itemStyle: { borderColor: "#1b2733", borderWidth: 1 } } }],
    };
  };
  const first = option();
  const drawn = chart(box, "heat", 560, {
    grid: { left: 190, right: 20, top: 34, bottom: 74 },
    tooltip: {
      formatter: (p) => {
        const row = rows[rows.length - 1 - p.data[1]];
        return `<b>${escape(row.name)}</b> (${escape(row.class)})<br>${ps(p.data[0] * data.bin_ps)} to ` +
          `${ps((p.data[0] + 1) * data.bin_ps)}: <b>${percent(p.data[2])}</b> busy<br>on average ${percent(row.mean)}, ` +
          `at most ${percent(row.peak)}, ${bytes(row.bytes)}`;
      },
    },
    visualMap: {
      min: 0, max: 1, orient: "horizontal", left: "center", top: 0, itemHeight: 160, itemWidth: 12, calculable: true,
      text: ["full", "idle"], inRange: { color: heat }, formatter: (v) => percent(v),
    },
    dataZoom: [{ type: "slider", xAxisIndex: 0, bottom: 8, height: 22, labelFormatter: (v) => ps(v * data.bin_ps) }],
    xAxis: {
      type: "category", data: Array.from({ length: data.columns }, (_, i) => i),
      axisLabel: { formatter: (v) => ps(v * data.bin_ps) }, splitArea: { show: false },
    },
    yAxis: { type: "category", axisLabel: { fontSize: 11, width: 180, overflow: "truncate" }, ...first.yAxis },
    series: first.series,
  });
  const redraw = () => drawn.setOption(option());
  bar.append(
    select("class", "class", [["", "all"], ...classes.map((c) => [c, c])], (v) => { linkClass = v; redraw(); }),
    search("name has", "name", (v) => { text = v; redraw(); }), said);
}
