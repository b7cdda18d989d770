// SPDX-License-Identifier: Apache-2.0
// Ranks below, switches above; a line is all links between two groups in both directions, coloured by the hottest.
import { chart, heat, heatColour } from "./charts.js";
import { card, element, escape, select } from "./dom.js";
import { bytes, count, percent } from "./format.js";

function place(vertices, edges) {
  const tiers = [...new Set(vertices.map((v) => v.tier))].sort((a, b) => a - b);
  const switched = tiers.length > 1;
  if (!switched) {  // links from rank to rank: a circle
    vertices.forEach((v, i) => {
      const angle = (2 * Math.PI * i) / vertices.length;
      v.x = 600 + 500 * Math.cos(angle);
      v.y = 210 + 200 * Math.sin(angle);
    });
    return;
  }
  const rows = tiers.map((tier) => vertices.filter((v) => v.tier === tier));
  rows.forEach((row, t) => row.forEach((v, i) => {
    v.x = ((i + 0.5) * 1200) / row.length;
    v.y = 400 - (t * 380) / (tiers.length - 1);
  }));
  // A switch stands over the middle of what it joins below.
  for (const row of rows.slice(1)) {
    const wanted = row.map((v) => {
      const below = edges.filter((e) => e.a === v.index || e.b === v.index)
        .map((e) => vertices[e.a === v.index ? e.b : e.a]).filter((u) => u.tier < v.tier);
      return { v, x: below.length ? below.reduce((sum, u) => sum + u.x, 0) / below.length : v.x };
    }).sort((p, q) => p.x - q.x);
    wanted.forEach(({ v, x }, i) => { v.x = row.length > 1 ? 0.5 * x + 0.5 * ((i + 0.5) * 1200) / row.length : x; });
  }
}

function joined(edges) {
  const both = new Map();
  for (const [from, to, mean, peak, sent, name, linkClass, bundles] of edges) {
    const [a, b] = from < to ? [from, to] : [to, from];
    const key = a + "-" + b;
    if (!both.has(key)) both.set(key, { a, b, mean: 0, peak: 0, ways: [] });
    const edge = both.get(key);
    edge.mean = Math.max(edge.mean, mean);
    edge.peak = Math.max(edge.peak, peak);
    edge.ways.push({ from, to, mean, peak, sent, name, linkClass, bundles });
  }
  return [...both.values()];
}

export function topology(data, answer) {
  const box = card("topology", "The fabric and its hot links", "Ranks below, switches above; alike ones are one circle. " +
    "A line has the colour of the hottest link it stands for." +
    (data.quiet ? ` ${count(data.quiet)} groups that carried nothing are not drawn.` : ""));
  const vertices = data.vertices.map((v, index) => ({ ...v, index }));
  const edges = joined(data.edges);
  place(vertices, edges.filter((e) => e.a !== e.b));
  const inside = new Map(edges.filter((e) => e.a === e.b).map((e) => [e.a, e]));
  const hottest = edges.filter((e) => e.a !== e.b && e.ways.some((w) => w.name === answer.hot?.name))[0];
  const way = (w) => `${escape(vertices[w.from].name)} to ${escape(vertices[w.to].name)}: at most ${percent(w.peak)}, ` +
    `on average ${percent(w.mean)}, ${bytes(w.sent)}<br>&nbsp; hottest: ${escape(w.name)} (${escape(w.linkClass)})`;
  const tooltip = (p) => {
    if (p.dataType === "edge") return edges[p.data.number].ways.map(way).join("<br>");
    const v = vertices[p.data.number];
    const own = inside.get(v.index);
    return `<b>${escape(v.name)}</b><br>${count(v.nodes)} ${v.tier ? "switch" : "rank"}${v.nodes > 1 ? (v.tier ? "es" : "s") : ""}` +
      (own ? "<br>inside: " + own.ways.map(way).join("<br>") : "");
  };
  const few = vertices.length <= 40;
  const series = (what, least) => ({
    type: "graph", layout: "none", roam: true, left: 40, right: 40, top: 40, bottom: 36,
    data: vertices.map((v, number) => ({
      number, name: String(number), x: v.x, y: v.y, symbolSize: v.tier ? 20 : 13,
      symbol: v.tier ? "rect" : "circle",
      itemStyle: { color: inside.has(number) ? heatColour(inside.get(number)[what]) : "#7c8b99", borderColor: "#44525f" },
      label: {
        show: few || v.tier > 1, position: v.tier ? "top" : "bottom", fontSize: 11, rotate: few && vertices.length > 14 && !v.tier ? 30 : 0,
        formatter: () => v.name + (v.nodes > 1 ? ` (${v.nodes})` : ""),
      },
    })),
    links: edges.map((e, number) => ({
      number, source: String(e.a), target: String(e.b), ignore: e.a === e.b || e[what] < least,
      lineStyle: { color: heatColour(e[what]), width: 1.5 + 5 * Math.min(1, e[what]), opacity: 0.9, curveness: 0 },
      label: {
        show: e === hottest, formatter: () => `${answer.hot.name}: ${percent(e[what])}`, fontSize: 13, fontWeight: "bold",
        color: "#c2261c", backgroundColor: "rgba(255,255,255,.9)", padding: [2, 4],
      },
    })).filter((l) => !l.ignore),
  });
  let what = "peak";
  let least = 0;
  const bar = element("div", { class: "bar" });
  box.append(bar);
  const drawn = chart(box, "topology", 470, {
    tooltip: { formatter: tooltip, confine: true },
    visualMap: {
      type: "continuous", min: 0, max: 1, calculable: false, orient: "horizontal", left: "center", top: 0, itemHeight: 160,
      itemWidth: 12, text: ["full", "idle"], inRange: { color: heat.slice(1) }, seriesIndex: [],
    },
    series: [series(what, least)],
  });
  const redraw = () => drawn.setOption({ series: [series(what, least)] }, { replaceMerge: "series" });
  bar.append(
    select("colour", "heat", [["peak", "busiest time bin"], ["mean", "mean of the step"]], (v) => { what = v; redraw(); }),
    select("show links", "least", [["0", "all"], ["0.1", "over 10 %"], ["0.5", "over 50 %"], ["0.8", "over 80 %"]],
      (v) => { least = Number(v); redraw(); }));
}
