// Decisions, a line each.

import { el, show } from "../dom.js";
import { count, oddsInWords } from "../format.js";
import { tableFrame } from "../frames.js";
import { liveRows } from "./rows.js";
import { number, numbered, own, time } from "./words.js";

const HEADS = ["Decision", "Time", "Candidates", "Chosen", "Odds", "Reward", "Reviews"];
const RIGHT = new Set(["Candidates", "Odds", "Reward"]);

/** A table of decisions. `all`: whether who looks may see odds, what was said, and the page of a decision; `update` takes
 * lines, and what to say where there are none. */
export function latestTable(place, desk, all) {
  const heads = HEADS.filter((head) => all || !["Odds", "Reviews"].includes(head));
  const body = el("tbody");
  const table = el("table", { class: "table latest" },
    el("caption", { class: "visually-hidden" }, "Decisions, the newest first"),
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col", class: `${RIGHT.has(head) ? "right" : ""} ${head === "Candidates" ? "optional" : ""}` }, head)))), body);
  const frame = tableFrame("Table of decisions", table);
  const empty = el("p", { class: "muted" });
  const uncounted = el("p", { class: "small muted", hidden: true }, "Not counted: flags on equal odds, which are fair whoever people are, and answers to pairs that were asked a second time.");
  const fill = liveRows(body, (decision) => decision.id, (decision) => line(decision, desk, all));
  return {
    update(lines, none) {
      const wanted = lines.length ? frame : empty;
      empty.textContent = none;
      if (place.firstChild !== wanted) show(place, wanted, uncounted);
      uncounted.hidden = !lines.some((decision) => all && decision.uncounted);
      fill(lines);
    },
  };
}

export const decisionPath = (desk, id) => `/desks/${encodeURIComponent(desk)}/decisions/${encodeURIComponent(id)}`;

function line(decision, desk, all) {
  const name = numbered(decision.number);
  const { chosen } = decision;
  const each = (tell) => (chosen.length ? chosen.map((one, i) => [i ? ", " : "", tell(one)]).flat() : ["–"]);
  return el("tr", {},
    el("th", { scope: "row" }, all ? el("a", { href: decisionPath(desk, decision.id) }, name) : name),
    el("td", {}, time(decision.time)),
    el("td", { class: "right number optional" }, String(decision.candidates)),
    el("td", { class: "who" }, chosen.length ? each((one) => own(one.id)) : "nobody"),
    all && el("td", { class: "right number" }, each((one) => oddsInWords(one.odds, 1))),
    el("td", { class: "right number" }, each((one) => (one.reward === null ? "–" : number(one.reward)))),
    all && el("td", {}, said(decision)));
}

function said({ reviews, flagged, uncounted, overridden }) {
  const chips = [];
  if (flagged) chips.push(el("span", { class: "chip marked" }, el("span", { "aria-hidden": "true" }, "⚑"), "called unfair"));
  else if (uncounted) chips.push(el("span", { class: "chip" }, el("span", { "aria-hidden": "true" }, "⚑"), "flag not counted"));
  else if (reviews) chips.push(el("span", { class: "chip" }, el("span", { "aria-hidden": "true" }, "✓"), count(reviews, "review")));
  if (overridden) chips.push(el("span", { class: "chip" }, el("span", { "aria-hidden": "true" }, "↷"), "overridden"));
  return chips.length ? el("span", { class: "chips" }, chips) : el("span", { class: "muted" }, "–");
}
