// SPDX-License-Identifier: Apache-2.0
// A study: who is fastest, the spread over seeds, and the whole table with filters.
import { chart, heatColour } from "./charts.js";
import { card, element, escape, select } from "./dom.js";
import { bytes, count, percent, ps } from "./format.js";

const name = (data, cell, axes) =>
  axes.map((a) => data.axes[a].variants[cell.variants[a]].name).join(", ") || data.scenario;

function tiles(data, axes) {
  const good = data.cells.filter((cell) => cell.p50_ps !== undefined);
  if (!good.length) return;
  const best = good.reduce((a, b) => (b.p50_ps < a.p50_ps ? b : a));
  const worst = good.reduce((a, b) => (b.p50_ps > a.p50_ps ? b : a));
  const tile = (label, value, ...lines) => element("div", { class: "tile" }, element("div", { class: "label" }, label),
    element("div", { class: "value small" }, value), ...lines.map((line) => element("div", { class: "more" }, line)));
  document.getElementById("page").append(element("div", { class: "tiles" },
    tile("Fastest", name(data, best, axes), `${ps(best.p50_ps)} (median seed), ${percent(best.of_bound)} of the bound`,
      `hottest: ${best.hottest_class}, ${percent(best.hottest_use)}`),
    tile("Slowest", name(data, worst, axes), `${ps(worst.p50_ps)}, ${(worst.p50_ps / best.p50_ps).toFixed(2)}x the fastest`,
      `hottest: ${worst.hottest_class}, ${percent(worst.hottest_use)}`),
    tile("Members", count(data.members), `${count(data.cells.length)} combinations, ${count(data.seeds)} seeds each`,
      `${count(data.failed)} failed, ${count(data.missing)} not run`)));
}

function columns(data) {
  const list = data.axes.map((axis, a) => ({ head: axis.name, left: true, value: (c) => axis.variants[c.variants[a]].name }));
  const add = (head, key, show) => list.push({ head, value: (c) => c[key], show });
  add("p5", "p5_ps", ps);
  add("p50", "p50_ps", ps);
  add("p95", "p95_ps", ps);
  add("of bound", "of_bound", percent);
  add("hottest tier", "hottest_class", String);
  add("its use", "hottest_use", percent);
  add("goodput", "goodput", (v) => bytes(v) + "/s");
  if (data.has_failures) add("ranks delayed", "affected_ranks", count);
  if (data.cells.some((c) => c.cost !== undefined)) {
    add("cost", "cost", (v) => count(Math.round(v)));
    list.push({ head: "cost x step", value: (c) => c.cost && c.cost * c.p50_ps * 1e-12, show: (v) => v.toPrecision(4) });
  }
  add("worst seed", "worst_seed", String);
  return list;
}

