// Two people side by side: the same rows in the same order, what differs marked, the odds and the gap as bars.
//
// It is one table, so that a screen reader can go along rows and columns; the stylesheet makes two cards of it. Roles
// are spelled out because on narrow screens the table is laid out as a grid, which would otherwise take them away.

import { bar, setBar } from "./bars.js";
import { $, el, show } from "./dom.js";
import { count, digitsFor, gapInWords, named, oddsInWords } from "./format.js";

const SIDES = ["Person on the left", "Person on the right"];
const PLACES = ["left", "right"];
const MANY = 12; // rows that are the same: if there are more, they are folded away below those that differ

let unfolded = false; // whether somebody wishes to see them with every pair

/** pair: {names: [l, r] or null, rows: [{name, left, right, differs, more}], withheld, odds: [l, r], gap, digits}. */
export function showPair(place, gapPlace, pair) {
  const same = pair.rows.filter((row) => !row.differs);
  const folds = same.length > MANY;
  show(place, table(pair, folds ? pair.rows.filter((row) => row.differs) : pair.rows), folds ? fold(same) : null,
    pair.withheld ? el("p", { class: "small muted withheld", id: "withheld" }, "Some attributes are not shown here.") : null);
  show(gapPlace, gapBar(pair));
}

/** A new pair is looked at from its beginning: whoever had gone down a long list is taken up again, at once. */
export function toTheTop(place) {
  const head = $("thead", place);
  if (head && head.getBoundingClientRect().top < 0) head.scrollIntoView({ block: "start", behavior: "instant" });
}

function table(pair, rows) {
  return el("table", { class: "pair", role: "table", "aria-label": "The two people, attribute by attribute" },
    columns(),
    el("thead", { role: "rowgroup" }, sides(pair.names)),
    el("tbody", { role: "rowgroup", class: "odds" }, oddsRow(pair)),
    el("tbody", { role: "rowgroup" }, rows.map(attributeRow)));
}

function fold(rows) {
  const same = el("table", { class: "pair", role: "table", "aria-label": "Attributes in which the two are the same" },
    columns(), el("thead", { role: "rowgroup", class: "visually-hidden" }, sides(null)), el("tbody", { role: "rowgroup" }, rows.map(attributeRow)));
  return el("details", { class: "fold", id: "same", open: unfolded, ontoggle: (event) => { unfolded = event.currentTarget.open; } },
    el("summary", {}, `${count(rows.length, "attribute")} that are the same`), same);
}

const columns = () => el("colgroup", {}, el("col", { class: "names" }), el("col"), el("col", { class: "gutter" }), el("col"));

function sides(names) {
  return el("tr", { role: "row" },
    el("th", { class: "attribute", scope: "col", role: "columnheader" }, el("span", { class: "visually-hidden" }, "Attribute")),
    SIDES.map((side, i) => [i ? spacer() : null, sideHead(side, names?.[i], PLACES[i])]).flat());
}

function sideHead(side, pseudonym, place) {
  return el("th", { class: `side ${place}`, scope: "col", role: "columnheader" },
    el("span", { class: "person" }, side), pseudonym && el("span", { class: "pseudonym" }, pseudonym));
}

function attributeRow(row) {
  const by = row.more && el("span", { class: "by" }, `${row.more.by} more, ${row.more.side}`);
  const mark = row.differs
    ? el("span", { class: "chip marked" }, el("span", { "aria-hidden": "true" }, "≠"), el("span", { class: by ? "differing" : null }, "differs"), by)
    : el("span", { class: "chip" }, el("span", { "aria-hidden": "true" }, "="), "same");
  return el("tr", { role: "row", class: row.differs ? "differs" : "same" },
    rowHead(el("span", { class: "name" }, named(row.name)), mark), value(row, "left"), spacer(), value(row, "right"));
}

/** A value, and by how much it is more than the other's, where both are numbers; a narrow card leaves that to the mark. */
function value(row, place) {
  const more = row.more?.side === place && el("span", { class: "more" }, `${row.more.by} more`);
  return side(more ? el("div", { class: "valued" }, el("span", {}, row[place]), more) : row[place], place);
}

function oddsRow(pair) {
  const digits = digitsFor(pair.odds, pair.digits);
  const [left, right] = pair.odds.map((odds, i) => [
    el("span", { class: "odds-number" }, oddsInWords(odds, digits)), bar(i ? "second" : "first", odds),
  ]);
  // On a telephone the gap, which is what is asked about, stands here too: its card is below the list, out of sight.
  const gap = el("span", { class: "chip marked gap-chip" }, `gap ${gapOf(pair).replace("percentage ", "")}`);
  return el("tr", { role: "row" }, rowHead(el("span", { class: "name" }, "Odds of being chosen"), gap), side(left, "left"), spacer(), side(right, "right"));
}

const rowHead = (...content) => el("th", { class: "attribute", scope: "row", role: "rowheader" }, el("div", {}, ...content));
const side = (content, place) => el("td", { class: `side ${place}`, role: "cell" }, content);
const spacer = () => el("td", { class: "spacer", role: "presentation" });

const gapOf = (pair) => gapInWords(pair.odds, digitsFor(pair.odds, pair.digits));

function gapBar(pair) {
  const track = bar("between", 0);
  setBar(track, pair.gap, Math.min(...pair.odds));
  return el("div", { class: "gap card flat" },
    el("p", { class: "gap-words" }, el("span", {}, "Gap between their odds "), el("b", { id: "gap" }, gapOf(pair))),
    track,
    el("div", { class: "scale", "aria-hidden": "true" }, el("span", {}, "0%"), el("span", {}, "50%"), el("span", {}, "100%")));
}

/** The same for the same two people with the same odds, whichever side they are on. */
export function likeness({ rows, odds }) {
  return PLACES.map((side, i) => JSON.stringify([odds[i], rows.map((row) => [row.name, row[side]])])).sort().join("\n");
}

/** What a screen reader says of a new pair. */
export function pairInWords(pair) {
  const different = pair.rows.filter((row) => row.differs).map((row) => named(row.name));
  const digits = digitsFor(pair.odds, pair.digits);
  const [left, right] = pair.odds.map((odds) => oddsInWords(odds, digits));
  const differ = different.length ? `They differ in ${different.join(", ")}.` : "They do not differ in what is shown.";
  return `${differ} Odds: left ${left}, right ${right}, a gap of ${gapOf(pair)}.`;
}
