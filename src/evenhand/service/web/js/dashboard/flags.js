// Who called what unfair, from the events after a decision. Withdrawn reviews and answers to repeated pairs do not count.

import { el } from "../dom.js";
import { both, joined, own } from "./words.js";

const EQUAL = 1e-9; // probabilities that differ by less are equal
const keyOf = (first, second) => JSON.stringify([first, second].toSorted());

/** Withdrawn events by id: the event that withdrew them. */
export function withdrawnEvents(events) {
  const gone = new Map();
  for (const event of events) {
    if (event.kind === "withdrawal") gone.set(event.body.review, event);
    if (event.kind === "review" && event.body.supersedes) gone.set(event.body.supersedes, event);
  }
  return gone;
}

/** The flags on a decision of the desk, not on what another system did: {on(first, second): who called the pair unfair, banner: a message for the top, or null}. */
export function flagsOf(events, probabilities) {
  const gone = withdrawnEvents(events);
  const standing = events.filter(({ kind, id, body }) => kind === "review" && !gone.has(id) && !body.circumstances?.repeat && body.subject !== "system");
  const pairs = new Map();
  const whole = new Set(); // who called the decision unfair without naming a pair
  for (const { body, actor } of standing) {
    const who = body.reviewer ?? actor;
    if (body.kind === "one_bit" && body.any_unfair) whole.add(who);
    for (const pair of body.unfair) {
      const found = pairs.get(keyOf(...pair)) ?? { pair, by: new Set(), equal: Math.abs(probabilities[pair[0]] - probabilities[pair[1]]) <= EQUAL };
      found.by.add(who);
      pairs.set(keyOf(...pair), found);
    }
  }
  return {
    on: (first, second) => [...(pairs.get(keyOf(first, second))?.by ?? [])],
    banner: pairs.size || whole.size ? banner([...pairs.values()].map((one) => ({ ...one, by: [...one.by] })), [...whole], isEqual(Object.values(probabilities))) : null,
  };
}

/** "called unfair by Kim and Lee", as nodes. */
export const calledBy = (by) => ["called unfair by ", ...names(by)];

const names = (by) => joined(by.map((who) => [own(who)]), by.length > 2 ? ", " : " and ");

const isEqual = (probabilities) => Math.max(...probabilities) - Math.min(...probabilities) <= EQUAL;

function banner(pairs, whole, equal) {
  const line = ({ pair, by, equal: alike }) => el("li", {}, "Called unfair by ", names(by), ": ", both(pair), alike && " (equal chances: not counted)");
  const mark = el("span", { "aria-hidden": "true" }, "⚑");
  return el("div", { class: "banner flagged", id: "called-unfair" }, mark,
    el("ul", {}, pairs.map(line), whole.length > 0 && el("li", {}, "Called unfair by ", names(whole), ", without naming a pair", equal && " (all chances are equal: not counted)")));
}
