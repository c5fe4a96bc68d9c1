// Probabilities as bars, and the pairs at their limit as links: a link spans the gap between two probabilities that
// differ as much as the desk allowed.

import { el, show, svg } from "../dom.js";
import { chance, count, percent } from "../format.js";
import { onWidth, textWidth, ticks } from "./drawing.js";
import { placed } from "./link-labels.js";
import { isolated, pointsOf } from "./words.js";

const ROW = 46;
const BAR = 20;
const TOP = 2;
const LETTERS = 14; // pixels
const WIDE = 560; // pixels; in less, gaps are in the table only
const COLUMN = { wide: 240, narrow: 120 }; // maximum width of names
const MOST_LINKS = 60;

/** candidates: [{id, probability, chosen}], pairs: [{first, second, gap}], without: {id: probability without fairness}.
 * meaning: what a bar is. */
export function showProbabilities(place, candidates, pairs, without, meaning = "chance of being chosen") {
  const sorted = candidates.toSorted((a, b) => b.probability - a.probability);
  const rows = new Map(sorted.map((one, i) => [one.id, i]));
  const links = pairs.slice(0, MOST_LINKS).map((pair) => ({ ...pair, ends: [rows.get(pair.first), rows.get(pair.second)].toSorted((a, b) => a - b) }));
  const most = Math.min(1, Math.max(...candidates.map((one) => one.probability), 0.02) * 1.04);
  const beyond = sorted.map((one) => without[one.id]).filter((probability) => probability > most);
  const picture = svg("svg", { class: "chances", role: "img", "aria-label": inWords(sorted, pairs) });
  const frame = el("div", { class: "chances-frame" }, picture);
  show(place, el("div", { class: "card stack" }, frame, legend(pairs.length > 0, beyond.length > 0, meaning), pairs.length > MOST_LINKS && el("p", { class: "small muted" }, `${count(pairs.length - MOST_LINKS, "more link is", "more links are")} not drawn.`)));
  onWidth(frame, (width) => draw(picture, width, { sorted, links, without, most, beyond }));
}

function inWords(sorted, pairs) {
  const chances = sorted.slice(0, 12).map((one) => `${isolated(one.id)} ${chance(one.probability, 1)}${one.chosen ? ", chosen" : ""}`).join("; ");
  return `Chances, highest first: ${chances}. ${pairs.length ? `${count(pairs.length, "pair")} at the limit, listed below` : "No pair at the limit"}.`;
}

function legend(links, beyond, meaning) {
  const sample = (width, ...shapes) => svg("svg", { width, height: 14, "aria-hidden": "true", class: "chances" }, shapes);
  return el("ul", { class: "legend" },
    el("li", {}, sample(30, svg("rect", { class: "chance-bar", width: 30, height: 14, rx: 3 })), meaning),
    links && el("li", {}, sample(30, svg("path", { class: "link", d: "M2,7H28" })), "gap at the limit that the desk allowed for these two"),
    el("li", {}, sample(14, svg("path", { class: "without", d: "M7,1V13" })), `${meaning.split(" ")[0]} without fairness${beyond ? " (→ beyond the chart)" : ""}`));
}

function draw(picture, width, { sorted, links, without, most, beyond }) {
  if (width < 100) return;
  const wide = width >= WIDE;
  const names = sorted.map((one) => shortened(one, wide ? COLUMN.wide : COLUMN.narrow));
  const left = Math.ceil(Math.max(...names.map((one) => one.width))) + 14;
  const right = Math.floor(width - Math.max(12, ...beyond.map((probability) => textWidth(farther(probability), LETTERS) + 8)));
  const at = { left, right, sx: (value) => left + (value / most) * (right - left), sy: (row) => TOP + row * ROW + (ROW - BAR) / 2 };
  const height = TOP + sorted.length * ROW + 24;
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("height", height);
  const lines = links.map((link) => linkLine(link, sorted, at));
  // Names are in a column of their own, which no link crosses.
  show(picture, axis(most, height, at), sorted.map((one, i) => bar(one, i, most, without[one.id] ?? 0, at)), lines.map(drawLink), lines.map(drawEnds), names.map((one, i) => nameLabel(one, at.sy(i) + BAR / 2)),
    wide ? placed(lines, gaps(sorted.length, at), { left, right: width }).map(({ words, x, y }) => svg("text", { class: "over link-label", x, y }, words)) : []);
}

/** The strips between the bars. */
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
    // The end of a track means 100%: a chart that ends below has none.
    most >= 1 && svg("rect", { class: "track", x: left, y, width: right - left, height: BAR, rx: 4 }),
    svg("rect", { class: `chance-bar${one.chosen ? " chosen" : ""}`, x: left, y, width: Math.max(2, sx(one.probability) - left), height: BAR, rx: 4 }),
    free <= most ? svg("line", { class: "without", x1: sx(free), x2: sx(free), y1: y - 2, y2: y + BAR + 2 })
      : svg("text", { class: "muted-text beyond", x: right + 8, y: y + BAR / 2 + 4 }, farther(free)));
}

const farther = (probability) => `→ ${percent(probability)}`;

/** The name above, the chance below. */
function nameLabel({ one, short }, middle) {
  return svg("text", { class: "name" }, svg("title", {}, isolated(one.id)), svg("tspan", { class: "strong", x: 0, y: middle - 4 }, isolated(short)),
    svg("tspan", { x: 0, y: middle + 14 }, chanceOf(one)));
}

const chanceOf = (one) => `${chance(one.probability, 1)}${one.chosen ? "  ✓ chosen" : ""}`;

/** A name cut in the middle to fit into `most` pixels (names often differ at their ends), and the label's width. */
function shortened(one, most) {
  const letters = [...one.id];
  let short = one.id;
  for (let n = Math.min(letters.length, most); n > 2 && textWidth(short, LETTERS, 650) > most; n -= 1) {
    short = `${letters.slice(0, Math.ceil(n / 2) - 1).join("")}…${letters.slice(letters.length - Math.floor(n / 2)).join("")}`;
  }
  return { one, short, width: Math.max(textWidth(short, LETTERS, 650), textWidth(chanceOf(one), LETTERS)) };
}

function linkLine({ ends: [upper, lower], gap }, sorted, { sx, sy }) {
  const words = gap < 1e-9 ? "equal" : pointsOf(gap);
  return {
    words, title: `${isolated(sorted[upper].id)} and ${isolated(sorted[lower].id)}: ${words}`,
    x1: sx(sorted[upper].probability), y1: sy(upper) + BAR / 2, x2: sx(sorted[lower].probability), y2: sy(lower) + BAR / 2,
  };
}

function drawLink({ title, x1, y1, x2, y2 }) {
  const d = `M${x1},${y1}L${x2},${y2}`;
  return svg("g", { class: "link-group" }, svg("title", {}, title), svg("path", { class: "link-halo", d }), svg("path", { class: "link", d }));
}

/** Above all links: a link that passes hides no end. */
function drawEnds({ title, x1, y1, x2, y2 }) {
  return svg("g", {}, svg("title", {}, title),
    svg("circle", { class: "link-end", cx: x1, cy: y1, r: 4.5 }), svg("circle", { class: "link-end", cx: x2, cy: y2, r: 4.5 }));
}
