// What happened after a decision: what was done, outcomes, reviews, withdrawals, overrides, in order.

import { REASONS } from "../answers.js";
import { el } from "../dom.js";
import { withdrawnEvents } from "./flags.js";
import { both, fullTime, joined, number, own } from "./words.js";

const [MANY, FIRST] = [5, 4]; // of more events than the first number, the second are shown at once

/** The events in order: the first ones, and all on demand. */
export function sinceList(events) {
  if (!events.length) return el("p", { class: "muted" }, "Nothing yet.");
  const gone = withdrawnEvents(events);
  const line = (event) => {
    const withdrawn = gone.has(event.id);
    return el("li", { class: withdrawn ? "gone" : null }, fullTime(event.time),
      el("div", {}, el("span", { class: "what" }, words(event)), withdrawn && el("span", { class: "chip" }, "withdrawn"), remarks(event)));
  };
  const list = el("ol", { class: "since card" }, (events.length > MANY ? events.slice(0, FIRST) : events).map(line));
  const more = events.length > MANY && el("button", { class: "button small", type: "button", onclick: ({ target }) => { list.append(...events.slice(FIRST).map(line)); target.remove(); } }, `Show all ${events.length} events`);
  return [list, more].filter(Boolean);
}

function words({ kind, body, actor }) {
  if (kind === "outcome") return ["Outcome: ", ...joined(Object.entries(body.rewards).map(([who, reward]) => [own(who), ` ${number(reward, 3)}`]), ", "), "."];
  if (kind === "override") return [own(actor), " overrode the choice: ", ...(body.chosen.length ? joined(body.chosen.map(own), ", ") : ["nobody"]), "."];
  if (kind === "action") return ["The system in force chose ", ...(body.chosen.length ? joined(body.chosen.map(own), ", ") : ["nobody"]), "."];
  if (kind === "withdrawal") return [own(actor), " withdrew a review."];
  if (kind === "review") return [...review(body, actor), body.subject === "system" && el("span", { class: "chip" }, "of the system in force")].filter(Boolean);
  return kind;
}

function review(body, actor) {
  const who = own(body.reviewer ?? actor);
  const answer = body.circumstances?.answer;
  const pairs = (some) => joined(some.map(both), "; ");
  if (body.kind === "ratings") return [who, " rated ", ...joined(Object.entries(body.ratings).map(([name, score]) => [own(name), ` ${number(score, 3)}`]), ", "), ` on a scale from ${body.scale.join(" to ")}.`, ...implied(body, pairs)];
  if (body.kind === "comparisons") return [who, ": ", ...joined(body.comparisons.map(comparison), "; "), ".", ...implied(body, pairs)];
  if (answer && !["unfair", "acceptable"].includes(answer)) return [who, " was asked about ", ...pairs([body.circumstances.pair]), ` and answered “${answer}”.`];
  if (body.kind === "one_bit") return [who, ` called ${body.any_unfair ? "something" : "nothing"} unfair.`];
  const again = body.circumstances?.repeat ? " (repeated pair; not counted again)" : "";
  const parts = [];
  if (body.unfair.length) parts.push(["called unfair: ", ...pairs(body.unfair)]);
  if (body.fair.length) parts.push(["called acceptable: ", ...pairs(body.fair)]);
  if (body.kind === "complete") parts.push([body.unfair.length ? "all others acceptable" : "found all pairs acceptable"]);
  return [who, " ", ...(parts.length ? joined(parts, ", ") : ["named no pair"]), `${again}.`];
}

function comparison({ pair, answer }) {
  if (answer === "alike") return ["treat ", ...joined(pair.map(own), " and "), " alike"];
  const [first, second] = answer === "first" ? pair : pair.toReversed();
  return [own(first), " before ", own(second)];
}

/** Of a reversed pair: the one who comes first, and the other, who had the higher chance. */
const higher = ([first, second]) => [own(second), " had a higher chance than ", own(first)];

/** What ratings and comparisons imply for the chances of this decision. */
function implied({ unfair, reversed }, pairs) {
  const parts = [];
  if (unfair.length) parts.push([" So this is unfair: ", ...pairs(unfair), "."]);
  if (reversed.length) parts.push([" But ", ...joined(reversed.map(higher), "; "), "."]);
  return parts.flat();
}

function remarks({ body }) {
  const reason = body.circumstances?.reason;
  const texts = [body.reason, REASONS.find(([code]) => code === reason)?.[1] ?? reason, body.circumstances?.note].filter(Boolean);
  return texts.length ? el("p", { class: "small muted" }, joined(texts.map((text) => ["“", own(text), "”"]), " ")) : null;
}
