// A line chart in a card: lines over decisions with a readout, a legend, a sentence, and a table of the same numbers.
//
// For screen readers the picture is one image, named by its title and its sentence.

import { el, show, svg } from "../dom.js";
import { term } from "../glossary.js";
import { tableFrame } from "../tables.js";
import { onWidth, textWidth, ticks } from "./drawing.js";
import { savePicture } from "./save.js";

const TABLE_ROWS = 12;
const HEIGHT = 200;
const TEXT = 0.78125; // rem
const ROOM = { top: 14, right: 16, bottom: 44 };
const ABOVE = 22; // pixels from one limit above the picture to the next
const NARROWEST = 40;

/** A chart in a card. `update` takes {x, low, high, whole, lines: [{name, short, kind, y, steps, from, value, above, more}],
 * band: {name, low, high}, summary, format, tick}. A line without y is not drawn: `above` names it at the upper edge.
 * `from` is its value at 0, `more(i)` adds to the readout. file: the name of a saved picture. */
export function lineChart({ id, file, title, note, xName, terms = {} }) {
  const legend = el("ul", { class: "legend" });
  const fillLegend = legendOf(legend, terms);
  const summary = el("p", { class: "muted small", id: `${id}-summary` });
  const table = el("table", { class: "table compact" });
  const fold = el("details", { class: "fold" }, el("summary", {}, "Show as table"), summary, tableFrame(`${title}, as a table`, table));
  const readout = el("div", { class: "readout", "aria-hidden": "true", hidden: true });
  const frame = el("div", { class: "plot-frame", role: "img" });
  const save = el("button", { class: "button quiet small", type: "button", "aria-describedby": `${id}-title`, onclick: () => savePicture(file, title, legend, (width) => plot(data, xName, width).element) }, "Save as picture");
  let [data, drawn, pointer] = [null, null, null];

  const draw = () => {
    if (!data || frame.clientWidth < NARROWEST) return;
    drawn = plot(data, xName, frame.clientWidth);
    show(frame, drawn.element, readout);
    read();
  };
  const read = () => {
    readout.hidden = pointer === null || !data.x.length;
    if (!readout.hidden) showReadout(readout, drawn, data, xName, pointer, frame.clientWidth);
  };
  const point = (event) => { pointer = event.clientX - frame.getBoundingClientRect().left; read(); };
  frame.addEventListener("pointermove", point);
  frame.addEventListener("pointerdown", point);
  // A finger that leaves keeps the readout: a tap would show it for a moment only.
  frame.addEventListener("pointerleave", ({ pointerType }) => { if (pointerType === "mouse") { pointer = null; if (drawn) { drawn.mark(null); read(); } } });
  fold.addEventListener("toggle", () => data && fillTable(table, fold, data, xName));
  onWidth(frame, draw);
  return {
    element: el("figure", { class: "card chart-card", id },
      el("h3", { id: `${id}-title` }, title), frame, legend,
      el("div", { class: "chart-foot" }, fold, save)),
    update(fresh) {
      data = fresh;
      summary.textContent = [note, fresh.summary].filter(Boolean).join(" ");
      frame.setAttribute("aria-label", `${title}. ${summary.textContent}`);
      fillLegend([...fresh.lines, ...(fresh.band ? [{ kind: "band", name: fresh.band.name, value: "" }] : [])]);
      draw();
      fillTable(table, fold, data, xName);
    },
  };
}

/** Entries are made anew only when their names change: an open meaning stays open, and the focus where it is. */
function legendOf(legend, terms) {
  let [names, values] = [null, []];
  return (entries) => {
    const wanted = JSON.stringify(entries.map(({ kind, name }) => [kind, name]));
    if (wanted !== names) {
      names = wanted;
      values = entries.map(() => el("b", { class: "number" }));
      show(legend, entries.map((entry, i) => legendEntry(entry, terms[entry.kind], values[i])));
    }
    entries.forEach(({ value }, i) => { values[i].textContent = value; });
  };
}

function legendEntry({ kind, name }, meaning, value) {
  const sample = kind === "band" ? svg("rect", { x: 0, y: 2, width: 28, height: 10, class: "band" }) : svg("path", { class: `line ${kind}`, d: "M0,7H28" });
  return el("li", {}, svg("svg", { width: 28, height: 14, "aria-hidden": "true" }, sample), el("span", {}, meaning ? term(meaning, name) : name), value);
}

