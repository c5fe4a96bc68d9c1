// Two people side by side: differences marked, chances and gap as bars. A few rows keep the desk's order; of many, those
// that differ most come first, and all that are alike are folded, by group.
//
// One table, so that screen readers can navigate rows and columns; the stylesheet makes it look like two cards. Roles are
// explicit because small screens lay the table out as a grid, which would remove them.

import { bar } from "./meters.js";
import { $, el, show } from "./dom.js";
import { chance, count, digitsFor, gapInWords, named } from "./format.js";

const SIDES = ["Person on the left", "Person on the right"];
const PLACES = ["left", "right"];
const FEW = 8; // so many rows fit on a screen: they keep their order and are all shown

let unfolded = false; // whether the fold stays open from pair to pair

/** pair: {names: [l, r] or null, rows: [{name, left, right, differs, more, share, marked, group}], withheld, probabilities:
 * [l, r], gap, digits}. Where the question is not about the gap, probabilities and gap are null. With is_partial all that
 * differs is shown, and the rest is folded. */
export function showPair(place, gapPlace, pair) {
  const [first, folded] = divided(pair);
  show(place, whose(pair), table(pair, first, folded.length > 0), folded.length ? fold(folded) : null,
    pair.withheld ? el("p", { class: "small muted withheld", id: "withheld" }, "Some attributes are not shown here.") : null);
  show(gapPlace, pair.probabilities && gapBar(pair));
}

/** Whether a difference is worth a mark: 28 against 27 years is none. */
const isMarked = (row) => row.marked ?? row.differs;

/** The rows shown at once, and those that are folded. */
function divided({ rows, is_partial: partial }) {
  if (rows.length <= FEW && !partial) return [rows, []];
  const stands = rows.some(isMarked) && !partial ? isMarked : (row) => row.differs;
  const first = rows.filter(stands).toSorted((a, b) => (b.share ?? 1) - (a.share ?? 1));
  return [first, rows.filter((row) => !stands(row))];
}

const WHOSE = {
  desk: "This desk’s own proposal. It is in shadow mode: another system decides, and nobody acted on these chances.",
  system: "What the system in force did. These are its own chances.",
  rule: "What the system in force did. It chose one of the two and not the other; a choice counts as 100%.",
};

/** Beside a system in force: whose treatment of the two is in question. */
function whose({ subject = null, is_drawn: drawn }) {
  if (subject === null) return null;
  const [chip, words] = subject === "desk" ? ["the desk", WHOSE.desk] : ["the system in force", drawn ? WHOSE.system : WHOSE.rule];
  return el("p", { class: "whose small", id: "whose" }, el("span", { class: `chip ${subject === "desk" ? "" : "marked"}` }, chip), " ", words);
}

/** Scrolls back to the start of a new pair. */
export function scrollToTop(place) {
  const head = $("thead", place);
  if (head && head.getBoundingClientRect().top < 0) head.scrollIntoView({ block: "start", behavior: "instant" });
}

function table(pair, rows, compact) {
  return el("table", { class: `pair${compact ? " compact" : ""}`, role: "table", "aria-label": "The two people, attribute by attribute" },
    columns(),
    el("thead", { role: "rowgroup" }, sides(pair.names)),
    pair.probabilities && el("tbody", { role: "rowgroup", class: "chances" }, chancesRow(pair)),
    el("tbody", { role: "rowgroup" }, rows.map(attributeRow)));
}

function fold(rows) {
  const alike = el("table", { class: "pair alike", role: "table", "aria-label": "Features in which the two are alike" },
    columns(), el("thead", { role: "rowgroup", class: "visually-hidden" }, sides(null)), grouped(rows).map(([group, some]) => groupBody(group, some)));
  return el("details", { class: "fold", id: "same", open: unfolded, ontoggle: (event) => { unfolded = event.currentTarget.open; } },
    el("summary", {}, `${count(rows.length, "feature")} alike`), alike);
}

/** Rows by group, in the order in which groups first appear; those without a group last. */
function grouped(rows) {
  const groups = new Map();
  for (const row of rows) groups.set(row.group ?? "", [...(groups.get(row.group ?? "") ?? []), row]);
  return [...groups].toSorted(([a], [b]) => (a === "") - (b === ""));
}

