// SPDX-License-Identifier: Apache-2.0
// How long, what limits it, which link is hot; then where the time goes and what each operation took.
import { chart, partColours } from "./charts.js";
import { card, element, escape } from "./dom.js";
import { bytes, count, factor, percent, ps, seconds } from "./format.js";

const tile = (label, value, lines, kind = "") =>
  element("div", { class: "tile " + kind }, element("div", { class: "label" }, label),
    element("div", { class: "value" + (String(value).length > 16 ? " small" : "") }, value),
    ...lines.filter(Boolean).map((line) => element("div", { class: "more" }, line)));

function limits(answer) {
  const [first, second] = answer.shares.filter((part) => part.sort !== "idle");
  if (!first) return tile("What limits it", "nothing ran", []);
  const why = (part) =>
    part.sort === "wait" ? "ranks wait for peers that have not started"
      : part.bound_by ? `bound by ${part.bound_by}` : "";
  return tile("What limits it", first.name, [
    `${percent(first.seconds / answer.step_s)} of the step; ${why(first)}`,
    second && `then ${second.name}, ${percent(second.seconds / answer.step_s)}${why(second) ? "; " + why(second) : ""}`,
  ]);
}

function hotLink(answer) {
  const hot = answer.hot;
  if (!hot) return tile("Hot link", "none", ["No link carried anything."]);
  const busiest = hot.peak > 0
    ? `at most ${percent(hot.peak)} busy (in ${ps(hot.bin_ps)} from ${ps(hot.peak_from_ps)}), ` +
      `${percent(hot.mean)} on average`
    : `${percent(hot.mean)} busy on average`;
  return tile("Hot link", hot.name, [
    busiest,
    `class ${hot.class}, ${bytes(hot.bytes)}` + (hot.alike > 1 ? `; ${count(hot.alike - 1)} others of it nearly as hot` : ""),
  ], "hot");
}

function partsChart(answer) {
  const all = answer.shares.reduce((sum, part) => sum + part.seconds, 0);
  const box = card("parts", "Where the time goes", "One step of the mean rank. Blue computes, orange moves data while " +
    "nothing else runs, red waits for peers." +
    (all > 1.001 * answer.step_s ? " Ranks do several things at once here, so that parts add up to more than the step." : ""));
  const colours = partColours(answer.shares);
  chart(box, "parts", 118, {
    grid: { left: 8, right: 20, top: 34, bottom: 24 },
    legend: { top: 0, type: "scroll" },
    tooltip: {
      formatter: (p) => `<b>${escape(p.seriesName)}</b><br>${seconds(p.value)}, ${percent(p.value / answer.step_s)}`,
    },
    xAxis: { type: "value", max: Math.max(all, answer.step_s), axisLabel: { formatter: seconds, hideOverlap: true } },
    yAxis: { type: "category", data: [""], axisTick: { show: false }, axisLine: { show: false } },
    series: answer.shares.map((part, i) => ({
      name: part.name, type: "bar", stack: "step", data: [part.seconds], itemStyle: { color: colours[i] }, barWidth: 42,
      label: {
        show: part.seconds > 0.05 * answer.step_s, color: part.sort === "idle" ? "#1b2733" : "#fff", fontSize: 13, lineHeight: 17,
        formatter: () => (part.seconds > 0.012 * part.name.length * answer.step_s ? part.name + "\n" : "") +
          percent(part.seconds / answer.step_s),
      },
    })),
  });
}

function operations(answer) {
  const box = card("operations", "Operations", "Bound: what the device or the links allow at best; of an exchange the " +
    "time in which the whole of it could end.");
  const head = ["operation", "count", "mean", "p50", "p99", "max", "waiting", "exposed", "bound", "bound by"];
  const body = element("tbody");
  for (const o of answer.operations) {
    body.append(element("tr", { title: o.formula },
      element("td", {}, o.name), element("td", {}, count(o.count)),
      ...[o.mean_s, o.p50_s, o.p99_s, o.max_s, o.wait_mean_s].map((s) => element("td", {}, s ? seconds(s) : "-")),
      element("td", {}, percent(o.exposed_share)), element("td", {}, o.bound_s ? seconds(o.bound_s) : "-"),
      element("td", {}, o.bound_by + (o.bound_link ? ` (${o.bound_link})` : ""))));
    body.append(element("tr", {}, element("td", { class: "wide left", colspan: head.length }, o.formula)));
  }
  box.append(element("div", { class: "scroll" },
    element("table", {}, element("thead", {}, element("tr", {}, ...head.map((h) => element("th", {}, h)))), body)));
}

export function answer(data) {
  const page = document.getElementById("page");
  page.append(element("header", {}, element("h1", {}, data.name), element("p", { class: "sub" },
    `${data.model} on ${data.fabric}; ${data.network}`)));
  if (!data.complete) page.append(element("div", { class: "red" }, "The workload did not finish: figures are of its part."));
  page.append(element("div", { class: "tiles" },
    tile("One step takes", seconds(data.step_s), [
      `ideal ${seconds(data.ideal_s)}: it takes ${factor(data.step_s / data.ideal_s)} that`,
      `${count(data.ranks)} ranks, ${count(data.flows)} transfers`,
    ]), limits(data), hotLink(data)));
  partsChart(data);
}

export function appendix(data) {
  operations(data);
  const box = card("about", "About this run");
  const list = (title, lines) =>
    lines.length && box.append(element("p", { class: "note" }, title),
      element("ul", { class: "plain" }, ...lines.map((line) => element("li", {}, line))));
  list("Warnings", data.warnings);
  list("Settings without effect", data.ignored);
  box.append(
    element("p", { class: "note" }, `ideal: ${data.ideal_how}. Imbalance (largest over mean tokens): ranks ` +
      `${factor(data.imbalance[0])}, experts ${factor(data.imbalance[1])}.`),
    element("p", { class: "note" }, `digest ${data.digest}, Orrery ${data.version}, ${data.command}`),
    element("details", {}, element("summary", {}, "The scenario, with every default"),
      element("pre", {}, data.scenario)));
}
