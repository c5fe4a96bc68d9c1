// The pairs that bound the odds: by how much, what their distance is thought to be, and which reviews shaped that.

import { el } from "../dom.js";
import { count, percent } from "../format.js";
import { tableFrame } from "../frames.js";
import { decisionPath } from "./latest.js";
import { LATER } from "./later.js";
import { number, pointsOf } from "./words.js";

export function bindingTable(pairs, desk) {
  if (!pairs.length) return el("p", { class: "muted" }, "No pair bound the odds: fairness did not hold anybody back here.");
  const heads = ["Pair", "Their odds differ by", "Distance as known now", "Chance that it was unfair", "What shaped it"];
  return tableFrame("Table of pairs that bound the odds",
    el("table", { class: "table" }, el("caption", { class: "visually-hidden" }, "Pairs that bound the odds"),
      el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: i && i < 4 ? "right" : null }, head)))),
      el("tbody", {}, pairs.map((pair) => line(pair, desk)))));
}

function line(pair, desk) {
  return el("tr", {},
    el("th", { scope: "row", class: "who" }, `${pair.first} and ${pair.second}`),
    el("td", { class: "right number" }, pair.gap < 1e-9 ? "nothing" : pointsOf(pair.gap)),
    el("td", { class: "right number" }, number(pair.distance), el("span", { class: "block small muted" }, `${number(pair.lower)} to ${pair.upper === null ? "no end" : number(pair.upper)}`)),
    el("td", { class: "right number" }, percent(pair.chance_unfair)),
    el("td", {}, quotes(pair.shaped_by, desk)));
}

function quotes(shaped, desk) {
  if (!shaped.length) return el("span", { class: "muted" }, "no review of a pair that differs in a similar way");
  const later = shaped.filter((quote) => quote.is_later).length;
  const since = later === 0 ? "" : later === shaped.length ? `, all ${LATER}` : `, ${later} of them ${LATER}`;
  return el("details", { class: "fold" }, el("summary", {}, `${count(shaped.length, "review")} of pairs that differ in a similar way${since}`),
    el("ul", { class: "evidence" }, shaped.map((quote) => el("li", {},
      `${quote.reviewer ?? "Somebody"} called ${quote.first} and ${quote.second} `, el("b", {}, quote.unfair ? "unfair" : "acceptable"),
      ` at ${pointsOf(quote.gap)} (`, el("a", { href: decisionPath(desk, quote.decision) }, "decision"), `; ${percent(quote.likeness, 0)} alike)`, quote.is_later && `, ${LATER}`))));
}