function groupBody(group, rows) {
  const heading = group && el("tr", { role: "row" }, el("th", { class: "group", scope: "rowgroup", role: "rowheader", colspan: "4" }, group));
  return el("tbody", { role: "rowgroup" }, heading, rows.map((row) => attributeRow({ ...row, group: null })));
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
  const mark = isMarked(row)
    ? el("span", { class: "chip marked" }, el("span", { "aria-hidden": "true" }, "≠"), el("span", { class: by ? "differing" : null }, "differs"), by)
    : el("span", { class: "chip" }, el("span", { "aria-hidden": "true" }, row.differs ? "≈" : "="), row.differs ? "alike" : "same");
  const name = el("span", { class: "name" }, named(row.name), row.group && el("span", { class: "of-group" }, row.group));
  return el("tr", { role: "row", class: isMarked(row) ? "differs" : "same" }, rowHead(name, mark), value(row, "left"), spacer(), value(row, "right"));
}

/** A value, and how much more it is than the other one; small screens leave that to the mark. */
function value(row, place) {
  const more = row.more?.side === place && el("span", { class: "more" }, `${row.more.by} more`);
  return side(more ? el("div", { class: "valued" }, el("span", {}, row[place]), more) : row[place], place);
}

function chancesRow(pair) {
  const digits = digitsFor(pair.probabilities, pair.digits);
  const [left, right] = pair.probabilities.map((probability, i) => [
    el("span", { class: "chance-number" }, isRule(pair) ? chosenWords(probability) : chance(probability, digits)), bar(i ? "second" : "first", probability),
  ]);
  // On phones the gap is repeated here: its card is below the list, out of sight.
  const gap = el("span", { class: "chip marked gap-chip" }, `gap ${gapOf(pair).replace("percentage ", "")}`);
  return el("tr", { role: "row" }, rowHead(el("span", { class: "name" }, isRule(pair) ? "Chosen, or not" : pair.in_shares ? "Share of what was asked" : "Chance of being chosen"), gap), side(left, "left"), spacer(), side(right, "right"));
}

/** Whether the system in force chooses by a rule, whose chances are all or nothing. */
const isRule = ({ subject = null, is_drawn: drawn }) => subject === "system" && !drawn;
const chosenWords = (probability) => (probability > 0 ? "chosen" : "not chosen");

const rowHead = (...content) => el("th", { class: "attribute", scope: "row", role: "rowheader" }, el("div", {}, ...content));
const side = (content, place) => el("td", { class: `side ${place}`, role: "cell" }, content);
const spacer = () => el("td", { class: "spacer", role: "presentation" });

const gapOf = (pair) => gapInWords(pair.probabilities, digitsFor(pair.probabilities, pair.digits));

function gapBar(pair) {
  return el("div", { class: "gap card flat" },
    el("p", { class: "gap-words" }, el("span", {}, `Gap between their ${pair.in_shares ? "shares" : "chances"} `), el("b", { id: "gap" }, gapOf(pair))),
    bar("between", pair.gap, Math.min(...pair.probabilities)),
    el("div", { class: "scale", "aria-hidden": "true" }, el("span", {}, "0%"), el("span", {}, "50%"), el("span", {}, "100%")));
}

/** The same for the same two people with the same probabilities, whichever side they are on. */
export function likeness({ rows, probabilities, subject = null }) {
  return [subject ?? ""].concat(PLACES.map((side, i) => JSON.stringify([probabilities?.[i], rows.map((row) => [row.name, row[side]])])).sort()).join("\n");
}

/** A new pair for screen readers. */
export function pairInWords(pair) {
  const different = divided(pair)[0].filter(isMarked).map((row) => named(row.name));
  const differ = different.length ? `They differ in ${different.join(", ")}.` : "All features shown are alike.";
  if (pair.probabilities === null) return differ;
  const by = pair.subject === "system" ? "By the system in force. " : pair.subject === "desk" ? "By this desk. " : "";
  if (isRule(pair)) return `${by}${differ} Left ${chosenWords(pair.probabilities[0])}, right ${chosenWords(pair.probabilities[1])}.`;
  const digits = digitsFor(pair.probabilities, pair.digits);
  const [left, right] = pair.probabilities.map((probability) => chance(probability, digits));
  return `${by}${differ} ${pair.in_shares ? "Shares" : "Chances"}: left ${left}, right ${right}, a gap of ${gapOf(pair)}.`;
}
