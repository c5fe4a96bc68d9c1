// Who called what unfair, from the lines that follow a decision: what was taken back does not stand, and an answer to a
// pair that was asked for a second time is for comparison alone.

import { el } from "../dom.js";
import { both, joined, own } from "./words.js";

const EQUAL = 1e-9; // odds that differ by no more are equal
const keyOf = (first, second) => JSON.stringify([first, second].toSorted());

/** Lines that were taken back, by their id: the line that did it. */
export function takenBack(events) {
  const gone = new Map();
  for (const event of events) {
    if (event.kind === "withdrawal") gone.set(event.body.review, event);
    if (event.kind === "review" && event.body.supersedes) gone.set(event.body.supersedes, event);
  }
  return gone;
}

/** The flags on a decision, given the odds by candidate: {on(first, second): who called them unfair, banner: what to say
 * at the top, or null}. */
export function flagsOf(events, odds) {
  const gone = takenBack(events);
  const standing = events.filter(({ kind, id, body }) => kind === "review" && !gone.has(id) && !body.circumstances?.repeat);
  const pairs = new Map();
  const whole = new Set(); // who said that something was unfair, and not what
  for (const { body, actor } of standing) {
    const who = body.reviewer ?? actor;
    if (body.kind === "one_bit" && body.any_unfair) whole.add(who);
    for (const pair of body.unfair) {
      const found = pairs.get(keyOf(...pair)) ?? { pair, by: new Set(), equal: Math.abs(odds[pair[0]] - odds[pair[1]]) <= EQUAL };
      found.by.add(who);
      pairs.set(keyOf(...pair), found);
    }
  }
  return {
    on: (first, second) => [...(pairs.get(keyOf(first, second))?.by ?? [])],
    banner: pairs.size || whole.size ? banner([...pairs.values()].map((one) => ({ ...one, by: [...one.by] })), [...whole], isEqual(Object.values(odds))) : null,
  };
}

/** "called unfair by Kim and Lee", as nodes. */
export const calledBy = (by) => ["called unfair by ", ...names(by)];

const names = (by) => joined(by.map((who) => [own(who)]), by.length > 2 ? ", " : " and ");

const isEqual = (odds) => Math.max(...odds) - Math.min(...odds) <= EQUAL;

function banner(pairs, whole, equal) {
  const line = ({ pair, by, equal: alike }) => el("li", {}, "Called unfair by ", names(by), ": ", both(pair), alike && " (their odds are equal: not counted)");
  const mark = el("span", { "aria-hidden": "true" }, "⚑");
  return el("div", { class: "banner flagged", id: "called-unfair" }, mark,
    el("ul", {}, pairs.map(line), whole.length > 0 && el("li", {}, names(whole), whole.length > 1 ? " say that something was unfair" : " says that something was unfair", equal && " (all odds are equal: not counted)")));
}
