// The question at length: for newcomers always, where there is little room for others when they ask.

import { $ } from "./dom.js";

const TOLD = "evenhand-told"; // kept once somebody has answered here: the question need not be explained at length again

export function foldIntro() {
  try {
    if (matchMedia("(max-width: 61.99rem)").matches && localStorage.getItem(TOLD)) $("#intro-fold").open = false;
  } catch {
    // It stays open.
  }
}

/** Somebody has answered: they know the question. */
export function introIsKnown() {
  try {
    if (localStorage.getItem(TOLD)) return;
    localStorage.setItem(TOLD, "yes");
    foldIntro();
  } catch {
    // It is explained again.
  }
}
