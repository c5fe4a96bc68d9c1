// The pairs that bound the odds: by how much, what their distance is thought to be, and which reviews shaped that.

import { el } from "../dom.js";
import { count, percent } from "../format.js";
import { tableFrame } from "../frames.js";
import { decisionPath } from "./latest.js";
import { LATER } from "./later.js";
import { calledBy } from "./flags.js";
import { both, number, own, pointsOf } from "./words.js";

/** flags: as `flagsOf` gives them. */
export function bindingTable(pairs, desk, flags) {
  if (!pairs.length) return el("p", { class: "muted" }, "No pair bound the odds: fairness did not hold anybody back here.");
  const heads = ["Pair", "Their odds differ by", "Distance, best estimate now", "Chance that it was unfair", "What shaped it"];
  return tableFrame("Table of pairs that bound the odds",
    el("table", { class: "table" }, el("caption", { class: "visually-hidden" }, "Pairs that bound the odds"),
      el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: i && i < 4 ? "right" : null }, head)))),
      el("tbody", {}, pairs.map((pair) => line(pair, desk, flags.on(pair.first, pair.second))))));
}

function line(pair, desk, by) {
  return el("tr", {},
    el("th", { scope: "row", class: "who" }, both([pair.first, pair.second])),
    el("td", { class: "right number" }, pair.gap < 1e-9 ? "nothing" : pointsOf(pair.gap)),
    el("td", { class: "right number" }, number(pair.distance), el("span", { class: "block small muted" }, `${number(pair.lower)} to ${pair.upper === null ? "no end" : number(pair.upper)}`),
      el("span", { class: "block small muted" }, `allowed when it was decided: ${pair.gap < 1e-9 ? "nothing" : pointsOf(pair.gap)}`)),
    el("td", { class: "right number" }, by.length ? [el("span", { class: "status called" }, el("span", { "aria-hidden": "true" }, "⚑"), calledBy(by)), el("span", { class: "block small muted" }, `${percent(pair.chance_unfair)} by all answers so far`)] : percent(pair.chance_unfair)),
    el("td", { class: "resting" }, quotes(pair.shaped_by, desk)));
}

/** Where a quoted verdict stands: only one on a decision of this desk has a page. */
function whence(quote, desk) {
  if (quote.kind === "answer") return "in an interview";
  return quote.kind === "imported" ? "imported" : el("a", { href: decisionPath(desk, quote.decision) }, "decision");
}

function quotes(shaped, desk) {
  if (!shaped.length) return el("span", { class: "muted" }, "no review of a pair that differs in a similar way");
  const later = shaped.filter((quote) => quote.is_later).length;
  const since = later === 0 ? "" : later === shaped.length ? `, all ${LATER}` : `, ${later} of them ${LATER}`;
  return el("details", { class: "fold" }, el("summary", {}, `${count(shaped.length, "review")} of pairs that differ in a similar way${since}`),
    el("ul", { class: "evidence" }, shaped.map((quote) => el("li", {},
      quote.reviewer === null ? "Somebody" : own(quote.reviewer), " called ", quote.kind === "answer" ? "two people" : both([quote.first, quote.second]), " ",
      el("b", {}, quote.unfair ? "unfair" : "acceptable"), ` at ${pointsOf(quote.gap)} (`, whence(quote, desk), `; ${percent(quote.likeness, 0)} alike)`,
      quote.is_later && `, ${LATER}`))));
}
