// Odds as bars, and the pairs that held them together as ropes: a rope reaches as far across as the two odds differ,
// and it is taut - they differ as much as the desk allowed when it decided.

import { el, show, svg } from "../dom.js";
import { count, oddsInWords, percent } from "../format.js";
import { placed } from "./rope-labels.js";
import { ticks } from "./ticks.js";
import { apart, pointsOf } from "./words.js";

const ROW = 46;
const BAR = 20;
const TOP = 2;
const WIDE = 560; // pixels; where there is less, the gaps are told by the table alone
const COLUMN = { wide: 240, narrow: 120 }; // names have no more than this
const MOST_ROPES = 60;

/** candidates: [{id, probability, chosen}], pairs: [{first, second, gap}], without: {id: odds}. */
export function showOdds(place, candidates, pairs, without) {
  const sorted = candidates.toSorted((a, b) => b.probability - a.probability);
  const rows = new Map(sorted.map((one, i) => [one.id, i]));
  const ropes = pairs.slice(0, MOST_ROPES).map((pair) => ({ ...pair, ends: [rows.get(pair.first), rows.get(pair.second)].toSorted((a, b) => a - b) }));
  const most = Math.min(1, Math.max(...candidates.map((one) => one.probability), 0.02) * 1.04);
  const beyond = sorted.map((one) => without[one.id]).filter((odds) => odds > most);
  const picture = svg("svg", { class: "odds", role: "img", "aria-label": inWords(sorted, pairs) });
  const frame = el("div", { class: "odds-frame" }, picture);
  show(place, el("div", { class: "card stack" }, frame, legend(pairs.length > 0, beyond.length > 0), pairs.length > MOST_ROPES && el("p", { class: "small muted" }, `${count(pairs.length - MOST_ROPES, "more rope is", "more ropes are")} not drawn.`)));
  new ResizeObserver(() => draw(picture, frame.clientWidth, { sorted, ropes, without, most, beyond })).observe(frame);
}

function inWords(sorted, pairs) {
  const odds = sorted.slice(0, 12).map((one) => `${apart(one.id)} ${oddsInWords(one.probability, 1)}${one.chosen ? ", chosen" : ""}`).join("; ");
  return `Odds, the highest first: ${odds}. ${pairs.length ? `${count(pairs.length, "pair")} bound them, listed below` : "No pair bound them"}.`;
}

function legend(ropes, beyond) {
  const bar = svg("svg", { width: 30, height: 14, "aria-hidden": "true", class: "odds-sample" }, svg("rect", { class: "sample-bar", width: 30, height: 14, rx: 3 }));
  const rope = svg("svg", { width: 30, height: 14, "aria-hidden": "true" }, svg("path", { class: "sample-rope", d: "M2,7H28" }), svg("path", { class: "sample-twist", d: "M2,7H28" }));
  const free = svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, svg("path", { class: "sample-without", d: "M7,1V13" }));
  return el("ul", { class: "legend" }, el("li", {}, bar, "odds of being chosen"),
    ropes && el("li", {}, rope, "at the limit the desk had set for these two when it decided"), el("li", {}, free, `odds if fairness did not count${beyond ? " (→ farther than the picture goes)" : ""}`));
}

function draw(picture, width, { sorted, ropes, without, most, beyond }) {
  if (width < 100) return;
  const wide = width >= WIDE;
  const names = sorted.map((one) => shortened(one, wide ? COLUMN.wide : COLUMN.narrow));
  const left = Math.ceil(Math.max(...names.map((one) => one.width))) + 14;
  const right = Math.floor(width - Math.max(12, ...beyond.map((odds) => wideAs(farther(odds), 400) + 8)));
  const at = { left, right, sx: (value) => left + (value / most) * (right - left), sy: (row) => TOP + row * ROW + (ROW - BAR) / 2 };
  const height = TOP + sorted.length * ROW + 24;
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("height", height);
  const lines = ropes.map((rope) => ends(rope, sorted, at));
  // Names and odds stand in a column of their own, where no rope goes.
  show(picture, axis(most, height, at), sorted.map((one, i) => bar(one, i, most, without[one.id] ?? 0, at)), lines.map(tied), lines.map(knots), names.map((one, i) => named(one, at.sy(i) + BAR / 2)),
    wide ? placed(lines, gaps(sorted.length, at), { left, right: width }).map(({ words, x, y }) => svg("text", { class: "over rope-label", x, y }, words)) : []);
}

