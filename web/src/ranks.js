// SPDX-License-Identifier: Apache-2.0
// Where every rank's time went, and the operations of some ranks over time, computing above communicating.
import { chart, graphic, idleColour, kindColours, waitColour } from "./charts.js";
import { card, element, escape, missing, select } from "./dom.js";
import { count, percent, ps } from "./format.js";

function bars(data, step) {
  const box = card("rank_bars", "Every rank's time", "Mean of each bar's ranks: computing, moving data with nothing else " +
    "to do, waiting for peers, idle.");
  const names = data.bars.map(([first, last]) => (first === last ? `rank ${first}` : `ranks ${first} to ${last}`));
  const part = (name, colour, value) => ({
    name, type: "bar", stack: "time", barCategoryGap: "12%", itemStyle: { color: colour }, data: data.bars.map(value),
  });
  chart(box, "rank_bars", 300, {
    grid: { left: 70, right: 20, top: 34, bottom: 30 },
    legend: { top: 0 },
    tooltip: {
      trigger: "axis", axisPointer: { type: "shadow" },
      formatter: (all) => `<b>${names[all[0].dataIndex]}</b><br>` +
        all.map((p) => `${p.marker}${p.seriesName}: ${ps(p.value)} (${percent(p.value / step)})`).join("<br>"),
    },
    xAxis: { type: "category", data: data.bars.map(([first]) => first) },
    yAxis: { type: "value", max: Math.max(step, ...data.bars.map((b) => b[2] + b[3] + b[4])), axisLabel: { formatter: ps, showMaxLabel: false } },
    series: [
      part("computing", "#2f6db5", (b) => b[2]), part("moving data", "#e08a2c", (b) => b[3]),
      part("waiting", waitColour, (b) => b[4]), part("idle", idleColour, (b) => Math.max(0, step - b[2] - b[3] - b[4])),
    ],
  });
}

function timeline(data, step) {
  const cut = data.lines.some((line) => line.operations > data.per_line);
  const box = card("timeline", "What ranks did when", "Two lanes per rank: computing above, communicating below, so that " +
    "what lies above each other overlaps; red is waiting for peers. Drag below to zoom." +
    (cut ? ` The first ${count(data.per_line)} operations of each.` : ""));
  const used = new Set(data.operations.map((o) => o[1]));
  const colours = kindColours(data.kinds, data.communicates, used);
  let only = "";
  let kind = "";
  const lane = (o) => 2 * o[0] + (data.communicates[o[1]] ? 1 : 0);
  const option = () => {
    const lines = data.lines.map((line, i) => ({ ...line, i })).filter((l) => only === "" || l.i === Number(only));
    const row = new Map(lines.map((line, i) => [line.i, lines.length - 1 - i]));
    const shown = data.operations.map((o, number) => [o, number]).filter(([o]) => row.has(o[0]) && (kind === "" || o[1] === Number(kind)));
    return {
      yAxis: { data: lines.map((l) => `rank ${l.rank}${l.why ? "\n" + l.why : ""}`).reverse() },
      series: [{
        type: "custom", encode: { x: [1, 2], y: 0 }, progressive: 0, clip: true,
        data: shown.map(([o, number]) => [row.get(o[0]), o[2], o[2] + o[3], number]),
        renderItem: (_, api) => {
          const o = data.operations[api.value(3)];
          const [x0, y] = api.coord([o[2], api.value(0)]);
          const [x1] = api.coord([o[2] + o[3], api.value(0)]);
          const half = api.size([0, 1])[1] * 0.42;
          const lower = lane(o) % 2 === 1;
          const box = { x: x0, y: lower ? y : y - half, width: Math.max(0.6, x1 - x0), height: half - 1 };
          const rect = (shape, fill) => {
            const clipped = graphic.clipRectByRect(shape, api.getWidth && { x: 130, y: 0, width: api.getWidth() - 150, height: api.getHeight() });
            return clipped && { type: "rect", shape: clipped, style: { fill } };
          };
          const wait = o[3] > 0 ? (box.width * Math.min(o[4], o[3])) / o[3] : 0;
          return { type: "group", children: [rect(box, colours[o[1]]), wait > 0.4 && rect({ ...box, width: wait }, waitColour)].filter(Boolean) };
        },
      }],
    };
  };
  const bar = element("div", { class: "bar" });
  const first = option();
  box.append(bar);
  const end = Math.max(...data.operations.map((o) => o[2] + o[3]));
  const per = data.operations.filter((o) => o[0] === 0).length;
  const drawn = chart(box, "timeline", 130 + 44 * data.lines.length, {
    grid: { left: 130, right: 20, top: 10, bottom: 74 },
    tooltip: {
      confine: true,
      formatter: (p) => {
        const o = data.operations[p.data[3]];
        const line = data.lines[o[0]];
        return `<b>${escape(data.kinds[o[1]])}</b>, layer ${o[6]}, micro-batch ${o[7]}<br>rank ${line.rank}: ${escape(line.where)}<br>` +
          `${ps(o[2])} to ${ps(o[2] + o[3])}: <b>${ps(o[3])}</b>` + (o[4] ? `<br>waiting ${ps(o[4])}` : "") +
          (data.communicates[o[1]] ? `<br>exposed ${ps(o[5])}` : "");
      },
    },
    dataZoom: [
      { type: "slider", xAxisIndex: 0, bottom: 8, height: 22, end: per > 90 ? (100 * 90) / per : 100, labelFormatter: (v) => ps(v), filterMode: "weakFilter" },
      { type: "inside", xAxisIndex: 0, zoomOnMouseWheel: "ctrl", filterMode: "weakFilter" },
    ],
    xAxis: { type: "value", min: 0, max: end, axisLabel: { formatter: ps, hideOverlap: true } },
    yAxis: { type: "category", axisLabel: { fontSize: 11, lineHeight: 13 }, ...first.yAxis },
    series: first.series,
  });
  const redraw = () => drawn.setOption(option());
  bar.append(
    select("rank", "rank", [["", "all shown"], ...data.lines.map((l, i) => [String(i), `${l.rank}${l.why ? " (" + l.why + ")" : ""}`])],
      (v) => { only = v; redraw(); }),
    select("operation", "operation", [["", "all"], ...[...used].sort((a, b) => a - b).map((k) => [String(k), data.kinds[k]])],
      (v) => { kind = v; redraw(); }));
  for (const k of [...used].sort((a, b) => a - b))
    bar.append(element("span", {}, element("span", { style: `display:inline-block;width:11px;height:11px;margin-right:5px;background:${colours[k]}` }), data.kinds[k]));
}

export function ranks(data, answer) {
  if (missing("rank_bars", "What ranks did", data)) return;
  const step = answer.step_s * 1e12;
  bars(data, step);
  timeline(data, step);
}
