// What the desk has learned about who is alike: bars with their uncertainty, sentences, and the matrix.

import { el, show } from "../dom.js";
import { count } from "../format.js";
import { tableFrame } from "../frames.js";
import { Baseline } from "./baseline.js";
import { effectBars } from "./effects.js";
import { matrixTable } from "./matrix.js";
import { shortened } from "./shortened.js";
import { joined, moment, own, readable } from "./words.js";

const ESTIMATE = "By the best estimate of what reviewers find fair.";
const CAUTIOUS = ["BayesPoint", "Guarded"]; // learners that play less than they take for right
const [MOST_BARS, BARS] = [8, 5]; // of more features than the first, so many are shown to begin with
const [MOST_SENTENCES, SENTENCES] = [12, 8];

/** name: of whoever looks, and of the desk. */
export function metricView(place, from, name) {
  const list = el("div", { class: "effects", role: "list" });
  const undrawn = el("p", { class: "small muted", hidden: true }, "The bars cannot be drawn: the chart library did not come.");
  const bars = effectBars(list, undrawn);
  const words = el("ul", { class: "sentences" });
  const warnings = el("div", { class: "stack" });
  const matrix = el("div");
  const baseline = new Baseline(name);
  const far = el("span");
  const estimates = [0, 1].map(() => el("span", { class: "estimate" }));
  const muted = (...told) => el("p", { class: "small muted" }, told);
  let metric = null;
  const marks = legend(() => { baseline.begin(metric.effects, metric.state); drawBars(); });
  const drawBars = () => {
    const { at, values } = baseline.of(metric.effects, metric.state);
    const moved = bars.update(chosen.of(metric.effects), values);
    marks.tell(at, moved);
  };
  const drawWords = () => show(words, chosenWords.of(metric.sentences).map((sentence) => el("li", {}, readable(sentence, metric.effects.map((effect) => effect.name)))));
  const chosen = shortened(MOST_BARS, BARS, "features", weightiest, drawBars);
  const chosenWords = shortened(MOST_SENTENCES, SENTENCES, "sentences", (all, n) => all.slice(0, n), drawWords);
  const asBars = el("div", { class: "card" },
    el("h3", {}, "By how much odds may differ"),
    muted(far, " ", estimates[0]), list, undrawn, chosen.button, marks.element, warnings);
  const asMatrix = el("details", { class: "card fold", open: window.innerWidth >= 1024 }, el("summary", {}, "The learned matrix"),
      el("p", { class: "small muted" }, "The distance of two people is √(z′Gz), z being the difference of their features as numbers. On the diagonal stands what a feature does alone; beside it, whether two features add up (+) or make up for each other (−)."), tableFrame("The learned matrix", matrix, "matrix-frame"));
  show(place, el("div", {}, asBars, asMatrix), el("div", { class: "card" }, el("h3", {}, "In words"), muted(estimates[1]), words, chosenWords.button));
  return {
    update(fresh) {
      metric = fresh;
      from.textContent = metric.reviews ? `Learned from ${count(metric.reviews, "answer")} of reviewers.` : "No answer has taught anything yet: this is what is believed to begin with.";
      far.textContent = `of two people who differ in this one thing only, ${metric.by_range ? "and there as far as they can" : "by one unit"}. In percentage points.`;
      for (const estimate of estimates) estimate.textContent = estimateWords(metric);
      drawBars();
      drawWords();
      show(warnings, warningsOf(metric));
      show(matrix, matrixTable(metric.coordinates, metric.matrix));
    },
  };
}

/** The effects that do the most, in the order they came in, so that bars stay where they are. */
function weightiest(effects, n) {
  const least = effects.map((effect) => effect.value).toSorted((a, b) => b - a)[n - 1];
  const above = effects.filter((effect) => effect.value > least).length;
  let ties = n - above;
  return effects.filter(({ value }) => value > least || (value === least && ties-- > 0));
}

/** That these are not the odds that are played: the desk keeps on the safe side of what it has learned. */
function estimateWords({ kind }) {
  return CAUTIOUS.includes(kind) ? `${ESTIMATE} While it is unsure the desk keeps odds closer together than this.` : `${ESTIMATE} After flags the desk may keep odds closer together than this.`;
}

/** What the marks mean; `tell` says since when, and offers to begin anew where any bar has moved. */
function legend(forget) {
  const sample = (kind) => el("span", { class: `sample ${kind}`, "aria-hidden": "true" });
  const since = el("span");
  const button = el("button", { class: "button quiet small", type: "button", id: "forget", onclick: forget }, "Compare from now on");
  return {
    element: el("ul", { class: "legend" },
      el("li", {}, sample("fill"), "best estimate"), el("li", {}, sample("whisker"), "where it may lie"), el("li", {}, sample("was"), since, button)),
    tell(at, moved) {
      since.textContent = `when you first opened this page, ${moment(at)}`;
      button.hidden = !moved;
    },
  };
}

function warningsOf(metric) {
  const told = [];
  if (metric.reviews_in_conflict) told.push([`${count(metric.reviews_in_conflict, "answer contradicts", "answers contradict")} what was said before and could not be honoured.`]);
  if (metric.misleading_reviewers.length) told.push([el("span", {}, "Not listened to, because more often wrong than right: ", joined(metric.misleading_reviewers.map(own), ", "), ".")]);
  return told.map((text) => el("p", { class: "banner small" }, text));
}
