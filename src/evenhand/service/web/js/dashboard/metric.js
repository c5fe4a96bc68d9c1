// What the desk has learned about who is alike: bars with their uncertainty; on demand sentences and the matrix.

import { el, show } from "../dom.js";
import { count, named } from "../format.js";
import { tableFrame } from "../tables.js";
import { term } from "../glossary.js";
import { Baseline, effectBars } from "./effects.js";
import { fitLine } from "./fit.js";
import { joined, moment, own, readable } from "./words.js";

const [MOST_BARS, BARS] = [8, 5]; // with more features than the first number, this many are shown at first
const [MOST_SENTENCES, SENTENCES] = [12, 8];
const MOST_ROWS = 40;

/** name: of the person and the desk. */
export function metricView(place, name) {
  const list = el("div", { class: "effects", role: "list" });
  const bars = effectBars(list);
  const words = el("ul", { class: "sentences" });
  const warnings = el("div", { class: "stack" });
  const matrix = el("div");
  const baseline = new Baseline(name);
  const [from, fit] = [el("p", { class: "small muted", id: "metric-from" }), el("p", { class: "small muted", id: "fit" })];
  const showFit = fitLine(fit);
  let metric = null;
  const marks = legend(() => { baseline.reset(metric.effects, metric.state); drawBars(); });
  const drawBars = () => {
    const { at, values } = baseline.of(metric.effects, metric.state);
    marks.update(at, bars.update(chosen.of(metric.effects), values));
  };
  const drawWords = () => show(words, chosenWords.of(metric.sentences).map((sentence) => el("li", {}, readable(sentence, metric.effects.map((effect) => effect.name)))));
  const chosen = shortened(MOST_BARS, BARS, "features", largest, drawBars);
  const chosenWords = shortened(MOST_SENTENCES, SENTENCES, "sentences", (all, n) => all.slice(0, n), drawWords);
  const more = el("details", { class: "fold", id: "in-words" }, el("summary", {}, "In words, and as a matrix"), words, chosenWords.button,
    el("h4", {}, term("matrix", "The learned matrix")), tableFrame("The learned matrix", matrix, "matrix-frame"));
  show(place, el("div", { class: "card" }, el("div", { class: "row between" }, el("h3", {}, "How much chances may differ"), from), list, el("div", { class: "row between" }, marks.element, chosen.button), fit, warnings, more));
  return {
    update(fresh) {
      metric = fresh;
      from.textContent = metric.reviews ? `from ${count(metric.reviews, "answer")}` : "initial assumptions";
      showFit.update(metric);
      drawBars();
      drawWords();
      show(warnings, warningsOf(metric));
      show(matrix, matrixTable(metric.coordinates, metric.matrix));
    },
  };
}

/** The n largest effects in their original order, so that bars stay in place. */
function largest(effects, n) {
  const least = effects.map((effect) => effect.value).toSorted((a, b) => b - a)[n - 1];
  let ties = n - effects.filter((effect) => effect.value > least).length;
  return effects.filter(({ value }) => value > least || (value === least && ties-- > 0));
}

function legend(reset) {
  const sample = (kind) => el("span", { class: `sample ${kind}`, "aria-hidden": "true" });
  const since = el("span");
  const button = el("button", { class: "button quiet small", type: "button", id: "forget", onclick: reset }, "Compare from now on");
  const was = el("li", { hidden: true }, sample("was"), since, button);
  return {
    element: el("ul", { class: "legend" },
      el("li", {}, sample("fill"), term("best estimate", "best estimate")), el("li", {}, sample("whisker"), term("plausible range", "plausible range")), was),
    update(at, moved) {
      was.hidden = !moved;
      since.textContent = `when you first opened this page, ${moment(at)}`;
    },
  };
}

function warningsOf(metric) {
  const warnings = [];
  if (metric.reviews_in_conflict) warnings.push([`${count(metric.reviews_in_conflict, "answer contradicts", "answers contradict")} earlier ones and could not be used.`]);
  if (metric.misleading_reviewers.length) warnings.push([el("span", {}, "Ignored, because wrong more often than right: ", joined(metric.misleading_reviewers.map(own), ", "), ".")]);
  return warnings.map((text) => el("p", { class: "banner small" }, text));
}

/** A long list cut short: of more than `most` things the n that pick(all, n) chooses, until somebody shows all. */
function shortened(most, n, name, pick, redraw) {
  let whole = false;
  const button = el("button", { class: "button small", type: "button", hidden: true, "aria-expanded": "false", onclick: () => { whole = !whole; redraw(); } });
  return {
    button,
    of(all) {
      button.hidden = all.length <= most;
      button.textContent = whole ? `Show fewer ${name}` : `Show all ${all.length} ${name}`;
      button.setAttribute("aria-expanded", String(whole));
      return whole || all.length <= most ? all : pick(all, n);
    },
  };
}

/** The matrix as a table: signed numbers, shaded by size. */
function matrixTable(names, matrix) {
  if (names.length > MOST_ROWS) return el("p", { class: "small muted pad" }, `The matrix has ${names.length} rows; download the metric as JSON to see it.`);
  const most = Math.max(...matrix.flat().map(Math.abs), 1e-12);
  const head = el("tr", {}, el("td"), names.map((name) => el("th", { scope: "col", title: name }, own(named(name)))));
  const rows = matrix.map((row, i) => el("tr", {}, el("th", { scope: "row", title: names[i] }, own(named(names[i]))), row.map((value, j) => matrixCell(value, most, i === j))));
  return el("table", { class: "matrix" }, el("caption", { class: "visually-hidden" }, "The learned matrix G"), el("thead", {}, head), el("tbody", {}, rows));
}

function matrixCell(value, most, diagonal) {
  const text = Math.abs(value) < 5e-5 ? "0" : `${value < 0 ? "−" : diagonal ? "" : "+"}${Math.abs(value).toPrecision(2)}`;
  const element = el("td", { class: `number${diagonal ? " diagonal" : ""}${value < 0 ? " negative" : ""}` }, text);
  element.style.setProperty("--weight", Math.sqrt(Math.abs(value) / most).toFixed(3));
  return element;
}
