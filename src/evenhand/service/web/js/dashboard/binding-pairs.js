// The pairs at their limit: their gap, the estimated distance, and the reviews that shaped it.

import { el } from "../dom.js";
import { count, percent } from "../format.js";
import { tableFrame } from "../tables.js";
import { decisionPath } from "./decision-table.js";
import { calledBy } from "./flags.js";
import { both, number, own, pointsOf } from "./words.js";

/** Marks a verdict that came later: it informs the distance as known now, and had no influence on the decision. */
export const LATER = "after this decision";

/** flags: from `flagsOf`. */
export function bindingTable(pairs, desk, flags) {
  if (!pairs.length) return el("p", { class: "muted" }, "No pair was at its limit: fairness constrained nobody here.");
  const heads = ["Pair", "Gap", "Estimated distance now", "Probability of being unfair", "Based on"];
  return tableFrame("Table of pairs at their limit",
    el("table", { class: "table" }, el("caption", { class: "visually-hidden" }, "Pairs at their limit"),
      el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: i && i < 4 ? "right" : null }, head)))),
      el("tbody", {}, pairs.map((pair) => line(pair, desk, flags.on(pair.first, pair.second))))));
}

function line(pair, desk, by) {
  return el("tr", {},
    el("th", { scope: "row", class: "who" }, both([pair.first, pair.second])),
    el("td", { class: "right number" }, pair.gap < 1e-9 ? "none" : pointsOf(pair.gap)),
    el("td", { class: "right number" }, number(pair.distance), el("span", { class: "block small muted" }, `${number(pair.lower)} to ${pair.upper === null ? "∞" : number(pair.upper)}`),
      el("span", { class: "block small muted" }, `limit at the decision: ${pair.gap < 1e-9 ? "none" : pointsOf(pair.gap)}`)),
    el("td", { class: "right number" }, by.length ? [el("span", { class: "status called" }, el("span", { "aria-hidden": "true" }, "⚑"), calledBy(by)), el("span", { class: "block small muted" }, `${percent(pair.chance_unfair)} based on all answers so far`)] : percent(pair.chance_unfair)),
    el("td", { class: "resting" }, quotes(pair.shaped_by, desk)));
}

/** The source of a verdict: only decisions of this desk have a page. */
function source(quote, desk) {
  if (quote.kind === "answer") return "in an interview";
  return quote.kind === "imported" ? "imported" : el("a", { href: decisionPath(desk, quote.decision) }, "decision");
}

function quotes(shaped, desk) {
  if (!shaped.length) return el("span", { class: "muted" }, "no review of a pair with similar differences");
  const later = shaped.filter((quote) => quote.is_later).length;
  const since = later === 0 ? "" : later === shaped.length ? `, all ${LATER}` : `, ${later} of them ${LATER}`;
  return el("details", { class: "fold" }, el("summary", {}, `${count(shaped.length, "review")} of pairs with similar differences${since}`),
    el("ul", { class: "evidence" }, shaped.map((quote) => el("li", {},
      quote.reviewer === null ? "Somebody" : own(quote.reviewer), " called ", quote.kind === "answer" ? "two people" : both([quote.first, quote.second]), " ",
      el("b", {}, quote.unfair ? "unfair" : "acceptable"), ` at ${pointsOf(quote.gap)} (`, source(quote, desk), `; ${percent(quote.likeness, 0)} alike)`,
      quote.is_later && `, ${LATER}`))));
}
