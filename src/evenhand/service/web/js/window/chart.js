// A small chart: lines and a band over decisions, in SVG, with a readout under the pointer and a table of the same.
//
// Lines differ by dash and width as well as by colour. The picture is one image to a screen reader, with a sentence
// that says what it shows; the table below has the numbers.

import { el, show, svg } from "../dom.js";
import { tableFrame } from "../frames.js";

const HEIGHT = 260;
const ROOM = { top: 14, right: 16, bottom: 40, left: 48 };
const TABLE_ROWS = 12;

/** Ticks at round numbers from low to high, about as many as wanted. */
export function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const found = [];
  const first = Math.ceil(low / step - 1e-9) + 0; // never -0, which would be written with its sign
  for (let at = first; at * step <= high + step * 1e-9; at += 1) found.push(at * step);
  return found;
}

/** A chart in a card. `update` takes {x, low, high, lines: [{name, kind, y, told, above}], band, summary, format}; a line
 * without y is not drawn, and what its `above` says stands at the upper edge. */
export function chart({ id, title, note, xName }) {
  const picture = svg("svg", { role: "img", "aria-labelledby": `${id}-title ${id}-summary`, class: "plot" });
  const readout = el("p", { class: "readout small", "aria-hidden": "true" });
  const legend = el("ul", { class: "legend" });
  const summary = el("p", { class: "muted small", id: `${id}-summary` });
  const table = el("table", { class: "table compact" });
  const fold = el("details", { class: "fold" }, el("summary", {}, "The same as a table"), tableFrame(`${title}, as a table`, table));
  const frame = el("div", { class: "plot-frame" }, picture);
  const element = el("figure", { class: "card chart-card", id },
    el("h3", { id: `${id}-title` }, title), note && el("p", { class: "small muted" }, note), frame, readout, legend, summary, fold);
  let data = null;
  const draw = () => data && plot(picture, frame.clientWidth, data, xName);
  new ResizeObserver(draw).observe(frame);
  fold.addEventListener("toggle", () => data && fillTable(table, fold, data, xName));
  frame.addEventListener("pointermove", (event) => data && point(picture, frame, readout, event, data, xName));
  frame.addEventListener("pointerleave", () => { readout.textContent = ""; picture.querySelector(".rule")?.remove(); });
  return {
    element,
    update(fresh) {
      data = fresh;
      summary.textContent = fresh.summary;
      show(legend, fresh.lines.map(entry), fresh.band && entry({ kind: "band", name: fresh.band.name, told: "" }));
      draw();
      fillTable(table, fold, data, xName);
    },
  };
}

function entry({ kind, name, told }) {
  const sample = kind === "band"
    ? svg("rect", { x: 0, y: 2, width: 28, height: 10, class: "band" })
    : svg("line", { x1: 0, x2: 28, y1: 7, y2: 7, class: `line ${kind}` });
  return el("li", {}, svg("svg", { width: 28, height: 14, "aria-hidden": "true" }, sample), el("span", {}, name), told && el("b", { class: "number" }, told));
}

function scales(width, { x, low, high }) {
  const right = Math.max(x.at(-1) ?? 1, 1);
  return {
    right,
    sx: (value) => ROOM.left + (value / right) * (width - ROOM.left - ROOM.right),
    sy: (value) => HEIGHT - ROOM.bottom - ((value - low) / (high - low)) * (HEIGHT - ROOM.top - ROOM.bottom),
  };
}

