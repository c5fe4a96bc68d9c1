// A table of decisions.

import { el, show } from "../dom.js";
import { chance, count } from "../format.js";
import { liveRows, tableFrame } from "../tables.js";
import { number, numbered, own, time } from "./words.js";

const HEADS = ["Decision", "Time", "Candidates", "Chosen", "Chance", "Reward", "Reviews"];
const RIGHT = new Set(["Candidates", "Chance", "Reward"]);

/** `all`: whether the visitor may see chances, reviews and the pages of decisions. `update` takes rows, and the text shown
 * without any. */
export function decisionTable(place, desk, all) {
  const heads = HEADS.filter((head) => all || !["Chance", "Reviews"].includes(head));
  const body = el("tbody");
  const table = el("table", { class: "table latest" },
    el("caption", { class: "visually-hidden" }, "Decisions, newest first"),
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", class: `${RIGHT.has(head) ? "right" : ""} ${head === "Candidates" ? "optional" : ""}` }, head)))), body);
  const frame = tableFrame("Table of decisions", table);
  const empty = el("p", { class: "muted" });
  const uncounted = el("p", { class: "small muted", hidden: true }, "Not counted: flags on equal chances, which are always fair, and answers to repeated pairs.");
  const fill = liveRows(body, (decision) => decision.id, (decision) => row(decision, desk, all));
  return {
    update(decisions, none) {
      const wanted = decisions.length ? frame : empty;
      empty.textContent = none;
      if (place.firstChild !== wanted) show(place, wanted, uncounted);
      uncounted.hidden = !decisions.some((decision) => all && decision.uncounted);
      fill(decisions);
    },
  };
}

export const decisionPath = (desk, id) => `/desks/${encodeURIComponent(desk)}/decisions/${encodeURIComponent(id)}`;

function row(decision, desk, all) {
  const name = numbered(decision.number);
  const { chosen } = decision;
  const each = (cell) => (chosen.length ? chosen.map((one, i) => [i ? ", " : "", cell(one)]).flat() : ["–"]);
  return el("tr", {},
    el("th", { scope: "row" }, all ? el("a", { href: decisionPath(desk, decision.id) }, name) : name),
    el("td", {}, time(decision.time)),
    el("td", { class: "right number optional" }, String(decision.candidates)),
    el("td", { class: "who" }, chosen.length ? each((one) => own(one.id)) : decision.shadow && !decision.told ? "not known yet" : "nobody"),
    all && el("td", { class: "right number" }, each((one) => chance(one.probability, 1))),
    el("td", { class: "right number" }, each((one) => (one.reward === null ? "–" : number(one.reward)))),
    all && el("td", {}, chipsOf(decision)));
}

function chipsOf({ reviews, flagged, uncounted, overridden, shadow }) {
  const chips = [];
  if (shadow) chips.push(el("span", { class: "chip" }, "shadow"));
  if (flagged) chips.push(el("span", { class: "chip marked" }, el("span", { "aria-hidden": "true" }, "⚑"), "called unfair"));
  else if (uncounted) chips.push(el("span", { class: "chip" }, el("span", { "aria-hidden": "true" }, "⚑"), "flag not counted"));
  else if (reviews) chips.push(el("span", { class: "chip" }, el("span", { "aria-hidden": "true" }, "✓"), count(reviews, "review")));
  if (overridden) chips.push(el("span", { class: "chip" }, el("span", { "aria-hidden": "true" }, "↷"), "overridden"));
  return chips.length ? el("span", { class: "chips" }, chips) : el("span", { class: "muted" }, "–");
}
