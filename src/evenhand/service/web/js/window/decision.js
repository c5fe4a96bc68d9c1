// The page of one decision: why it had these odds, whether it was fair, and what happened since.

import { call, deskOfPage, deskPath, session } from "../api.js";
import { $, el, show } from "../dom.js";
import { refusal } from "../banners.js";
import { count, named, oddsInWords, percent } from "../format.js";
import { tableFrame } from "../frames.js";
import { masthead } from "../masthead.js";
import { flagsOf } from "./flags.js";
import { bindingTable } from "./pairs.js";
import { price } from "./price.js";
import { showProofs } from "./proofs.js";
import { showOdds } from "./ropes.js";
import { sinceList } from "./since.js";
import { fullTime, joined, minus, number, numbered, own } from "./words.js";

const desk = deskOfPage();
const ROUNDING = 1e-9;
const LONG = 16; // letters of a value, from which on it is broken
const id = decodeURIComponent(location.pathname.split("/")[4] ?? "");

async function begin() {
  masthead({ desk, here: "desk" });
  $("#back").href = `/desks/${encodeURIComponent(desk)}`;
  const person = await session();
  masthead({ person, desk, here: "desk" });
  const told = await call("GET", deskPath(desk, `/decisions/${encodeURIComponent(id)}/window`));
  const { record, explanation } = told;
  const title = `Decision ${numbered(record.body.number)}`;
  document.title = `${title} · ${desk} · evenhand`;
  $("#title").textContent = title;
  const flags = flagsOf(record.followed_by, Object.fromEntries(explanation.candidates.map((one) => [one.id, one.probability])));
  show($("#facts"), flags.banner, facts(record, explanation));
  showOdds($("#odds"), explanation.candidates, explanation.binding_pairs, explanation.price.probabilities_without);
  $("#odds").append(bindingTable(explanation.binding_pairs, desk, flags));
  show($("#price"), price(explanation));
  show($("#people"), people(told));
  show($("#since"), sinceList(record.followed_by));
  await showProofs($("#proofs"), desk, id, flags).catch((error) => show($("#proofs"), el("p", { class: "banner" }, `The certificate cannot be shown: ${error.message}`)));
}

function facts(record, explanation) {
  const { body } = record;
  const chosen = body.chosen.length ? joined(body.chosen.map(own), ", ") : "nobody";
  const told = [
    ["Made", fullTime(record.time)], ["By", own(record.actor)], ["Chosen", chosen],
    ["Candidates", room(body.candidates.length, body.capacity)],
    ["Knew the ledger", `up to line ${explanation.decided_from.toLocaleString("en")}`], ["Drawn", `by lot ${numbered(body.number)} of the desk’s seed; can be repeated`],
    ["Limits kept", kept(explanation.worst_residual)], ["Id", el("code", { class: "id" }, record.id)],
  ];
  return el("dl", { class: "facts card" }, told.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/** Whether all limits were kept, from by how much the odds exceed the one that they exceed most. */
function kept(worst) {
  if (worst === 0) return "all of them";
  return worst === null || worst < ROUNDING ? "all of them, but for rounding" : `all but for ${number(worst)}`;
}

/** How many there were, and how many of them could be chosen. */
function room(n, capacity) {
  if (n === 1) return "1, who could be chosen or not";
  return `${n}, of whom ${capacity === null || capacity >= n ? "all" : capacity === 1 ? "one" : `at most ${capacity}`} could be chosen`;
}

function people({ record, explanation, attributes }) {
  const { price: told } = explanation;
  const cell = (value) => el("td", { class: value.length > LONG ? "value" : "brief" }, own(minus(value)));
  const rewards = Object.assign({}, ...record.followed_by.filter((event) => event.kind === "outcome").map((event) => event.body.rewards));
  const heads = ["Candidate", ...attributes.names.map(named), "Odds", "Without fairness", "Expected", "At best", "Reward"];
  const right = attributes.names.length + 1;
  const rows = explanation.candidates.map((one, i) => el("tr", {},
    el("th", { scope: "row", class: "who" }, own(one.id), one.chosen && el("span", { class: "block" }, el("span", { class: "chip" }, el("span", { "aria-hidden": "true" }, "✓"), "chosen"))),
    attributes.rows[i].map(cell),
    [oddsInWords(one.probability, 1), percent(told.probabilities_without[one.id]), number(one.estimated_reward), number(one.optimistic_reward), one.id in rewards ? number(rewards[one.id]) : "–"]
      .map((value) => el("td", { class: "right number" }, value))));
  return tableFrame("Table of candidates",
    el("table", { class: "table" }, el("caption", { class: "visually-hidden" }, count(rows.length, "candidate")),
      el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: i >= right ? "right" : head.length > LONG ? "value" : null }, own(head))))), el("tbody", {}, rows)));
}

begin().catch((error) => {
  refusal($("#banners"), error, desk);
  for (const section of document.querySelectorAll("main > section")) section.hidden = true;
});
