// The page of one decision: why it has these chances, whether it was fair, and what happened since.

import { call, deskOfPage, deskPath, session } from "../api.js";
import { $, el, show } from "../dom.js";
import { showError } from "../banners.js";
import { chance, count, named, percent } from "../format.js";
import { masthead } from "../masthead.js";
import { tableFrame } from "../tables.js";
import { bindingTable } from "./binding-pairs.js";
import { flagsOf } from "./flags.js";
import { price } from "./price.js";
import { showProbabilities } from "./probabilities.js";
import { showProofs } from "./proofs.js";
import { sinceList } from "./since.js";
import { fullTime, joined, minus, number, numbered, own } from "./words.js";

const desk = deskOfPage();
const ROUNDING = 1e-9;
const LONG = 16; // letters; longer values are broken
const id = decodeURIComponent(location.pathname.split("/")[4] ?? "");

async function begin() {
  masthead({ desk, here: "desk" });
  $("#back").href = `/desks/${encodeURIComponent(desk)}`;
  const person = await session();
  masthead({ person, desk, here: "desk" });
  const { record, explanation, attributes } = await call("GET", deskPath(desk, `/decisions/${encodeURIComponent(id)}/window`));
  const title = `Decision ${numbered(record.body.number)}`;
  document.title = `${title} · ${desk} · evenhand`;
  $("#title").textContent = title;
  const flags = flagsOf(record.followed_by, Object.fromEntries(explanation.candidates.map((one) => [one.id, one.probability])));
  show($("#facts"), flags.banner, facts(record, explanation));
  if (inShares(explanation)) $("#chances-title").textContent = "Shares, and the pairs at their limit";
  // In shares nobody is drawn: a mark on everybody would say nothing.
  const shown = inShares(explanation) ? explanation.candidates.map((one) => ({ ...one, chosen: false })) : explanation.candidates;
  showProbabilities($("#chances"), shown, explanation.binding_pairs, explanation.price?.probabilities_without ?? {}, inShares(explanation) ? SHARE : undefined);
  $("#chances").append(bindingTable(explanation.binding_pairs, desk, flags));
  show($("#price"), explanation.price ? price(explanation) : el("p", { class: "card" }, "Not known any more: the estimates that it depends on were erased with a candidate."));
  show($("#people"), people(record, explanation, attributes));
  show($("#since"), sinceList(record.followed_by));
  await showProofs($("#proofs"), desk, id, flags).catch((error) => show($("#proofs"), el("p", { class: "banner" }, `Could not load the certificate: ${error.message}`)));
}

const SHARE = "share of what was asked";
const inShares = (explanation) => explanation.mode === "shares";

function facts(record, explanation) {
  const { body } = record;
  const shares = inShares(explanation);
  const names = (ids) => (ids.length ? joined(ids.map(own), ", ") : "nobody");
  const done = explanation.action ? names(explanation.action.chosen) : "not known yet";
  const chosen = body.shadow ? [["Mode", "shadow: nobody acted on it"], ["The desk would choose", names(body.would_choose)], ["The system in force chose", done]] : [[shares ? "Got a share" : "Chosen", names(body.chosen)]];
  const entries = [
    ["Time", fullTime(record.time)], ["By", own(record.actor)], ...chosen,
    ["Candidates", shares ? shareWords(body.candidates.length, body.capacity) : capacityWords(body.candidates.length, body.capacity)],
    ["Based on events", `up to ${explanation.decided_from.toLocaleString("en")}`], ["Random draw", shares ? "none: everybody gets a share" : drawn(body)],
    ["Limits met", limitsMet(explanation.worst_residual)], ["Id", el("code", { class: "id" }, record.id)],
  ];
  return el("dl", { class: "facts card" }, entries.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/** How the draw was made: with a key committed to one decision before, or, by earlier versions, from the seed. */
function drawn(body) {
  return body.lottery?.key ? "by a key fixed before the candidates were known" : `${numbered(body.number)} of the desk’s seed; reproducible`;
}

/** Whether all limits were met, from the largest excess over any of them. */
function limitsMet(worst) {
  if (worst === 0) return "all";
  return worst === null || worst < ROUNDING ? "all, up to rounding" : `exceeded by ${number(worst)} at most`;
}

/** The number of candidates, and how many could be chosen. */
function capacityWords(n, capacity) {
  return `${n}; ${capacity === null || capacity >= n ? (n === 1 ? "could be chosen or not" : "all could be chosen") : `at most ${capacity} could be chosen`}`;
}

/** The number of candidates, and what their shares may add up to. */
function shareWords(n, capacity) {
  return `${n}; ${capacity === null || capacity >= n ? "each may get all that was asked" : `their shares add up to ${capacity} at most`}`;
}

/** A mark on a candidate whose chance is at a floor or a ceiling that was given. */
function boundChip(one) {
  if (!one.held_by) return null;
  return el("span", { class: "block" }, el("span", { class: "chip" }, `at its ${one.held_by}, ${chance(one.held_by === "floor" ? one.lower : one.upper, 1)}`));
}

function people(record, explanation, attributes) {
  const without = explanation.price?.probabilities_without ?? {};
  const known = (value, words) => (value === null || value === undefined ? "–" : words(value));
  const cell = (value) => el("td", { class: value.length > LONG ? "value" : "brief" }, own(minus(value)));
  const rewards = Object.assign({}, ...record.followed_by.filter((event) => event.kind === "outcome").map((event) => event.body.rewards));
  const heads = ["Candidate", ...attributes.names.map(named), inShares(explanation) ? "Share" : "Chance", "Without fairness", "Expected reward", "Optimistic reward", "Reward"];
  const right = attributes.names.length + 1;
  const rows = explanation.candidates.map((one, i) => el("tr", {},
    el("th", { scope: "row", class: "who" }, own(one.id), one.chosen && !inShares(explanation) && el("span", { class: "block" }, el("span", { class: "chip" }, el("span", { "aria-hidden": "true" }, "✓"), "chosen")), boundChip(one)),
    attributes.rows[i].map(cell),
    [chance(one.probability, 1), known(without[one.id], percent), known(one.estimated_reward, number), known(one.optimistic_reward, number), one.id in rewards ? number(rewards[one.id]) : "–"]
      .map((value) => el("td", { class: "right number" }, value))));
  return tableFrame("Table of candidates",
    el("table", { class: "table" }, el("caption", { class: "visually-hidden" }, count(rows.length, "candidate")),
      el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: i >= right ? "right" : head.length > LONG ? "value" : null }, own(head))))), el("tbody", {}, rows)));
}

begin().catch((error) => {
  showError($("#banners"), error, desk);
  for (const section of document.querySelectorAll("main > section")) section.hidden = true;
});
