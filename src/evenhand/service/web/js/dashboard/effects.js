// How far each feature can move two people apart, as bars with their uncertainty, and what changed since the first look.

import { $, el, show } from "../dom.js";
import { named } from "../format.js";
import { keepValue, recallValue } from "../storage.js";
import { own, pointsOf, separated } from "./words.js";

const NEARLY_ZERO = 0.001; // of a lower end: a tenth of a point
const MOVED = 0.002; // a bar that moved by less counts as unmoved
const DAY = 24 * 3600 * 1000;
const within = (value) => Math.min(1, Math.max(0, value));

/** A list of features in `place`; `update` takes their effects and their earlier values, and returns whether any moved. */
export function effectBars(place) {
  const scale = el("div", { class: "effect-scale", "aria-hidden": "true" }, ["0", "25", "50", "75"].map((words) => el("span", {}, words)), el("span", {}, "100", el("span", { class: "unit" }, " points")));
  let rows = [];
  return {
    update(effects, before) {
      if (rows.length !== effects.length) {
        rows = effects.map(row);
        show(place, rows, scale);
      }
      return effects.map((effect, i) => fill(rows[i], effect, before.get(effect.name))).some(Boolean);
    },
  };
}

function row() {
  return el("div", { class: "effect", role: "listitem" },
    el("div", { class: "effect-name" }, el("b"), el("span", { class: "small muted" })),
    el("div", { class: "effect-value" }, el("b", { class: "number" }), el("span", { class: "small muted" })),
    el("div", { class: "effect-track" }, ["effect-bar", "effect-whisker", "effect-was"].map((part) => el("i", { class: part, "aria-hidden": "true" }))));
}

/** Returns whether the bar has moved. */
function fill(element, effect, was) {
  show($(".effect-name b", element), own(named(effect.name)));
  show($(".effect-name span", element), separated(effect.between));
  $(".effect-value b", element).textContent = limit(effect.value);
  $(".effect-value span", element).textContent = effect.lower === null ? "" : ends(effect);
  const value = within(effect.value);
  const lower = within(effect.lower ?? value);
  const moved = was !== undefined && Math.abs(was - effect.value) >= MOVED;
  const track = $(".effect-track", element);
  const numbers = { value, lower, upper: Math.max(within(effect.upper ?? 1), lower), was: within(was ?? value) };
  for (const [name, number] of Object.entries(numbers)) track.style.setProperty(`--${name}`, String(number));
  $(".effect-was", track).hidden = !moved;
  track.title = moved ? `When you first opened this page: ${limit(was)}` : "";
  return moved;
}

const limit = (value) => (value >= 1 ? "no limit" : `up to ${pointsOf(value)}`);
const short = (value) => pointsOf(value).replace(/ points?$/, "");
const ends = ({ lower, upper }) => (lower < NEARLY_ZERO && (upper === null || upper >= 1) ? "not well known yet: anything from 0 to no limit" : `between ${short(lower)} and ${pointsOf(upper)}`);

/** The effects when somebody first looked at a desk in this tab, kept for a day so that they see what answers changed. */
export class Baseline {
  constructor(name) {
    this.place = `evenhand-baseline:${name}`;
    this.first = null;
  }

  /** {at, values: a Map by feature} to compare these effects with: the first ones, or from now on these. */
  of(effects, state) {
    this.first ??= recallValue(this.place, "sessionStorage");
    if (!this.#fits(effects, state)) this.reset(effects, state);
    return { at: this.first.at, values: new Map(Object.entries(this.first.values)) };
  }

  reset(effects, state) {
    this.first = { at: Date.now(), state, values: Object.fromEntries(effects.map(({ name, value }) => [name, value])) };
    keepValue(this.place, this.first, "sessionStorage");
  }

  /** Whether the first values have these features, are not of a later state (of another desk, then), and not too old. */
  #fits(effects, state) {
    if (!this.first || Date.now() - this.first.at > DAY || this.first.state > state) return false;
    return effects.length === Object.keys(this.first.values).length && effects.every(({ name }) => Object.hasOwn(this.first.values, name));
  }
}
