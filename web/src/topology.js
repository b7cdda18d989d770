// SPDX-License-Identifier: Apache-2.0
// Ranks below, switches above; a line is all links between two groups in both directions, coloured by the hottest.
import { chart, heat, heatColour } from "./charts.js";
import { card, element, escape, select } from "./dom.js";
import { bytes, count, percent } from "./format.js";

// Switches that are joined among themselves stand on a ring, what hangs on them outside it.
function placeOnRings(vertices, edges, tiers) {
  const spread = (row, angle, wide) => row.forEach((v, i) => {
    const a = angle(v, i);
    v.angle = a;
    v.x = 600 + 560 * wide * Math.cos(a);
    v.y = 150 + 150 * wide * Math.sin(a);
  });
  const top = vertices.filter((v) => v.tier === tiers.at(-1));
  spread(top, (_, i) => (2 * Math.PI * i) / top.length - Math.PI / 2, tiers.length > 1 ? 0.72 : 1);
  tiers.slice(0, -1).reverse().forEach((tier, depth) => {
    const beside = new Map();
    const row = vertices.filter((v) => v.tier === tier);
    const parent = (v) => edges.map((e) => (e.a === v.index ? e.b : e.b === v.index ? e.a : -1))
      .find((u) => u >= 0 && vertices[u].angle !== undefined);
    for (const v of row) {
      v.parent = parent(v) ?? top[0].index;
      v.place = beside.get(v.parent) ?? 0;
      beside.set(v.parent, v.place + 1);
    }
    const room = (2 * Math.PI) / Math.max(1, row.length);
    spread(row, (v) => vertices[v.parent].angle + (v.place - (beside.get(v.parent) - 1) / 2) * room, 0.72 + 0.28 * (depth + 1) / (tiers.length - 1));
  });
}

const tiersOf = (vertices) => [...new Set(vertices.map((v) => v.tier))].sort((a, b) => a - b);

function onRings(vertices, edges) {
  const top = tiersOf(vertices).at(-1);
  return edges.some((e) => vertices[e.a].tier === top && vertices[e.b].tier === top);
}

