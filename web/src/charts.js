// SPDX-License-Identifier: Apache-2.0
// The parts of Apache ECharts that the pages use, one way to make a chart, and colours that keep their meaning.
import * as echarts from "echarts/core";
import { BarChart, CustomChart, GraphChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import {
  DataZoomComponent, GridComponent, LegendComponent, MarkLineComponent, TooltipComponent, VisualMapComponent,
} from "echarts/components";
import { CanvasRenderer } from "echarts/renderers";

echarts.use([
  BarChart, CustomChart, GraphChart, HeatmapChart, LineChart, ScatterChart, DataZoomComponent, GridComponent,
  LegendComponent, MarkLineComponent, TooltipComponent, VisualMapComponent, CanvasRenderer,
]);

export const graphic = echarts.graphic;
// Charts by name, for whoever looks at the page from outside (its tests do).
export const charts = {};

export function chart(parent, name, height, option) {
  const box = document.createElement("div");
  box.className = "chart";
  box.style.height = height + "px";
  box.dataset.chart = name;
  parent.append(box);
  const made = echarts.init(box);
  made.setOption({ animation: false, textStyle: { fontFamily: "system-ui, DejaVu Sans, sans-serif" }, ...option });
  charts[name] = made;
  return made;
}

window.addEventListener("resize", () => Object.values(charts).forEach((c) => c.resize()));

// Heat from idle to full: the same colours in every picture.
export const heat = ["#eef3f7", "#c9dcea", "#8fbbd9", "#f3d27a", "#ee9140", "#c2261c"];
export function heatColour(share) {
  const stops = heat.slice(1);
  return stops[Math.min(stops.length - 1, Math.max(0, Math.floor(share * stops.length)))];
}
const computing = ["#2f6db5", "#5b9bd5", "#1b4a80", "#86b6de", "#3f8f8a", "#7fbf9e", "#a3c8e8"];
const moving = ["#e08a2c", "#f2b866", "#b9651b", "#f6d3a0"];
export const waitColour = "#c2261c";
export const idleColour = "#dde4ea";

// One colour per kind of operation: blues compute, oranges move data.
// Kinds that do not occur take none.
export function kindColours(kinds, communicates, used) {
  let c = 0;
  let m = 0;
  return kinds.map((_, k) => (!used.has(k) ? "" : communicates[k] ? moving[m++ % moving.length] : computing[c++ % computing.length]));
}
export function partColours(shares) {
  let c = 0;
  let m = 0;
  return shares.map(({ sort }) => {
    if (sort === "wait") return waitColour;
    if (sort === "idle") return idleColour;
    return sort === "compute" ? computing[c++ % computing.length] : moving[m++ % moving.length];
  });
}