/** The strips between the bars: there is neither bar nor knot in them. */
const gaps = (rows, { sy }) => Array.from({ length: rows - 1 }, (_, i) => ({ top: sy(i) + BAR, bottom: sy(i + 1) }));

function axis(most, height, { left, right, sx }) {
  const anchor = (value) => (value === 0 ? "start" : sx(value) > right - 16 ? "end" : "middle");
  return ticks(0, most, Math.max(2, Math.floor((right - left) / 140))).map((value) => svg("g", {},
    svg("line", { class: "axis", x1: sx(value), x2: sx(value), y1: TOP, y2: height - 22 }),
    svg("text", { class: "muted-text", x: sx(value), y: height - 6, "text-anchor": anchor(value) }, percent(value))));
}

function bar(one, row, most, free, { left, right, sx, sy }) {
  const y = sy(row);
  return svg("g", {},
    // A track promises that its end is 100%: where the picture ends before, there is none.
    most >= 1 && svg("rect", { class: "track", x: left, y, width: right - left, height: BAR, rx: 4 }),
    svg("rect", { class: `odds-bar${one.chosen ? " chosen" : ""}`, x: left, y, width: Math.max(2, sx(one.probability) - left), height: BAR, rx: 4 }),
    free <= most ? svg("line", { class: "without", x1: sx(free), x2: sx(free), y1: y - 2, y2: y + BAR + 2 })
      : svg("text", { class: "muted-text beyond", x: right + 8, y: y + BAR / 2 + 4 }, farther(free)));
}

const farther = (odds) => `→ ${percent(odds)}`;

/** Whose bar it is: the name above, odds below. */
function named({ one, short }, middle) {
  return svg("text", { class: "name" }, svg("title", {}, apart(one.id)), svg("tspan", { class: "strong", x: 0, y: middle - 4 }, apart(short)),
    svg("tspan", { x: 0, y: middle + 14 }, oddsOf(one)));
}

const oddsOf = (one) => `${oddsInWords(one.probability, 1)}${one.chosen ? "  ✓ chosen" : ""}`;

/** A name cut in the middle, for names often differ at their ends, so that it takes no more than so many pixels; and how many it
 * takes with the odds below it. */
function shortened(one, most) {
  const letters = [...one.id];
  let short = one.id;
  for (let n = Math.min(letters.length, most); n > 2 && wideAs(short, 650) > most; n -= 1) {
    short = `${letters.slice(0, Math.ceil(n / 2) - 1).join("")}…${letters.slice(letters.length - Math.floor(n / 2)).join("")}`;
  }
  return { one, short, width: Math.max(wideAs(short, 650), wideAs(oddsOf(one), 400)) };
}

const pen = document.createElement("canvas").getContext("2d");

function wideAs(text, weight) {
  pen.font = `${weight} 14px ${getComputedStyle(document.documentElement).fontFamily}`;
  return pen.measureText(text).width;
}

function ends({ ends: [upper, lower], gap }, sorted, { sx, sy }) {
  const words = gap < 1e-9 ? "equal" : pointsOf(gap);
  return {
    words, title: `${apart(sorted[upper].id)} and ${apart(sorted[lower].id)}: ${words}`,
    x1: sx(sorted[upper].probability), y1: sy(upper) + BAR / 2, x2: sx(sorted[lower].probability), y2: sy(lower) + BAR / 2,
  };
}

function tied({ title, x1, y1, x2, y2 }) {
  const d = `M${x1},${y1}L${x2},${y2}`;
  return svg("g", { class: "rope-group" }, svg("title", {}, title),
    svg("path", { class: "rope-halo", d }), svg("path", { class: "rope", d }), svg("path", { class: "rope-twist", d }));
}

/** Over all ropes: another that passes hides no end. */
function knots({ title, x1, y1, x2, y2 }) {
  return svg("g", { class: "knots" }, svg("title", {}, title),
    svg("circle", { class: "knot", cx: x1, cy: y1, r: 4.5 }), svg("circle", { class: "knot", cx: x2, cy: y2, r: 4.5 }));
}
