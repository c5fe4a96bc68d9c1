// What each feature can do, as bars with their uncertainty. Names and numbers are text of the page; the bars are drawn
// over the tracks that stand between them, wherever these come to lie.

import { $, el, show } from "../dom.js";
import { named } from "../format.js";
import { drawing } from "./drawing.js";
import { own, pointsOf, separated } from "./words.js";

const BAR = 0.6; // of the track's height
const NEARLY_NOTHING = 0.001; // of a lower end: a tenth of a point
const MOVED = 0.002; // a bar that moved by less is where it was
const EDGE = 2; // pixels at either side, so that ends at 0 and at 100 are seen whole
const NARROW = 320; // pixels: there is no room for the word "points" then
const SCALE = [0, 0.25, 0.5, 0.75, 1];
const inside = (value) => Math.min(1, Math.max(0, value));

/** A list of features in `place`; `update` takes their effects and what each was when somebody first looked, and
 * gives whether any has moved. The sentence
 * `undrawn` is shown if the bars cannot be drawn. */
export function effectBars(place, undrawn) {
  const frame = el("div", { class: "plot-frame", "aria-hidden": "true" });
  let bars = [];
  let at = null; // the row under the pointer
  let tell = () => null;
  const rows = () => [...place.querySelectorAll(".effect-track")].map((track) => ({
    middle: track.offsetTop + track.offsetHeight / 2, height: track.offsetHeight,
  }));
  const redraw = drawing(frame, {
    figure: (size, palette) => bars.length && figure(bars, rows(), size, palette),
    drawn(plotly, picture) {
      undrawn.hidden = true;
      tell = () => (bars[at]?.was == null ? plotly.Fx.unhover(picture) : plotly.Fx.hover(picture, [{ curveNumber: 0, pointNumber: at }]));
      tell();
    },
    missing: () => { undrawn.hidden = false; },
  });
  const point = (i) => { at = i; tell(); };
  return {
    update(effects, first) {
      if (bars.length !== effects.length) show(place, effects.map((_, i) => row(() => point(i), () => point(null))), frame);
      effects.forEach((effect, i) => fill(place.children[i], effect));
      bars = effects.map((effect) => bar(effect, first.get(effect.name)));
      redraw();
      return bars.some(({ was }) => was !== null);
    },
  };
}

function row(onpointerenter, onpointerleave) {
  return el("div", { class: "effect", role: "listitem", onpointerenter, onpointerleave },
    el("div", { class: "effect-name" }, el("b"), el("span", { class: "small muted" })),
    el("div", { class: "effect-value" }, el("b", { class: "number" }), el("span", { class: "small muted" })),
    el("div", { class: "effect-track" }));
}

function fill(element, effect) {
  show($(".effect-name b", element), own(named(effect.name)));
  show($(".effect-name span", element), separated(effect.between));
  $(".effect-value b", element).textContent = limit(effect.value);
  $(".effect-value span", element).textContent = effect.lower === null ? "" : ends(effect);
}

const limit = (value) => (value >= 1 ? "no limit" : `up to ${pointsOf(value)}`);
const short = (value) => pointsOf(value).replace(/ points?$/, "");
const ends = ({ lower, upper }) => (lower < NEARLY_NOTHING && limitless(upper) ? "not known well yet: anything from 0 to no limit" : `between ${short(lower)} and ${pointsOf(upper)}`);
const limitless = (upper) => upper === null || upper >= 1;

const bar = (effect, was) => {
  const value = inside(effect.value);
  const lower = inside(effect.lower ?? value);
  return { value, lower, upper: Math.max(inside(effect.upper ?? 1), lower), was: Math.abs(was - effect.value) < MOVED ? null : was };
};

function figure(bars, rows, { width, height }, { colours, family, size }) {
  const letters = { family, size, color: colours.muted };
  const common = { type: "bar", orientation: "h", x: bars.map(({ value }) => value), y: rows.map(({ middle }) => middle), width: rows.map((one) => one.height * BAR), hoverinfo: "skip" };
  const whisker = (color, thickness, cap) => ({
    type: "data", symmetric: false, color, thickness, width: cap,
    array: bars.map(({ upper, value }) => Math.max(0, upper - value)), arrayminus: bars.map(({ lower, value }) => Math.max(0, value - lower)),
  });
  // The whisker has a hem in the colour of the paper: without it, it would be lost on its own bar.
  const data = [
    before(bars, rows, colours),
    { ...common, marker: { color: colours.accent }, error_x: whisker(colours.surface, 4, 5) },
    { ...common, marker: { color: "rgba(0, 0, 0, 0)" }, error_x: whisker(colours.ink, 2, 5) },
  ];
  const edge = EDGE / (width - 2 * EDGE);
  const axis = { fixedrange: true, showgrid: false, zeroline: false, showticklabels: false };
  return { data, layout: {
    height, margin: { l: 0, r: 0, t: 0, b: 0, pad: 0 }, barmode: "overlay", barcornerradius: 3, showlegend: false, font: letters, dragmode: false,
    hovermode: "closest", hoverlabel: { bgcolor: colours.surface, bordercolor: colours["line-strong"], font: { ...letters, color: colours.ink } },
    paper_bgcolor: "rgba(0, 0, 0, 0)", plot_bgcolor: "rgba(0, 0, 0, 0)",
    xaxis: { ...axis, range: [-edge, 1 + edge] },
    yaxis: { ...axis, range: [height, 0] },
    shapes: bars.flatMap(({ was }, i) => (was === null ? [] : [mark(inside(was), rows[i], colours)])),
    annotations: SCALE.map((x) => ({ text: x < 1 || width < NARROW ? `${100 * x}` : "100 points", x, xanchor: x === 0 ? "left" : x === 1 ? "right" : "center", y: height, yanchor: "bottom", showarrow: false, font: letters, borderpad: 0 })),
  } };
}

/** Where bars stood when somebody first looked: a point to be read, under a mark to be seen. */
const before = (bars, rows, colours) => ({
  type: "scatter", mode: "markers", x: bars.map(({ was }) => (was === null ? null : inside(was))), y: rows.map(({ middle }) => middle),
  marker: { color: colours.between, size: 1 }, customdata: bars.map(({ was }) => (was === null ? "" : limit(was))),
  hovertemplate: "When you first opened this page: %{customdata}<extra></extra>",
});

const mark = (was, { middle, height }, colours) => ({
  type: "line", x0: was, x1: was, y0: middle - height / 2 - 4, y1: middle + height / 2 + 4, line: { color: colours.between, width: 3, dash: "3px,3px" },
});