export function studyPage(data) {
  const page = document.getElementById("page");
  page.append(element("header", {}, element("h1", {}, data.name), element("p", { class: "sub" },
    `${data.scenario}: ${data.axes.map((a) => `${a.variants.length} of ${a.name}`).join(", ")}; ${count(data.seeds)} seeds`)));
  if (data.failed) page.append(element("div", { class: "red" }, `${count(data.failed)} of ${count(data.members)} members failed: ` +
    "no figures are given where one did."));
  if (data.missing) page.append(element("div", { class: "red" }, `${count(data.missing)} members have not run yet.`));
  const axes = data.axes.map((_, a) => a);
  tiles(data, axes);

  const chosen = data.axes.map(() => "");
  const shown = () => data.cells.filter((cell) => chosen.every((v, a) => v === "" || cell.variants[a] === Number(v)));
  const bar = element("div", { class: "bar" });
  const box = card("study_steps", "Step time", "Median over the seeds; whiskers from the 5th to the 95th percentile. The " +
    "colour is the use of the hottest link.");
  box.append(bar);
  const option = () => {
    const cells = shown().filter((c) => c.p50_ps !== undefined);
    return {
      yAxis: { data: cells.map((c) => name(data, c, axes)).reverse() },
      series: [
        { type: "bar", barMaxWidth: 26, data: [...cells].reverse().map((c) => ({ value: c.p50_ps, cell: c, itemStyle: { color: heatColour(c.hottest_use) } })) },
        {
          type: "custom", tooltip: { show: false }, encode: { x: [1, 2], y: 0 }, z: 3, data: [...cells].reverse().map((c, i) => [i, c.p5_ps, c.p95_ps]),
          renderItem: (_, api) => {
            const [x0, y] = api.coord([api.value(1), api.value(0)]);
            const [x1] = api.coord([api.value(2), api.value(0)]);
            const line = (xa, ya, xb, yb) => ({ type: "line", shape: { x1: xa, y1: ya, x2: xb, y2: yb }, style: { stroke: "#1b2733", lineWidth: 1.5 } });
            return { type: "group", children: [line(x0, y, x1, y), line(x0, y - 5, x0, y + 5), line(x1, y - 5, x1, y + 5)] };
          },
        },
      ],
    };
  };
  const first = option();
  const drawn = chart(box, "study_steps", Math.max(200, 90 + 26 * Math.min(40, data.cells.length)), {
    grid: { left: 12, right: 40, top: 10, bottom: 30, containLabel: true },
    tooltip: {
      confine: true,
      formatter: (p) => {
        const c = p.data.cell;
        return `<b>${escape(name(data, c, axes))}</b><br>p5 ${ps(c.p5_ps)}, p50 ${ps(c.p50_ps)}, p95 ${ps(c.p95_ps)}<br>` +
          `${percent(c.of_bound)} of the bound<br>hottest: ${escape(c.hottest_link)}, ${percent(c.hottest_use)}` +
          (c.affected_ranks !== undefined ? `<br>${count(c.affected_ranks)} ranks delayed` : "");
      },
    },
    xAxis: { type: "value", min: 0, axisLabel: { formatter: ps, hideOverlap: true } },
    yAxis: { type: "category", axisLabel: { fontSize: 12 }, ...first.yAxis },
    series: first.series,
  });

  const list = columns(data);
  const table = card("study_table", "All combinations", "Click a heading to sort; the worst seed's command replays it.");
  const body = element("tbody");
  let order = null;
  const fill = () => {
    const cells = shown();
    if (order) cells.sort((a, b) => { const [x, y] = [order(a), order(b)]; return x < y ? -1 : x > y ? 1 : 0; });
    body.replaceChildren(...cells.map((cell) => {
      if (cell.p50_ps === undefined)
        return element("tr", { class: "failed" }, ...data.axes.map((axis, a) => element("td", { class: "left" }, axis.variants[cell.variants[a]].name)),
          element("td", { class: "left wide", colspan: list.length - data.axes.length }, `${cell.status}. ${cell.error}`));
      return element("tr", { title: cell.replay }, ...list.map((column) => {
        const value = column.value(cell);
        return element("td", { class: column.left ? "left" : "" }, value === undefined ? "-" : (column.show ?? String)(value));
      }));
    }));
  };
  table.append(element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {},
    ...list.map((column) => element("th", { "data-sort": column.head, class: column.left ? "left" : "", onclick: () => { order = column.value; fill(); } }, column.head)))), body)));
  fill();
  const replays = data.cells.filter((c) => c.replay);
  table.append(element("details", {}, element("summary", {}, "Commands that replay the worst seed of each"),
    element("pre", {}, replays.map((c) => `# ${name(data, c, axes)}: ${c.worst_digest}\n${c.replay}`).join("\n"))));
  data.axes.forEach((axis, a) => bar.append(select(axis.name, axis.name,
    [["", "all"], ...axis.variants.map((v, i) => [String(i), v.name])], (v) => { chosen[a] = v; drawn.setOption(option()); fill(); })));
}
