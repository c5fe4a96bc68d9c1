// What happened since a decision: outcomes, reviews, withdrawals, overrides, in their order.

import { REASONS } from "../answers.js";
import { el } from "../dom.js";
import { number, time } from "./words.js";

export function sinceList(events) {
  if (!events.length) return el("p", { class: "muted" }, "Nothing yet: no outcome, no review.");
  const gone = new Map();
  for (const event of events) {
    if (event.kind === "withdrawal") gone.set(event.body.review, event);
    if (event.kind === "review" && event.body.supersedes) gone.set(event.body.supersedes, event);
  }
  return el("ol", { class: "since card" }, events.map((event) => {
    const taken = gone.has(event.id);
    return el("li", { class: taken ? "gone" : null }, time(event.time),
      el("div", {}, el("span", { class: "what" }, words(event)), taken && el("span", { class: "chip" }, "taken back"), remarks(event)));
  }));
}

function words({ kind, body, actor }) {
  if (kind === "outcome") return `Outcome: ${Object.entries(body.rewards).map(([who, reward]) => `${who} brought ${number(reward, 3)}`).join(", ")}.`;
  if (kind === "override") return `${actor} chose otherwise: ${body.chosen.length ? body.chosen.join(", ") : "nobody"}.`;
  if (kind === "withdrawal") return `${actor} took a review back.`;
  if (kind === "review") return review(body, actor);
  return kind;
}

function review(body, actor) {
  const who = body.reviewer ?? actor;
  const answer = body.circumstances?.answer;
  const pairs = (some) => some.map((pair) => `${pair[0]} and ${pair[1]}`).join("; ");
  if (answer && !["unfair", "acceptable"].includes(answer)) return `${who} was asked about ${pairs([body.circumstances.pair])} and answered: ${answer}.`;
  if (body.kind === "one_bit") return `${who} says that ${body.any_unfair ? "something" : "nothing"} was unfair.`;
  const again = body.circumstances?.repeat ? " (asked a second time; not counted again)" : "";
  const said = [];
  if (body.unfair.length) said.push(`called unfair: ${pairs(body.unfair)}`);
  if (body.fair.length) said.push(`called acceptable: ${pairs(body.fair)}`);
  if (body.kind === "complete") said.push(body.unfair.length ? "and all others acceptable" : "found all pairs acceptable");
  return `${who} ${said.join(", ") || "named no pair"}${again}.`;
}

function remarks({ body }) {
  const reason = body.circumstances?.reason;
  const told = [body.reason, REASONS.find(([code]) => code === reason)?.[1] ?? reason, body.circumstances?.note].filter(Boolean);
  return told.length ? el("p", { class: "small muted" }, told.map((text) => `“${text}”`).join(" ")) : null;
}
