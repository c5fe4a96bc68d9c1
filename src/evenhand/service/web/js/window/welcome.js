// For somebody who is here for the first time: what a desk is, and what to do. It stays away once it was put away.

import { el, show } from "../dom.js";

const PLACE = "evenhand-welcomed";

/** begin: {path, words} of what to do first, or null for somebody who may not. */
export function welcome(place, begin) {
  if (isKnown()) return;
  const away = () => { show(place); remember(); document.querySelector("#title").focus(); };
  show(place, el("div", { class: "banner plain welcome", id: "welcome-words" },
    el("p", {}, "A desk decides who of the people before it gets something, a loan for example. Reviewers call pairs of people unfair; from that it learns who counts as alike. ",
      begin && "Play the reviewer: ", begin && el("a", { href: begin.path }, begin.words), begin && "."),
    el("button", { class: "button quiet small", type: "button", onclick: away }, "Got it")));
}

function isKnown() {
  try {
    return localStorage.getItem(PLACE) !== null;
  } catch {
    return false;
  }
}

function remember() {
  try {
    localStorage.setItem(PLACE, "yes");
  } catch {
    // Then it is told again next time.
  }
}
