// Reviewers: their answers, consistency, agreement and estimated error rates.

import { el, show } from "../dom.js";
import { count, percent } from "../format.js";
import { term } from "../glossary.js";
import { bar } from "../meters.js";
import { liveRows, tableFrame } from "../tables.js";
import { ago, both, number, own } from "./words.js";

const HEADS = ["Reviewer", "Answers", "Unfair", "Acceptable", "Other", "Withdrawn", "Median seconds", "Consistent on repeats", "Estimated error rate", "Last"];

const TERMS = { "Consistent on repeats": "consistency", "Estimated error rate": "error rate" };
const PANEL = "“Like the others” is the share of a reviewer’s verdicts that a model of the other reviewers predicts; “weights differ” says how far the weights that the reviewer gives to features are from theirs, as a share of theirs.";
const FEW = 10; // pairs; with fewer, kappa means little and is left out
const COUNTED = "This table counts pairs called unfair, including interviews and repeats. “Called unfair” at the top counts decisions, once each, and no flags on equal chances.";

export function reviewersView(place) {
  let view = null;
  return {
    update({ people, agreement, consistency, errors_are_learned: learned, panel_is_learned: panel }) {
      if (!people.length) {
        if (!place.hasChildNodes()) show(place, el("p", { class: "muted" }, "No reviews yet."));
        return;
      }
      view ??= setUp(place, learned);
      view(people, agreement, consistency, panel);
    },
  };
}

/** Elements are created once and filled with each update: an open fold stays open. */
function setUp(place, learned) {
  const [facts, words, body, list] = [[share("agreement", "Agreement"), share("consistency", "Consistency")], el("p"), el("tbody"), el("ul", { class: "sentences" })];
  const frame = table(body, learned);
  const note = (text) => el("p", { class: "small muted" }, text);
  const compared = note(PANEL);
  const fold = el("details", { class: "fold" }, el("summary", {}, "Agreement by pair of reviewers, and what is counted"), words, list, note(COUNTED), compared,
    !learned && note("This desk assumes a fixed reviewer error, so none is estimated. A desk with reviewer_error set to none learns it."));
  show(place, el("p", { class: "row", id: "agreement" }, facts.map(({ element }) => element)), frame, fold);
  const fill = liveRows(body, (person) => JSON.stringify(person.name), (person) => line(person, learned));
  return (people, agreement, consistency, panel) => {
    compared.hidden = !panel; // a panel may come to be known later
    facts[0].set(agreement.pairs ? agreement.share : null, `of ${count(agreement.pairs, "pair")} judged by two`);
    facts[1].set(consistency.repeats ? consistency.same / consistency.repeats : null, `of ${count(consistency.repeats, "repeated pair")}`);
    words.textContent = together(agreement, consistency);
    fill(people.map((person) => ({ ...person, ago: person.last === null ? "–" : ago(person.last) })));
    show(list, agreement.between.map(betweenTwo));
  };
}

/** A share with its term, a bar, and of how many it is. */
function share(name, label) {
  const [value, track, of] = [el("b", { class: "number" }), el("span"), el("span", { class: "small muted" })];
  return {
    element: el("span", { class: "share" }, term(name, label), value, track, of),
    set(known, words) {
      value.textContent = known === null ? "–" : percent(known, 0);
      show(track, known === null ? null : bar("", known));
      of.textContent = words;
    },
  };
}

/** Agreement and consistency of all reviewers in words. */
export function together({ pairs, share, kappa }, { repeats, same }) {
  const agreed = pairs
    ? `Reviewers agree in ${percent(share, 0)} of cases on ${count(pairs, "pair")} judged by two or more${hasNoKappa(pairs, kappa) ? "" : ` (Fleiss’ kappa ${number(kappa)}: ${kappaWords(kappa)})`}.`
    : "No pair was judged by two people yet.";
  const consistent = repeats
    ? `On repeated pairs the answer was the same in ${same} of ${repeats}.`
    : "No pair was repeated yet.";
  return `${agreed} ${consistent}`;
}

const hasNoKappa = (pairs, kappa) => kappa === null || pairs < FEW;

function kappaWords(kappa) {
  if (kappa < 0) return "less than chance";
  if (kappa >= 0.8) return "almost perfect agreement";
  if (kappa >= 0.6) return "much more than chance";
  if (kappa >= 0.3) return "more than chance";
  return kappa > 0.05 ? "little more than chance" : "no more than chance";
}

function table(body, learned) {
  const heads = HEADS.filter((head) => learned || head !== "Estimated error rate");
  return tableFrame("Table of reviewers",
    el("table", { class: "table" },
      el("caption", { class: "visually-hidden" }, "Answers of each reviewer"),
      el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: i && i < heads.length - 1 ? "right" : null }, TERMS[head] ? term(TERMS[head], head) : head)))),
      body));
}

function line(person, learned) {
  const cell = (text) => el("td", { class: "right number" }, text);
  const { consistency } = person;
  return el("tr", {},
    el("th", { scope: "row", class: "who" }, person.name === null ? "anonymous" : own(person.name)),
    cell(person.answers.toLocaleString("en")), cell(String(person.unfair)), cell(String(person.acceptable)),
    cell(String(person.unsure + person.skip + person.conflict)), cell(String(person.withdrawn)),
    cell(person.median_seconds === null ? "–" : number(person.median_seconds, 1)),
    cell(consistency.repeats ? `${consistency.same} of ${consistency.repeats}` : "–"),
    learned && errors(person.error),
    el("td", { class: "brief" }, person.ago));
}

const below = (text) => el("span", { class: "block small muted" }, text);

/** How often a reviewer errs, how far the threshold moves, and how far the reviewer is from the others. */
function errors(error) {
  const parts = error === null ? "–" : [
    percent(error.rate, 0), below(`${percent(error.lower, 0)} to ${percent(error.upper, 0)}`),
    error.softness > 0 && below(`threshold ±${percent(error.softness, 0)}`),
    error.agreement !== null && below(`${percent(error.agreement, 0)} like the others`),
    error.deviation !== null && below(`weights differ ${percent(error.deviation, 0)}`),
    error.misleads && el("span", { class: "chip marked" }, "ignored")];
  return el("td", { class: "right number" }, parts);
}

function betweenTwo({ reviewers, pairs: n, same, kappa }) {
  return el("li", {}, both(reviewers.map((name) => name ?? "anonymous")), `: the same on ${same} of ${count(n, "pair")}${hasNoKappa(n, kappa) ? "" : `, Cohen’s kappa ${number(kappa)}`}.`);
}
