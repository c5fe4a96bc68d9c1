// What happened since a decision: outcomes, reviews, withdrawals, overrides, in their order.

import { REASONS } from "../answers.js";
import { el } from "../dom.js";
import { takenBack } from "./flags.js";
import { both, fullTime, joined, number, own } from "./words.js";

export function sinceList(events) {
  if (!events.length) return el("p", { class: "muted" }, "Nothing yet: no outcome, no review.");
  const gone = takenBack(events);
  return el("ol", { class: "since card" }, events.map((event) => {
    const taken = gone.has(event.id);
    return el("li", { class: taken ? "gone" : null }, fullTime(event.time),
      el("div", {}, el("span", { class: "what" }, words(event)), taken && el("span", { class: "chip" }, "taken back"), remarks(event)));
  }));
}

function words({ kind, body, actor }) {
  if (kind === "outcome") return ["Outcome: ", ...joined(Object.entries(body.rewards).map(([who, reward]) => [own(who), ` brought ${number(reward, 3)}`]), ", "), "."];
  if (kind === "override") return [own(actor), " chose otherwise: ", ...(body.chosen.length ? joined(body.chosen.map(own), ", ") : ["nobody"]), "."];
  if (kind === "withdrawal") return [own(actor), " took a review back."];
  if (kind === "review") return review(body, actor);
  return kind;
}

function review(body, actor) {
  const who = own(body.reviewer ?? actor);
  const answer = body.circumstances?.answer;
  const pairs = (some) => joined(some.map(both), "; ");
  if (answer && !["unfair", "acceptable"].includes(answer)) return [who, " was asked about ", ...pairs([body.circumstances.pair]), ` and answered: ${answer}.`];
  if (body.kind === "one_bit") return [who, ` says that ${body.any_unfair ? "something" : "nothing"} was unfair.`];
  const again = body.circumstances?.repeat ? " (asked a second time; not counted again)" : "";
  const said = [];
  if (body.unfair.length) said.push(["called unfair: ", ...pairs(body.unfair)]);
  if (body.fair.length) said.push(["called acceptable: ", ...pairs(body.fair)]);
  if (body.kind === "complete") said.push([body.unfair.length ? "and all others acceptable" : "found all pairs acceptable"]);
  return [who, " ", ...(said.length ? joined(said, ", ") : ["named no pair"]), `${again}.`];
}

function remarks({ body }) {
  const reason = body.circumstances?.reason;
  const told = [body.reason, REASONS.find(([code]) => code === reason)?.[1] ?? reason, body.circumstances?.note].filter(Boolean);
  return told.length ? el("p", { class: "small muted" }, joined(told.map((text) => ["“", own(text), "”"]), " ")) : null;
}
