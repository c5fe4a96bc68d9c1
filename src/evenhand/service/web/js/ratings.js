// Ratings of the two people: a row of buttons for each. Digits rate the left person first, then the right one.

import { el, show } from "./dom.js";

const SIDES = ["left", "right"];

/** The digit that gives a rating: the last one of the number, so that 10 has a key, too. */
const keyOf = (value) => String(value).at(-1);

export class RatingsInput {
  /** done([left, right]) is called once both are rated; changed(words) with what to announce before. */
  constructor(place, done, changed) {
    this.place = place;
    this.done = done;
    this.changed = changed;
    this.reset([1, 5]);
  }

  /** Starts again, for a new pair. */
  reset([low, high]) {
    this.values = Array.from({ length: high - low + 1 }, (_, i) => low + i);
    this.given = [null, null];
    this.draw();
  }

  get isHalfGiven() {
    return this.given.some((one) => one !== null);
  }

  /** The side that a digit rates now. */
  get next() {
    return this.given.indexOf(null);
  }

  /** A digit was pressed; returns whether it is a rating. */
  press(key) {
    const value = this.values.find((one) => keyOf(one) === key);
    if (value !== undefined && this.next >= 0) this.rate(this.next, value);
    return value !== undefined;
  }

  rate(side, value) {
    this.given[side] = value;
    this.draw();
    if (this.next < 0) this.done([...this.given]);
    else this.changed(`Rated ${value}. Now the person on the ${SIDES[this.next]}.`);
  }

  /** Redraws all buttons; a focused one keeps the focus. */
  draw() {
    const focused = document.activeElement?.id;
    const low = this.values[0];
    const high = this.values.at(-1);
    show(this.place, el("div", { class: "ratings" }, SIDES.map((side, i) => this.row(side, i)),
      el("div", { class: "scale", "aria-hidden": "true" }, el("span", {}, `${low} weakest`), el("span", {}, `strongest ${high}`))));
    if (focused?.startsWith("rate-")) document.getElementById(focused)?.focus();
  }

  row(side, i) {
    const [low, high] = [this.values[0], this.values.at(-1)];
    const label = `Person on the ${side}`;
    return el("div", { class: `rating ${side}${this.next === i ? " next" : ""}`, role: "group", "aria-label": `${label}, from ${low}, weakest, to ${high}, strongest` },
      el("span", { class: "rated", "aria-hidden": "true" }, label),
      el("div", { class: "marks" }, this.values.map((value) => el("button", {
        class: "button mark", type: "button", id: `rate-${side}-${value}`, "aria-pressed": String(this.given[i] === value), "aria-keyshortcuts": keyOf(value),
        "aria-label": `${label}: ${value}`,
        onclick: (event) => { if (event.detail <= 1 || this.given[i] !== value) this.rate(i, value); },
      }, String(value)))));
  }
}