/** {element: the picture, sx: x in pixels, mark(i): highlights a place}. */
function plot(data, xName, width) {
  const size = TEXT * parseFloat(getComputedStyle(document.documentElement).fontSize);
  const scale = Math.max(1, size / (TEXT * 16)); // larger letters need more room
  const height = HEIGHT + ROOM.bottom * (scale - 1);
  const [top, right, bottom] = [ROOM.top * scale, width - ROOM.right, height - ROOM.bottom * scale];
  const upward = ticks(data.low, data.high, 5).filter((value) => !data.whole || Number.isInteger(value));
  const left = Math.ceil(Math.max(...upward.map((value) => textWidth(data.tick(value), size)))) + 10;
  const last = Math.max(data.x.at(-1) ?? 1, 1);
  const sx = (value) => left + (value / last) * (right - left);
  const sy = (value) => bottom - ((value - data.low) / (data.high - data.low)) * (bottom - top);
  const across = ticks(0, last, Math.max(2, Math.floor(width / scale / 130))).filter(Number.isInteger);
  const spike = svg("line", { class: "spike", y1: top, y2: bottom, visibility: "hidden" });
  const above = data.lines.filter((line) => line.above);
  const clip = (value) => Math.min(data.high, Math.max(data.low, value));
  const element = svg("svg", { class: "plot", "aria-hidden": "true", width, height, viewBox: `0 0 ${width} ${height}` },
    upward.map((value) => [svg("line", { class: value === 0 ? "axis" : "grid", x1: left, x2: right, y1: sy(value), y2: sy(value) }),
      svg("text", { x: left - 6, y: sy(value) + size / 3, "text-anchor": "end" }, data.tick(value))]).flat(),
    svg("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }),
    across.map((value) => svg("text", { class: "x-tick", x: sx(value), y: bottom + 1.4 * size, "text-anchor": value > 0.95 * last ? "end" : "middle" }, value.toLocaleString("en"))),
    svg("text", { class: "x-name", x: (left + right) / 2, y: height - 0.4 * size, "text-anchor": "middle" }, xName),
    data.band && svg("path", { class: "band", d: bandPath(data, sx, (value) => sy(clip(value))) }),
    data.lines.filter((line) => line.y).map((line) => svg("path", { class: `line ${line.kind}`, d: linePath(line, data.x, sx, sy) })),
    above.map((line, i) => {
      const y = top - 6 + ABOVE * scale * i;
      return svg("g", {}, svg("path", { class: `line ${line.kind}`, d: `M${left},${y}H${right}` }),
        svg("text", { class: "above", x: right, y: y + 1.2 * size, "text-anchor": "end" }, `↑ ${line.above}`));
    }),
    spike);
  const mark = (i) => {
    spike.setAttribute("visibility", i === null ? "hidden" : "visible");
    if (i !== null) for (const end of ["x1", "x2"]) spike.setAttribute(end, sx(data.x[i]));
  };
  return { element, sx, mark };
}

/** A line over the known values. */
function linePath({ y, steps, from }, x, sx, sy) {
  const known = x.map((at, i) => [at, y[i]]).filter(([, value]) => value !== null);
  if (from !== undefined) known.unshift([0, from]);
  return known.map(([at, value], i) => (i === 0 ? `M${sx(at)},${sy(value)}` : steps ? `H${sx(at)}V${sy(value)}` : `L${sx(at)},${sy(value)}`)).join("");
}

/** The outline of a band, with gaps where it is unknown. */
function bandPath({ x, band: { low, high } }, sx, sy) {
  const runs = [[]];
  x.forEach((_, i) => { if (low[i] === null) runs.push([]); else runs.at(-1).push(i); });
  const corner = (values) => (i) => `${sx(x[i])},${sy(values[i])}`;
  return runs.filter((run) => run.length > 1)
    .map((run) => `M${run.map(corner(high)).join("L")}L${run.toReversed().map(corner(low)).join("L")}Z`).join("");
}

/** The values at the place nearest to the pointer, in a box beside it. */
function showReadout(readout, { sx, mark }, data, xName, pointer, width) {
  const distance = data.x.map((at) => Math.abs(sx(at) - pointer));
  const i = distance.indexOf(Math.min(...distance));
  mark(i);
  show(readout, el("b", {}, `${xName}: ${data.x[i].toLocaleString("en")}`),
    data.lines.filter((line) => line.y && line.y[i] !== null).map((line) => el("span", {},
      svg("svg", { width: 18, height: 10 }, svg("path", { class: `line ${line.kind}`, d: "M0,5H18" })), ` ${line.short}: ${data.format(line.y[i])} ${line.more?.(i) ?? ""}`)));
  const at = sx(data.x[i]);
  const beside = at + 12 + readout.offsetWidth <= width ? at + 12 : at - 12 - readout.offsetWidth;
  readout.style.left = `${Math.max(0, Math.min(beside, width - readout.offsetWidth))}px`;
}

function fillTable(table, fold, data, xName) {
  if (!fold.open) return;
  const every = Math.max(1, Math.ceil(data.x.length / TABLE_ROWS));
  const rows = data.x.map((at, i) => i).filter((i) => i % every === every - 1 || i === data.x.length - 1);
  const known = (value) => (value === null ? "–" : data.format(value));
  const columns = data.lines.filter((line) => line.y).map((line) => ({ name: line.name, cell: (i) => known(line.y[i]) }));
  if (data.band) columns.push({ name: data.band.name, cell: (i) => (data.band.low[i] === null ? "–" : `${known(data.band.low[i])} to ${known(data.band.high[i])}`) });
  show(table,
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, xName), columns.map(({ name }) => el("th", { scope: "col", class: "right" }, name)))),
    el("tbody", {}, rows.map((i) => el("tr", {}, el("th", { scope: "row", class: "number" }, data.x[i].toLocaleString("en")), columns.map(({ cell }) => el("td", { class: "right number" }, cell(i)))))));
}
