// The page of one decision: why it had these odds, whether it was fair, and what happened since.

import { call, deskOfPage, deskPath, session } from "../api.js";
import { $, el, show } from "../dom.js";
import { refusal } from "../banners.js";
import { count, named, percent } from "../format.js";
import { tableFrame } from "../frames.js";
import { masthead } from "../masthead.js";
import { bindingTable } from "./pairs.js";
import { price } from "./price.js";
import { showProofs } from "./proofs.js";
import { showOdds } from "./ropes.js";
import { sinceList } from "./since.js";
import { number, time } from "./words.js";

const desk = deskOfPage();
const id = decodeURIComponent(location.pathname.split("/")[4] ?? "");

async function begin() {
  masthead({ desk, here: "desk" });
  $("#back").href = `/desks/${encodeURIComponent(desk)}`;
  const person = await session();
  masthead({ person, desk, here: "desk" });
  const told = await call("GET", deskPath(desk, `/decisions/${encodeURIComponent(id)}/window`));
  const { record, explanation } = told;
  const title = `Decision No. ${(record.body.number + 1).toLocaleString("en")}`;
  document.title = `${title} · ${desk} · evenhand`;
  $("#title").textContent = title;
  show($("#facts"), facts(record, explanation));
  showOdds($("#odds"), explanation.candidates, explanation.binding_pairs, explanation.price.odds_without);
  $("#odds").append(bindingTable(explanation.binding_pairs, desk));
  show($("#price"), price(explanation));
  show($("#people"), people(told));
  show($("#since"), sinceList(record.followed_by));
  await showProofs($("#proofs"), desk, id).catch((error) => show($("#proofs"), el("p", { class: "banner" }, `The certificate cannot be shown: ${error.message}`)));
}

function facts(record, explanation) {
  const { body } = record;
  const chosen = body.chosen.length ? body.chosen.join(", ") : "nobody";
  const told = [
    ["Made", time(record.time)], ["By", record.actor], ["Chosen", chosen],
    ["Candidates", room(body.candidates.length, body.capacity)],
    ["Decided from", `line ${explanation.decided_from.toLocaleString("en")} of the ledger`], ["Drawn by", `${body.lots.generator}, lot ${body.number + 1}`],
    ["Limits exceeded by", residual(explanation.worst_residual)],
  ];
  return el("dl", { class: "facts card" }, told.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/** By how much the odds exceed the limit that they exceed most, as measured: rounding. */
function residual(worst) {
  if (worst === null) return "at most 0.000000001";
  return worst ? `${worst.toExponential(1)} at most: rounding` : "nothing";
}

/** How many there were, and how many of them could be chosen. */
function room(n, capacity) {
  if (n === 1) return "1, who could be chosen or not";
  return `${n}, of whom ${capacity === null || capacity >= n ? "all" : capacity === 1 ? "one" : `at most ${capacity}`} could be chosen`;
}

function people({ record, explanation, attributes }) {
  const { price: told } = explanation;
  const rewards = Object.assign({}, ...record.followed_by.filter((event) => event.kind === "outcome").map((event) => event.body.rewards));
  const heads = ["Candidate", ...attributes.names.map(named), "Odds", "Without fairness", "Expected", "At best", "Reward"];
  const right = attributes.names.length + 1;
  const rows = explanation.candidates.map((one, i) => el("tr", {},
    el("th", { scope: "row", class: "who" }, one.id, one.chosen && el("span", { class: "block" }, el("span", { class: "chip" }, el("span", { "aria-hidden": "true" }, "✓"), "chosen"))),
    attributes.rows[i].map((value) => el("td", {}, value)),
    [percent(one.probability), percent(told.odds_without[one.id]), number(one.estimated_reward), number(one.optimistic_reward), one.id in rewards ? number(rewards[one.id]) : "–"]
      .map((value) => el("td", { class: "right number" }, value))));
  return tableFrame("Table of candidates",
    el("table", { class: "table" }, el("caption", { class: "visually-hidden" }, count(rows.length, "candidate")),
      el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: i >= right ? "right" : null }, head)))), el("tbody", {}, rows)));
}

begin().catch((error) => {
  refusal($("#banners"), error, desk);
  for (const section of document.querySelectorAll("main > section")) section.hidden = true;
});
