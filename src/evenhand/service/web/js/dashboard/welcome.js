// For first-time visitors: what a desk is, and what to do. Hidden once dismissed.

import { el, show } from "../dom.js";
import { keep, recall } from "../storage.js";

const PLACE = "evenhand-welcomed";

/** begin: {path, words} of the first step, or null for somebody who may not review. */
export function welcome(place, begin) {
  if (recall(PLACE)) return;
  const away = () => { show(place); keep(PLACE, "yes"); document.querySelector("#title").focus(); };
  show(place, el("div", { class: "banner plain welcome", id: "welcome-words" },
    el("p", {}, "A desk decides by lot which candidates are chosen, for a loan for example, and learns from reviewers who is alike",
      begin && "; try it: ", begin && el("a", { href: begin.path }, begin.words), "."),
    el("button", { class: "button quiet small", type: "button", onclick: away }, "Got it")));
}
