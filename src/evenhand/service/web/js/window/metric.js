// What the desk has learned about who is alike: bars with their uncertainty, sentences, and the matrix.

import { el, show } from "../dom.js";
import { count } from "../format.js";
import { tableFrame } from "../frames.js";
import { effectBars } from "./effects.js";
import { matrixTable } from "./matrix.js";
import { readable } from "./words.js";

export function metricView(place, from) {
  const list = el("div", { class: "effects", role: "list" });
  const undrawn = el("p", { class: "small muted", hidden: true }, "The bars cannot be drawn: the chart library did not come.");
  const bars = effectBars(list, undrawn);
  const words = el("ul", { class: "sentences" });
  const warnings = el("div", { class: "stack" });
  const matrix = el("div");
  const first = new Map(); // what stood here when the page was opened
  const far = el("p", { class: "small muted" });
  const asBars = el("div", { class: "card" },
    el("h3", {}, "By how much odds may differ"),
    far,
    list, undrawn, legend(), warnings);
  const asMatrix = el("details", { class: "card fold", open: window.innerWidth >= 1024 }, el("summary", {}, "The learned matrix"),
      el("p", { class: "small muted" }, "The distance of two people is √(z′Gz), z being the difference of their features as numbers. On the diagonal stands what a feature does alone; beside it, whether two features add up (+) or make up for each other (−)."), tableFrame("The learned matrix", matrix, "matrix-frame"));
  show(place, el("div", {}, asBars, asMatrix), el("div", { class: "card" }, el("h3", {}, "In words"), words));
  return {
    update(metric) {
      from.textContent = metric.reviews ? `Learned from ${count(metric.reviews, "answer")} of reviewers.` : "No answer has taught anything yet: this is what is believed to begin with.";
      far.textContent = `of two people who differ in this one thing only, ${metric.by_range ? "and there as far as they can" : "by one unit"}. In percentage points.`;
      const names = metric.effects.map((effect) => effect.name);
      for (const effect of metric.effects) if (!first.has(effect.name)) first.set(effect.name, effect.value);
      bars.update(metric.effects, first);
      show(words, metric.sentences.map((sentence) => el("li", {}, readable(sentence, names))));
      show(warnings, warningsOf(metric));
      show(matrix, matrixTable(metric.coordinates, metric.matrix));
    },
  };
}

function legend() {
  const sample = (kind) => el("span", { class: `sample ${kind}`, "aria-hidden": "true" });
  return el("ul", { class: "legend" },
    el("li", {}, sample("fill"), "best estimate"), el("li", {}, sample("whisker"), "where it may lie"), el("li", {}, sample("was"), "when you opened this page"));
}

function warningsOf(metric) {
  const told = [];
  if (metric.reviews_in_conflict) told.push(`${count(metric.reviews_in_conflict, "answer contradicts", "answers contradict")} what was said before and could not be honoured.`);
  if (metric.misleading_reviewers.length) told.push(`Not listened to, because more often wrong than right: ${metric.misleading_reviewers.join(", ")}.`);
  return told.map((text) => el("p", { class: "banner small" }, text));
}
