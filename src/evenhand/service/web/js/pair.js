// Two people side by side: the same rows in the same order, what differs marked, the odds and the gap as bars.
//
// It is one table, so that a screen reader can go along rows and columns; the stylesheet makes two cards of it. Roles
// are spelled out because on narrow screens the table is laid out as a grid, which would otherwise take them away.

import { bar, setBar } from "./bars.js";
import { el, show } from "./dom.js";
import { named, percent, points } from "./format.js";

const SIDES = ["Person on the left", "Person on the right"];
const PLACES = ["left", "right"];

/** pair: {names: [l, r] or null, rows: [{name, left, right, differs}], odds: [l, r], gap, digits}. */
export function showPair(place, gapPlace, pair) {
  show(place, table(pair));
  show(gapPlace, gapBar(pair));
}

function table(pair) {
  const head = el("tr", { role: "row" },
    el("th", { class: "attribute", scope: "col", role: "columnheader" }, el("span", { class: "visually-hidden" }, "Attribute")),
    SIDES.map((side, i) => [i ? spacer() : null, sideHead(side, pair.names?.[i], PLACES[i])]).flat());
  return el("table", { class: "pair", role: "table", "aria-label": "The two people, attribute by attribute" },
    el("colgroup", {}, el("col", { class: "names" }), el("col"), el("col", { class: "gutter" }), el("col")),
    el("thead", { role: "rowgroup" }, head),
    el("tbody", { role: "rowgroup", class: "odds" }, oddsRow(pair)),
    el("tbody", { role: "rowgroup" }, pair.rows.map(attributeRow)));
}

function sideHead(side, pseudonym, place) {
  return el("th", { class: `side ${place}`, scope: "col", role: "columnheader" },
    el("span", { class: "person" }, side), pseudonym && el("span", { class: "pseudonym" }, pseudonym));
}

function attributeRow(row) {
  const mark = row.differs
    ? el("span", { class: "chip marked" }, el("span", { "aria-hidden": "true" }, "≠"), "differs")
    : el("span", { class: "chip" }, el("span", { "aria-hidden": "true" }, "="), "same");
  return el("tr", { role: "row", class: row.differs ? "differs" : "same" },
    rowHead(el("span", { class: "name" }, named(row.name)), mark), side(row.left, "left"), spacer(), side(row.right, "right"));
}

function oddsRow(pair) {
  const [left, right] = pair.odds.map((odds, i) => [
    el("span", { class: "odds-number" }, percent(odds, pair.digits)), bar(i ? "second" : "first", odds),
  ]);
  return el("tr", { role: "row" }, rowHead(el("span", { class: "name" }, "Odds of being chosen")), side(left, "left"), spacer(), side(right, "right"));
}

const rowHead = (...content) => el("th", { class: "attribute", scope: "row", role: "rowheader" }, el("div", {}, ...content));
const side = (content, place) => el("td", { class: `side ${place}`, role: "cell" }, content);
const spacer = () => el("td", { class: "spacer", role: "presentation" });

function gapBar(pair) {
  const track = bar("between", 0);
  setBar(track, pair.gap, Math.min(...pair.odds));
  return el("div", { class: "gap card flat" },
    el("p", { class: "gap-words" }, el("span", {}, "Gap between their odds "), el("b", { id: "gap" }, points(pair.gap, pair.digits))),
    track,
    el("div", { class: "scale", "aria-hidden": "true" }, el("span", {}, "0%"), el("span", {}, "50%"), el("span", {}, "100%")));
}

/** The same for the same two people with the same odds, whichever side they are on. */
export function likeness({ rows, odds }) {
  return ["left", "right"].map((side, i) => JSON.stringify([odds[i], rows.map((row) => [row.name, row[side]])])).sort().join("\n");
}

/** What a screen reader says of a new pair. */
export function pairInWords(pair) {
  const different = pair.rows.filter((row) => row.differs).map((row) => named(row.name));
  const [left, right] = pair.odds.map((odds) => percent(odds, pair.digits));
  const differ = different.length ? `They differ in ${different.join(", ")}.` : "They do not differ in what is shown.";
  return `${differ} Odds: left ${left}, right ${right}, a gap of ${points(pair.gap, pair.digits)}.`;
}
