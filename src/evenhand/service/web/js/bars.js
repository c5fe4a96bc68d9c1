// Bars: a share of a track. What they show is written beside them, so they are silent for a screen reader.

import { el } from "./dom.js";

export function bar(kind, share, from = 0) {
  const filled = el("i");
  const track = el("div", { class: `bar ${kind}`, "aria-hidden": "true" }, filled);
  setBar(track, share, from);
  return track;
}

export function setBar(track, share, from = 0) {
  // Through the style object: the content security policy forbids style attributes, and rightly.
  track.style.setProperty("--share", String(Math.min(1, Math.max(0, share))));
  track.style.setProperty("--from", String(Math.min(1, Math.max(0, from))));
}

/** A labelled meter with its value in words; set(share, words) and name(label) change it. */
export function meter(id, label = "") {
  const named = el("span", {}, label);
  const value = el("b", { class: "number", id: `${id}-value` });
  const track = bar("", 0);
  const element = el("div", { class: "meter", id }, el("div", { class: "meter-line" }, named, value), track);
  return {
    element,
    set: (share, words) => { value.textContent = words; setBar(track, share); },
    name: (words) => { named.textContent = words; },
  };
}
