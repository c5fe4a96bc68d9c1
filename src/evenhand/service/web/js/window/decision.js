// The page of one decision: why it had these odds, whether it was fair, and what happened since.

import { call, deskOfPage, deskPath, session } from "../api.js";
import { $, el, show } from "../dom.js";
import { refusal } from "../banners.js";
import { count, named, percent } from "../format.js";
import { masthead } from "../masthead.js";
import { bindingTable } from "./pairs.js";
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
  const judges = person.roles.every((role) => role === "review");
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
  show($("#since"), sinceList(record.followed_by), judges ? el("p", { class: "small muted" }, "What other reviewers said is not shown to you: your judgement should be your own.") : null);
  if (judges) { $("#proofs").closest("section").remove(); return; } // proofs quote what reviewers said
  await showProofs($("#proofs"), desk, id).catch((error) => show($("#proofs"), el("p", { class: "banner" }, `The certificate cannot be shown: ${error.message}`)));
}

function facts(record, explanation) {
  const { body } = record;
  const chosen = body.chosen.length ? body.chosen.join(", ") : "nobody";
  const told = [
    ["Made", time(record.time)], ["By", record.actor], ["Chosen", chosen],
    ["Candidates", `${body.candidates.length}, of whom ${body.capacity === null ? "all" : `at most ${body.capacity}`} could be chosen`],
    ["Decided from", `line ${explanation.decided_from.toLocaleString("en")} of the ledger`], ["Drawn by", `${body.lots.generator}, lot ${body.number + 1}`],
  ];
  return el("dl", { class: "facts card" }, told.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function price({ candidates, price: told }) {
  const free = candidates.reduce((sum, one) => sum + one.estimated_reward * told.odds_without[one.id], 0);
  const played = candidates.reduce((sum, one) => sum + one.estimated_reward * one.probability, 0);
  const figure = (words, value, note) => el("div", { class: "figure" }, el("span", { class: "muted small" }, words), el("b", { class: "number" }, number(value, 3)), el("span", { class: "muted small" }, note));
  return el("div", { class: "card stack" },
    el("div", { class: "price" },
      figure("Expected reward as played", played, "by the best estimates at the time"),
      figure("If fairness did not count", free, "the most promising candidate, for certain"),
      figure("What fairness cost", told.expected_reward, `${number(told.optimistic_reward, 3)} of what was hoped for at best`)),
    el("p", {}, told.expected_reward > 0.0005
      ? "That much expected reward was given up so that people who are alike had odds that are alike."
      : "Fairness cost nothing here that was expected: without it, the odds would have gone to somebody of whom more was hoped for, but not more expected."));
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
  return el("div", { class: "table-frame", tabindex: "0", role: "region", "aria-label": "Table of candidates" },
    el("table", { class: "table" }, el("caption", { class: "visually-hidden" }, count(rows.length, "candidate")),
      el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: i >= right ? "right" : null }, head)))), el("tbody", {}, rows)));
}

begin().catch((error) => {
  refusal($("#banners"), error, desk);
  for (const section of document.querySelectorAll("main > section")) section.hidden = true;
});
