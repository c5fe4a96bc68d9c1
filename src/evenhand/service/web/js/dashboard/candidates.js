// The candidates of a decision: a table to sort and search, with small bars; one of them is looked at.

import { announce, el, show } from "../dom.js";
import { chance, count, named, percent } from "../format.js";
import { term } from "../glossary.js";
import { bar } from "../meters.js";
import { tableFrame } from "../tables.js";
import { aligned, minus, own } from "./words.js";

const FIRST = 14; // rows shown before "show all"
const FEW = 5; // with more features than this they are shown for one candidate only

/** people: from `peopleOf`; names: of the features; pick(person) is called when one is chosen to be looked at;
 * chanceName: what the chances are called. */
export function candidateTable(place, people, names, pick, chanceName = "Chance") {
  const columns = columnsOf(people, names.length <= FEW ? names : [], chanceName);
  const state = { by: columns[1], down: true, words: "", whole: people.length <= FIRST + 2, at: null };
  const [body, status] = [el("tbody"), el("span", { class: "visually-hidden", role: "status" })];
  const heads = columns.map((column) => head(column, () => sort(column)));
  const search = el("input", { class: "input", type: "search", id: "find", placeholder: "name or value", autocomplete: "off", oninput: () => { state.words = search.value.trim().toLowerCase(); draw(); announce(status, about.textContent); } });
  const about = el("span", { class: "small muted number", id: "found" });
  const all = el("button", { class: "button small", type: "button", id: "show-all", onclick: () => { state.whole = true; draw(); } });

  const draw = () => {
    const found = people.filter(({ text }) => text.includes(state.words)).toSorted(inOrder(state));
    const shown = state.whole ? found : found.slice(0, FIRST);
    show(body, shown.map((one) => row(one, columns, one === state.at, choose)));
    heads.forEach((th, i) => th.setAttribute("aria-sort", columns[i] === state.by ? (state.down ? "descending" : "ascending") : "none"));
    about.textContent = state.words ? `${found.length} of ${count(people.length, "candidate")}` : count(people.length, "candidate");
    all.hidden = shown.length === found.length;
    all.textContent = `Show all ${found.length}`;
  };
  const sort = (column) => {
    Object.assign(state, { down: state.by === column ? !state.down : column.down, by: column });
    draw();
    announce(status, `Sorted by ${column.label}, ${state.down ? "highest" : "lowest"} first.`);
  };
  const choose = (one) => {
    const focused = body.contains(document.activeElement);
    state.at = one;
    draw();
    if (focused) body.querySelector("[aria-current] .pick")?.focus();
    pick(one);
  };
  show(place, el("div", { class: "find" }, el("label", { for: search.id }, "Find"), search, about, status),
    tableFrame("Table of candidates", el("table", { class: "table candidates" }, el("caption", { class: "visually-hidden" }, "Candidates; press a name to see its pairs at the limit"),
      el("thead", {}, el("tr", {}, heads)), body)), all,
    el("p", { class: "small muted row terms" }, "What the columns mean:", columns.filter((column) => column.term).map((column) => term(column.term, column.label))));
  const inSight = people.toSorted(inOrder(state)).slice(0, FIRST);
  choose(inSight.reduce((most, one) => (one.pairs.length > most.pairs.length ? one : most)));
}

/** What the table knows of each candidate: {id, probability, chosen, without, reward, pairs, features, text}. */
export function peopleOf(record, explanation, attributes) {
  const without = explanation.price?.probabilities_without ?? {};
  const rewards = Object.assign({}, ...record.followed_by.filter(({ kind }) => kind === "outcome").map(({ body }) => body.rewards));
  return explanation.candidates.map((one, i) => {
    const features = attributes.rows[i];
    const pairs = explanation.binding_pairs.filter(({ first, second }) => first === one.id || second === one.id);
    return { ...one, without: without[one.id] ?? null, reward: rewards[one.id] ?? null, pairs, features, text: [one.id, ...features, one.chosen ? "chosen" : ""].join("\n").toLowerCase() };
  });
}

/** Columns: what is sorted by, what is shown, and what a press on the head begins with. */
function columnsOf(people, names, chanceName) {
  const most = Math.max(...people.map((one) => one.probability), 1e-9);
  const plain = (label, of, words, more = {}) => ({ label, of, cell: (one) => (of(one) === null || of(one) === undefined ? "–" : words(of(one))), kind: "right number", down: true, ...more });
  return [
    { label: "Candidate", of: (one) => one.id, down: false, kind: "who" },
    { label: chanceName, term: "chance", of: (one) => one.probability, kind: "number", down: true, cell: (one) => el("div", { class: "with-bar" }, el("span", {}, chance(one.probability, 1)), bar("", one.probability / most)) },
    plain("At limit", (one) => one.pairs.length, (n) => (n ? String(n) : "–"), { term: "at the limit" }),
    plain("Without fairness", (one) => one.without, percent, { term: "without fairness", optional: true }),
    plain("Expected reward", (one) => one.estimated_reward, aligned, { term: "expected reward" }),
    plain("Optimistic reward", (one) => one.optimistic_reward, aligned, { term: "optimistic reward", optional: true }),
    plain("Reward", (one) => one.reward, aligned, { term: "reward" }),
    ...names.map((name, i) => ({ label: named(name), of: (one) => valueOf(one.features[i]), kind: "value", down: false, cell: (one) => own(minus(one.features[i])) })),
  ];
}

/** A value to sort by: the number that a text begins with, or the text. */
function valueOf(text) {
  const amount = Number(text.replaceAll(",", "").replace("−", "-").split(" ")[0]);
  return Number.isNaN(amount) ? text : amount;
}

function inOrder({ by, down }) {
  const known = (value) => value !== null && value !== undefined;
  const less = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  return (one, other) => {
    const [a, b] = [by.of(one), by.of(other)];
    if (!known(a) || !known(b)) return known(b) - known(a);
    return down ? less(b, a) : less(a, b);
  };
}

function head({ label, kind, optional }, press) {
  return el("th", { scope: "col", class: `${kind?.includes("right") ? "right" : ""} ${kind === "value" ? "value" : ""} ${optional ? "optional" : ""}`.trim() || null },
    el("button", { class: "sort", type: "button", onclick: press }, label));
}

function row(one, columns, isAt, choose) {
  const mark = one.chosen && el("span", { class: "chip" }, el("span", { "aria-hidden": "true" }, "✓"), el("span", { class: "visually-hidden" }, "chosen"));
  const name = el("button", { class: "pick", type: "button", "aria-pressed": String(isAt), onclick: () => choose(one) }, own(one.id));
  return el("tr", { "aria-current": isAt ? "true" : null }, el("th", { scope: "row", class: "who" }, el("span", { class: "named" }, name, mark), boundChip(one)),
    columns.slice(1).map(({ cell, kind, optional }) => el("td", { class: `${kind} ${optional ? "optional" : ""}`.trim() }, cell(one))));
}

/** A mark on a candidate whose chance is at a floor or a ceiling that was given. */
function boundChip(one) {
  if (!one.held_by) return null;
  return el("span", { class: "block" }, el("span", { class: "chip" }, `at its ${one.held_by}, ${chance(one.held_by === "floor" ? one.lower : one.upper, 1)}`));
}

/** The features of one candidate. */
export function featuresOf(one, names) {
  return el("dl", { class: "features-of" }, names.map((name, i) => el("div", {}, el("dt", {}, own(named(name))), el("dd", {}, own(minus(one.features[i]))))));
}
