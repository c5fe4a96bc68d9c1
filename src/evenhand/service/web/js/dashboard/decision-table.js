// A table of decisions.

import { el, show } from "../dom.js";
import { chance, count } from "../format.js";
import { liveRows, tableFrame } from "../tables.js";
import { aligned, joined, numbered, own, time } from "./words.js";

const HEADS = ["Decision", "Time", "Candidates", "Chosen", "Chance", "Reward", "Reviews"];
const FEW = 2; // chosen candidates who are named
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
  return el("tr", {},
    el("th", { scope: "row" }, all ? el("a", { href: decisionPath(desk, decision.id) }, name) : name),
    el("td", {}, time(decision.time)),
    el("td", { class: "right number optional" }, String(decision.candidates)),
    el("td", { class: "who" }, names(decision)),
    all && el("td", { class: "right number" }, mean(chosen, (one) => one.probability, (value) => chance(value, 1))),
    el("td", { class: "right number" }, mean(chosen, (one) => one.reward, aligned)),
    all && el("td", {}, chipsOf(decision)));
}

/** The first ones by name: a decision may choose dozens. */
function names({ chosen, shadow, told }) {
  if (!chosen.length) return shadow && !told ? "not known yet" : "nobody";
  const some = chosen.length > FEW + 1 ? chosen.slice(0, FEW) : chosen;
  return [...joined(some.map(({ id }) => [own(id)]), ", "), some.length < chosen.length && el("span", { class: "muted" }, ` and ${chosen.length - some.length} more`)];
}

/** The mean over the chosen candidates for whom the number is known, marked as one if there are several. */
function mean(chosen, of, words) {
  const known = chosen.map(of).filter((value) => value !== null);
  if (!known.length) return "–";
  return [known.length > 1 && el("span", { class: "small muted" }, "mean "), words(known.reduce((sum, value) => sum + value, 0) / known.length)];
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
