// The learned matrix as a table: numbers with their sign, shaded by size.

import { el } from "../dom.js";
import { named } from "../format.js";
import { own } from "./words.js";

const MOST = 40;

export function matrixTable(names, matrix) {
  if (names.length > MOST) return el("p", { class: "small muted pad" }, `The matrix has ${names.length} rows; the metric can be had as JSON.`);
  const largest = Math.max(...matrix.flat().map(Math.abs), 1e-12);
  const head = el("tr", {}, el("td"), names.map((name) => el("th", { scope: "col", title: name }, own(named(name)))));
  const rows = matrix.map((row, i) => el("tr", {}, el("th", { scope: "row", title: names[i] }, own(named(names[i]))), row.map((value, j) => cell(value, largest, i === j))));
  return el("table", { class: "matrix" }, el("caption", { class: "visually-hidden" }, "The learned matrix G"), el("thead", {}, head), el("tbody", {}, rows));
}

function cell(value, largest, diagonal) {
  const text = Math.abs(value) < 5e-5 ? "0" : `${value < 0 ? "−" : diagonal ? "" : "+"}${Math.abs(value).toPrecision(2)}`;
  const element = el("td", { class: `number${diagonal ? " diagonal" : ""}${value < 0 ? " negative" : ""}` }, text);
  element.style.setProperty("--weight", (Math.sqrt(Math.abs(value) / largest)).toFixed(3));
  return element;
}
