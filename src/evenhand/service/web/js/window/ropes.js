// Odds as bars, and the pairs that held them together as ropes: a rope reaches as far across as the two odds differ,
// and it is taut - they differ as much as the desk allowed when it decided.

import { el, show, svg } from "../dom.js";
import { count, percent } from "../format.js";
import { ticks } from "./ticks.js";
import { apart, pointsOf } from "./words.js";

const ROW = 62;
const BAR = 20;
const TOP = 8;
const MOST_ROPES = 60;

/** candidates: [{id, probability, chosen}], pairs: [{first, second, gap}], without: {id: odds}. */
export function showOdds(place, candidates, pairs, without) {
  const sorted = candidates.toSorted((a, b) => b.probability - a.probability);
  const rows = new Map(sorted.map((one, i) => [one.id, i]));
  const ropes = pairs.slice(0, MOST_ROPES).map((pair) => ({ ...pair, ends: [rows.get(pair.first), rows.get(pair.second)].toSorted((a, b) => a - b) }));
  const picture = svg("svg", { class: "odds", role: "img", "aria-label": inWords(sorted, pairs) });
  const frame = el("div", { class: "odds-frame" }, picture);
  show(place, el("div", { class: "card stack" }, frame, legend(pairs.length > 0), pairs.length > MOST_ROPES && el("p", { class: "small muted" }, `${count(pairs.length - MOST_ROPES, "more rope is", "more ropes are")} not drawn.`)));
  new ResizeObserver(() => draw(picture, frame.clientWidth, sorted, ropes, without)).observe(frame);
}

function inWords(sorted, pairs) {
  const odds = sorted.slice(0, 12).map((one) => `${apart(one.id)} ${percent(one.probability)}${one.chosen ? ", chosen" : ""}`).join("; ");
  return `Odds, the highest first: ${odds}. ${pairs.length ? `${count(pairs.length, "pair")} bound them, listed below` : "No pair bound them"}.`;
}

function legend(ropes) {
  const bar = svg("svg", { width: 30, height: 14, "aria-hidden": "true", class: "odds-sample" }, svg("rect", { class: "sample-bar", width: 30, height: 14, rx: 3 }));
  const rope = svg("svg", { width: 30, height: 14, "aria-hidden": "true" }, svg("path", { class: "sample-rope", d: "M2,7H28" }), svg("path", { class: "sample-twist", d: "M2,7H28" }));
  const free = svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, svg("path", { class: "sample-without", d: "M7,1V13" }));
  return el("ul", { class: "legend" }, el("li", {}, bar, "odds of being chosen"),
    ropes && el("li", {}, rope, "at the limit the desk had set for these two when it decided"), el("li", {}, free, "odds if fairness did not count"));
}

function draw(picture, width, sorted, ropes, without) {
  if (width < 100) return;
  const wide = width >= 560;
  const right = width - (wide && ropes.length ? 84 : 12);
  const most = Math.max(...sorted.map((one) => one.probability), 0.02) * 1.04;
  const sx = (value) => (value / most) * right;
  const sy = (row) => TOP + row * ROW + 24;
  const height = TOP + sorted.length * ROW + 26;
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("height", height);
  const axis = ticks(0, most, Math.max(2, Math.floor(right / 140))).map((value) => svg("g", {},
    svg("line", { class: "axis", x1: sx(value), x2: sx(value), y1: TOP, y2: height - 22 }),
    svg("text", { class: "muted-text", x: sx(value), y: height - 6, "text-anchor": value === 0 ? "start" : "middle" }, percent(value))));
  const bars = sorted.map((one, i) => bar(one, sy(i), { sx, right, most, free: without[one.id] ?? 0 }));
  const lines = ropes.map((rope) => ends(rope, sorted, { sx, sy }));
  const names = sorted.map((one, i) => name(one, sy(i), wide ? 28 : 16, wide && without[one.id] > most ? without[one.id] : null));
  // Names over ropes over bars; where there is little room the gaps are told by the table alone.
  show(picture, axis, bars, lines.map(tied), names, wide ? labels(lines) : []);
}

function bar(one, y, { sx, right, most, free }) {
  return svg("g", {},
    // A track promises that its end is 100%: where the picture ends before, there is none.
    most >= 1 && svg("rect", { class: "track", x: 0, y, width: right, height: BAR, rx: 4 }),
    svg("rect", { class: `odds-bar${one.chosen ? " chosen" : ""}`, x: 0, y, width: Math.max(2, sx(one.probability)), height: BAR, rx: 4 }),
    free <= most && svg("line", { class: "without", x1: sx(free) + 1, x2: sx(free) + 1, y1: y - 4, y2: y + BAR + 4 }));
}

function name(one, y, most, beyond) {
  const letters = [...one.id];
  const short = letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : one.id;
  return svg("text", { class: "over", x: 0, y: y - 7 }, svg("tspan", { class: "strong" }, apart(short)), `  ${percent(one.probability)}${one.chosen ? "  ✓ chosen" : ""}`,
    beyond !== null && svg("tspan", { class: "muted-text", dx: 12 }, `without fairness ${percent(beyond)} →`));
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
    svg("path", { class: "rope-halo", d }), svg("path", { class: "rope", d }), svg("path", { class: "rope-twist", d }),
    svg("circle", { class: "knot", cx: x1, cy: y1, r: 4.5 }), svg("circle", { class: "knot", cx: x2, cy: y2, r: 4.5 }));
}

/** A label for each rope, somewhere along it where no other is; none where there is no such place. */
function labels(lines) {
  const taken = [];
  return lines.map(({ words, x1, y1, x2, y2 }) => {
    for (const along of [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8]) {
      const [x, y] = [x1 + along * (x2 - x1) + 12, y1 + along * (y2 - y1) + 14];
      if (taken.every(([a, b]) => Math.abs(a - x) > 74 || Math.abs(b - y) > 17)) {
        taken.push([x, y]);
        return svg("text", { class: "over rope-label", x, y }, words);
      }
    }
    return null;
  });
}