function place(vertices, edges) {
  const tiers = tiersOf(vertices);
  if (onRings(vertices, edges)) return placeOnRings(vertices, edges, tiers);
  const rows = tiers.map((tier) => vertices.filter((v) => v.tier === tier));
  rows.forEach((row, t) => row.forEach((v, i) => {
    v.x = ((i + 0.5) * 1200) / row.length;
    v.y = 290 - (t * 270) / Math.max(1, tiers.length - 1);
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
  const vertices = data.vertices.map((v, index) => ({ ...v, index }));
  const edges = joined(data.edges);
  const between = edges.filter((e) => e.a !== e.b);
  const box = card("topology", "The fabric and its hot links", (onRings(vertices, between) ? "Switches on a ring, ranks outside it"
    : "Ranks below, switches above") + "; alike ones are drawn as one. A line has the colour of the hottest link it stands for." +
    (data.quiet ? ` ${count(data.quiet)} groups that carried nothing are not drawn.` : ""));
  place(vertices, between);
  const inside = new Map(edges.filter((e) => e.a === e.b).map((e) => [e.a, e]));
  const hottest = edges.filter((e) => e.a !== e.b && e.ways.some((w) => w.name === answer.hot?.name))[0];
  const way = (w) => `${escape(vertices[w.from].name)} to ${escape(vertices[w.to].name)}: at most ${percent(w.peak)}, ` +
    `on average ${percent(w.mean)}, ${bytes(w.sent)}<br>&nbsp; hottest: ${escape(w.name)} (${escape(w.linkClass)})`;
  const tooltip = (p) => {
    if (p.dataType === "edge") return edges[p.data.number].ways.map(way).join("<br>");
    const v = vertices[p.data.number];
    const own = inside.get(v.index);
    if (!v) return `the hot link: ${escape(answer.hot.name)}`;
    return `<b>${escape(v.name)}</b>${v.where ? "<br>" + escape(v.where) : ""}<br>${count(v.nodes)} ${v.tier ? "switch" : "rank"}${v.nodes > 1 ? (v.tier ? "es" : "s") : ""}` +
      (own ? "<br>inside: " + own.ways.map(way).join("<br>") : "");
  };
  const few = vertices.length <= 64;
  // Where nearly all are full at some time, the mean tells more; and colours reach up to the hottest.
  const full = between.filter((e) => e.peak > 0.8).length > between.length / 2;
  const scale = { peak: 1, mean: Math.max(1e-9, ...between.map((e) => e.mean)) };
  const colour = (share, what) => heatColour(Math.min(1, share / scale[what]));
  // The name of the hot link stands on its line.
  const flag = hottest && {
    name: "hot", x: 0.5 * (vertices[hottest.a].x + vertices[hottest.b].x), y: 0.5 * (vertices[hottest.a].y + vertices[hottest.b].y),
    symbolSize: 9, symbol: "diamond", itemStyle: { color: "#c2261c", borderColor: "#fff", borderWidth: 1.5 },
    label: {
      show: true, position: vertices[hottest.a].x > 600 ? "left" : "right", formatter: `hot link ${answer.hot.name}`, fontSize: 13,
      fontWeight: "bold", color: "#c2261c", backgroundColor: "rgba(255,255,255,.92)", padding: [2, 5],
    },
  };
  const series = (what, least) => ({
    type: "graph", layout: "none", roam: true, left: 40, right: 40, top: 46, bottom: 40,
    data: vertices.map((v, number) => ({
      number, name: String(number), x: v.x, y: v.y, symbolSize: v.tier ? 18 : 12,
      symbol: v.tier ? "rect" : "circle",
      itemStyle: { color: inside.has(number) ? colour(inside.get(number)[what], what) : "#7c8b99", borderColor: "#44525f" },
      label: {
        show: v.tier === 1 ? vertices.length < 30 : few || v.tier > 1, position: v.tier ? "top" : "bottom", fontSize: 11,
        rotate: vertices.length > 24 && !v.tier ? 35 : 0, align: vertices.length > 24 && !v.tier ? "right" : "center",
        formatter: () => v.name + (v.nodes > 1 && v.tier ? ` (${v.nodes})` : ""),
      },
    })).concat(flag ? [flag] : []),
    links: edges.map((e, number) => ({
      number, source: String(e.a), target: String(e.b), ignore: e.a === e.b || e[what] < least,
      lineStyle: { color: colour(e[what], what), width: 1.5 + (4 * Math.min(scale[what], e[what])) / scale[what], opacity: 0.9, curveness: 0 },
    })).filter((l) => !l.ignore),
  });
  let what = full ? "mean" : "peak";
  let least = 0;
  const bar = element("div", { class: "bar" });
  box.append(bar);
  const drawn = chart(box, "topology", 380, {
    tooltip: { formatter: tooltip, confine: true },
    visualMap: {
      type: "continuous", min: 0, max: 1, calculable: false, orient: "horizontal", right: 0, top: 0, itemHeight: 160,
      itemWidth: 12, text: ["hot", "idle"], inRange: { color: heat.slice(1) }, seriesIndex: [],
    },
    series: [series(what, least)],
  });
  const redraw = () => drawn.setOption({ series: [series(what, least)] }, { replaceMerge: "series" });
  bar.append(
    select("colour", "heat", (full ? ["mean", "peak"] : ["peak", "mean"]).map((v) => [v, { peak: "use in the busiest time bin", mean: "mean use, up to the hottest" }[v]]),
      (v) => { what = v; redraw(); }),
    select("show links", "least", [["0", "all"], ["0.1", "over 10 %"], ["0.5", "over 50 %"], ["0.8", "over 80 %"]],
      (v) => { least = Number(v); redraw(); }));
}
