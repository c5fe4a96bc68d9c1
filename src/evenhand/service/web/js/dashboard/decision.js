// The page of one decision: why it has these chances, whether it was fair, and what happened since.

import { call, deskOfPage, deskPath, session } from "../api.js";
import { $, el, show } from "../dom.js";
import { showError } from "../banners.js";
import { count } from "../format.js";
import { meaningOf } from "../glossary.js";
import { masthead } from "../masthead.js";
import { bindingTable } from "./binding-pairs.js";
import { candidateTable, featuresOf, peopleOf } from "./candidates.js";
import { flagsOf } from "./flags.js";
import { price } from "./price.js";
import { showProbabilities } from "./probabilities.js";
import { offerProofs } from "./proofs.js";
import { sinceList } from "./since.js";
import { fullTime, joined, number, numbered, own } from "./words.js";

const desk = deskOfPage();
const ROUNDING = 1e-9;
const FEW = 8; // so many candidates are all drawn
const MOST_DRAWN = 8; // pairs of one candidate
const FEW_CHOSEN = 3; // who are named at the top
const id = decodeURIComponent(location.pathname.split("/")[4] ?? "");

async function begin() {
  masthead({ desk, here: "desk" });
  $("#back").href = `/desks/${encodeURIComponent(desk)}`;
  const person = await session();
  masthead({ person, desk, here: "desk" });
  const { record, explanation, attributes, certificate_seconds: seconds } = await call("GET", deskPath(desk, `/decisions/${encodeURIComponent(id)}/window`));
  const title = `Decision ${numbered(record.body.number)}`;
  document.title = `${title} · ${desk} · evenhand`;
  $("#title").textContent = title;
  const flags = flagsOf(record.followed_by, Object.fromEntries(explanation.candidates.map((one) => [one.id, one.probability])));
  show($("#facts"), flags.banner, facts(record, explanation));
  const shares = inShares(explanation);
  if (shares) $("#chances-title").textContent = "Shares, and the pairs at their limit";
  // In shares nobody is drawn: a mark on everybody would say nothing.
  const people = peopleOf(record, explanation, attributes).map((one) => (shares ? { ...one, chosen: false } : one));
  candidateTable($("#people"), people, attributes.names, (one) => showPairs(one, people, explanation, attributes, flags), shares ? "Share" : "Chance");
  show($("#price"), explanation.price ? price(explanation) : el("p", { class: "card" }, "Not known any more: the estimates that it depends on were erased with a candidate."));
  show($("#since"), sinceList(record.followed_by));
  offerProofs($("#proofs"), desk, id, flags, people.length, seconds);
}

const SHARE = "share of what was asked";
const inShares = (explanation) => explanation.mode === "shares";

function facts(record, explanation) {
  const { body } = record;
  const shares = inShares(explanation);
  const names = (ids) => {
    const some = ids.length > FEW_CHOSEN + 1 ? ids.slice(0, FEW_CHOSEN) : ids;
    return ids.length ? [...joined(some.map((name) => [own(name)]), ", "), some.length < ids.length && ` and ${ids.length - some.length} more`] : "nobody";
  };
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

/** The pairs of one candidate: drawn with the people they are with, and listed with what they are based on. */
function showPairs(one, people, explanation, attributes, flags) {
  const near = one.pairs.toSorted((a, b) => b.gap - a.gap).slice(0, MOST_DRAWN);
  const others = new Set(near.flatMap(({ first, second }) => [first, second]));
  const drawn = people.length <= FEW ? people : people.filter((other) => others.has(other.id) || other === one);
  const more = one.pairs.length - near.length;
  showProbabilities($("#chances"), drawn, near, explanation.price?.probabilities_without ?? {}, inShares(explanation) ? SHARE : undefined);
  $("#chances").prepend(el("p", {}, own(one.id), `: ${one.pairs.length ? `${count(one.pairs.length, "pair")} at the limit` : "no pair at the limit"}${more > 0 ? `, the ${near.length} widest drawn` : ""}`, meaningOf("at the limit")));
  const pairs = one.pairs.length > 0 && el("details", { class: "fold", id: "based-on", open: isOpen.basis, ontoggle: (event) => { isOpen.basis = event.currentTarget.open; } }, el("summary", {}, `${count(one.pairs.length, "pair")}, and what they are based on`), bindingTable(one.pairs, desk, flags));
  $("#chances").append(...[pairs].filter(Boolean),
    el("details", { class: "fold", open: isOpen.features, ontoggle: (event) => { isOpen.features = event.currentTarget.open; } }, el("summary", {}, count(attributes.names.length, "feature")), featuresOf(one, attributes.names)));
}

const isOpen = { basis: false, features: false }; // stays as it is from candidate to candidate

begin().catch((error) => {
  showError($("#banners"), error, desk);
  for (const section of document.querySelectorAll("main > section")) section.hidden = true;
});
