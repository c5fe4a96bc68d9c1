// A chart in a card: a picture of lines over decisions, what its lines mean, a sentence, and a table of the same.
//
// The picture is one image to a screen reader, with the sentence that says what it shows; the table has the numbers.

import { el, show, svg } from "../dom.js";
import { tableFrame } from "../frames.js";
import { drawing } from "./drawing.js";
import { LINES } from "./lines.js";
import { savePicture } from "./save.js";
import { timeline } from "./timeline.js";

const TABLE_ROWS = 12;
const MISSING = "The picture cannot be drawn: the chart library did not come. Its numbers are in the table below.";

/** A chart in a card. `update` takes {x, low, high, lines: [{name, short, kind, y, told, above, more}], band, summary, format,
 * tickFormat, at}; a line without y is not drawn, and what its `above` says stands at the upper edge; `more` gives what
 * the readout adds at a place, `at` is its heading. file: what a saved picture is called. */
export function chart({ id, file, title, note, xName }) {
  const legend = el("ul", { class: "legend" });
  const summary = el("p", { class: "muted small", id: `${id}-summary` });
  const table = el("table", { class: "table compact" });
  const fold = el("details", { class: "fold" }, el("summary", {}, "The same as a table"), tableFrame(`${title}, as a table`, table));
  let data = null;
  const words = el("p", { class: "small muted" }, "The picture is on its way.");
  const frame = el("div", { class: "plot-frame timeline", role: "img", "aria-labelledby": `${id}-title ${id}-summary` }, words);
  const figure = (width, palette) => data && timeline(data, xName, width, palette);
  const redraw = drawing(frame, {
    figure: ({ width }, palette) => figure(width, palette),
    drawn: () => { save.hidden = false; },
    missing: () => { words.textContent = MISSING; fold.open = true; },
  });
  const save = el("button", { class: "button quiet small", type: "button", hidden: true, "aria-describedby": `${id}-title`, onclick: () => savePicture(file, title, figure) }, "Save as picture");
  const element = el("figure", { class: "card chart-card", id },
    el("h3", { id: `${id}-title` }, title), note && el("p", { class: "small muted" }, note), frame, legend, summary,
    el("div", { class: "chart-foot" }, fold, save));
  fold.addEventListener("toggle", () => data && fillTable(table, fold, data, xName));
  return {
    element,
    update(fresh) {
      data = fresh;
      summary.textContent = fresh.summary;
      show(legend, fresh.lines.map(entry), fresh.band && entry({ kind: "band", name: fresh.band.name, told: "" }));
      redraw();
      fillTable(table, fold, data, xName);
    },
  };
}

function entry({ kind, name, told }) {
  const sample = kind === "band" ? svg("rect", { x: 0, y: 2, width: 28, height: 10, class: "band" }) : stroke(LINES[kind]);
  return el("li", {}, svg("svg", { width: 28, height: 14, "aria-hidden": "true" }, sample), el("span", {}, name), told && el("b", { class: "number" }, told));
}

const stroke = ({ colour, width, dash }) =>
  svg("line", { x1: 0, x2: 28, y1: 7, y2: 7, stroke: `var(--${colour})`, "stroke-width": width, "stroke-dasharray": dash.join(" ") || null });

function fillTable(table, fold, data, xName) {
  if (!fold.open) return;
  const every = Math.max(1, Math.ceil(data.x.length / TABLE_ROWS));
  const rows = data.x.map((at, i) => i).filter((i) => i % every === every - 1 || i === data.x.length - 1);
  const known = (value) => (value === null ? "–" : data.format(value));
  const columns = data.lines.filter((line) => line.y).map((line) => ({ name: line.name, tell: (i) => known(line.y[i]) }));
  if (data.band) columns.push({ name: data.band.name, tell: (i) => (data.band.low[i] === null ? "–" : `${known(data.band.low[i])} to ${known(data.band.high[i])}`) });
  show(table,
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, xName), columns.map(({ name }) => el("th", { scope: "col", class: "right" }, name)))),
    el("tbody", {}, rows.map((i) => el("tr", {}, el("th", { scope: "row", class: "number" }, data.x[i].toLocaleString("en")), columns.map(({ tell }) => el("td", { class: "right number" }, tell(i)))))));
}