function plot(picture, width, data, xName) {
  if (width < 40) return;
  const { sx, sy, right } = scales(width, data);
  picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  picture.setAttribute("height", HEIGHT);
  const grid = ticks(data.low, data.high, 4).map((value) => svg("g", {},
    svg("line", { class: "grid", x1: ROOM.left, x2: width - ROOM.right, y1: sy(value), y2: sy(value) }),
    svg("text", { class: "tick", x: ROOM.left - 8, y: sy(value) + 4, "text-anchor": "end" }, data.format(value))));
  const wanted = Math.max(2, Math.floor(width / 130));
  const marks = ticks(0, right, wanted).filter((value) => Number.isInteger(value)).map((value) => svg("text", {
    class: "tick", x: sx(value), y: HEIGHT - ROOM.bottom + 18, "text-anchor": "middle",
  }, value.toLocaleString("en")));
  const name = svg("text", { class: "axis-name", x: (ROOM.left + width - ROOM.right) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, xName);
  const band = data.band && svg("path", { class: "band", d: area(data, sx, sy) });
  const lines = data.lines.filter((line) => line.y).map((line) =>
    svg("path", { class: `line ${line.kind}`, d: path(data.x, line, sx, sy) }));
  const floor = svg("line", { class: "floor", x1: ROOM.left, x2: width - ROOM.right, y1: sy(data.low), y2: sy(data.low) });
  show(picture, ...grid, ...marks, name, band, floor, ...lines, ...beyond(data, width));
}

/** Limits that lie above the picture: a mark at its upper edge with their number. */
function beyond({ lines }, width) {
  return lines.filter((line) => line.above).map(({ kind, above }, i) => svg("g", { class: "beyond" },
    svg("line", { class: `line ${kind}`, x1: ROOM.left, x2: width - ROOM.right, y1: ROOM.top + 18 * i - 8, y2: ROOM.top + 18 * i - 8 }),
    svg("text", { class: "tick over", x: width - ROOM.right, y: ROOM.top + 18 * i + 8, "text-anchor": "end" }, `↑ ${above}`)));
}

function path(x, { y, steps, from }, sx, sy) {
  let told = from === undefined ? "" : `M${sx(0)},${sy(from)}`;
  x.forEach((at, i) => {
    if (y[i] === null) return;
    if (told === "") told = `M${sx(at)},${sy(y[i])}`;
    else told += steps ? `H${sx(at)}V${sy(y[i])}` : `L${sx(at)},${sy(y[i])}`;
  });
  return told;
}

/** The outline of a band, as far as the picture goes; where nothing is known it has a gap. */
function area({ x, low: least, high: most, band: { low, high } }, sx, sy) {
  const inside = (value) => sy(Math.max(least, Math.min(most, value)));
  const runs = [[]];
  x.forEach((at, i) => { if (low[i] === null) runs.push([]); else runs.at(-1).push(i); });
  return runs.filter((run) => run.length > 1).map((run) => {
    const there = run.map((i) => `${sx(x[i])},${inside(high[i])}`);
    const back = run.toReversed().map((i) => `${sx(x[i])},${inside(low[i])}`);
    return `M${there.join("L")}L${back.join("L")}Z`;
  }).join("");
}

function point(picture, frame, readout, event, data, xName) {
  if (!data.x.length) return;
  const width = frame.clientWidth;
  const { sx, right } = scales(width, data);
  const at = ((event.clientX - frame.getBoundingClientRect().left - ROOM.left) / (width - ROOM.left - ROOM.right)) * right;
  const i = data.x.reduce((best, value, place) => (Math.abs(value - at) < Math.abs(data.x[best] - at) ? place : best), 0);
  picture.querySelector(".rule")?.remove();
  picture.append(svg("line", { class: "rule", x1: sx(data.x[i]), x2: sx(data.x[i]), y1: ROOM.top, y2: HEIGHT - ROOM.bottom }));
  const said = data.lines.filter((line) => line.y && line.y[i] !== null).map((line) => `${line.name} ${data.format(line.y[i])}`);
  readout.textContent = `${xName} ${data.x[i].toLocaleString("en")}: ${said.join(", ")}`;
}

function fillTable(table, fold, data, xName) {
  if (!fold.open) return;
  const every = Math.max(1, Math.ceil(data.x.length / TABLE_ROWS));
  const rows = data.x.map((at, i) => i).filter((i) => i % every === every - 1 || i === data.x.length - 1);
  const lines = data.lines.filter((line) => line.y);
  const cell = (value) => el("td", { class: "right number" }, value === null ? "–" : data.format(value));
  show(table,
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, xName), lines.map((line) => el("th", { scope: "col", class: "right" }, line.name)))),
    el("tbody", {}, rows.map((i) => el("tr", {}, el("th", { scope: "row", class: "number" }, data.x[i].toLocaleString("en")), lines.map((line) => cell(line.y[i]))))));
}
