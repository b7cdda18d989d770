// SPDX-License-Identifier: Apache-2.0
// Draws the page from the data inside it.
import style from "./page.css";
import { answer, appendix } from "./answer.js";
import { charts } from "./charts.js";
import { element } from "./dom.js";
import { experts } from "./experts.js";
import { flows } from "./flows.js";
import { linkHeat } from "./link_heat.js";
import { ranks } from "./ranks.js";
import { studyPage } from "./study.js";
import { topology } from "./topology.js";
import { traffic } from "./traffic.js";

function runPage(data) {
  return [
    () => answer(data.answer),
    () => topology(data.topology, data.answer),
    () => linkHeat(data.heat),
    () => ranks(data.ranks, data.answer),
    () => traffic(data.traffic),
    () => flows(data.flows),
    () => experts(data.experts),
    () => appendix(data.answer),
  ];
}

const started = performance.now();
const footer = () => document.getElementById("page").append(element("footer", {}, "Made by Orrery. Charts: Apache ECharts " +
  "(Apache-2.0) with zrender (BSD-3-Clause). Nothing on this page comes from the network."));

// The answer at once; the rest in turns, so that the page can be read and scrolled meanwhile.
function draw(parts) {
  parts.shift()();
  if (parts.length) setTimeout(draw, 0, parts);
  else window.orreryPage = { charts, first_ms, drawn_ms: performance.now() - started };
}
document.head.append(element("style", {}, style));
const data = JSON.parse(document.getElementById("data").textContent);
const parts = data.kind === "study" ? [() => studyPage(data)] : runPage(data);
parts.shift()();
const first_ms = performance.now() - started;
draw([...parts, footer]);
