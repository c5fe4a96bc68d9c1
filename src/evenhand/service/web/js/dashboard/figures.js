// The numbers at the top of the dashboard.

import { el, show } from "../dom.js";
import { count, percent } from "../format.js";
import { term } from "../glossary.js";
import { UNFAIR_PATH } from "./decision-list.js";
import { number } from "./words.js";

const NAMES = {
  "flags-left": () => term("flags left"), decisions: () => "Decisions", flagged: () => term("called unfair"), reward: () => term("reward", "Mean reward"),
  reviews: () => term("answers used"), waiting: () => term("to review"),
};

const whole = (value) => value.toLocaleString("en");

/** showUnfair: shows the decisions called unfair; null for a visitor who may not see that any were. */
export function figures(place, showUnfair) {
  const made = Object.fromEntries(Object.entries(NAMES).map(([name, label]) => [name, figure(name, label())]));
  const list = el("a", { href: UNFAIR_PATH, onclick: (event) => { if (isPlain(event)) { event.preventDefault(); showUnfair(); } } });
  place.setAttribute("role", "list");
  show(place, Object.entries(made).map(([name, one]) => (name === "flagged" && !showUnfair ? null : one.element)));
  return {
    update({ decisions, rounds, kinds, taught, waiting, behind, flags_left: left = null }) {
      const { flagged, reward } = rounds;
      const isProved = left !== null; // the headline; without a proof it is how many came
      made["flags-left"].set(isProved ? whole(left) : "no proof", isProved ? "at most, proved" : "not for this many features, or these answers");
      made["flags-left"].element.classList.toggle("headline", isProved);
      made.flagged.element.classList.toggle("headline", !isProved);
      made.decisions.set(whole(decisions), behind ? `${count(behind, "event")} still to process` : decisions ? "all processed" : "");
      if (showUnfair) made.flagged.set(flagged.total ? linked(list, flagged.total) : whole(0), decisions ? flaggedNote(flagged, rounds.decisions) : "");
      made.reward.set(reward.mean === null ? "–" : number(reward.mean), `of ${count(reward.outcomes, "outcome")}`);
      made.reviews.set(whole(taught), `of ${whole((kinds.review ?? 0) + (kinds.answer ?? 0))} recorded; ${whole(kinds.withdrawal ?? 0)} withdrawn`);
      made.waiting.set(whole(waiting), waitingNote(waiting));
    },
  };
}

function flaggedNote({ total, target }, decisions) {
  const share = decisions ? percent(total / decisions) : "0%";
  return target === null ? `${share} of decisions` : `${share}; target ${percent(target)}`;
}

/** Some pairs need two answers: answers are counted, as on the review page. */
const waitingNote = (waiting) => (waiting ? `${waiting === 1 ? "answer" : "answers"} wanted from reviewers` : "nothing waiting");

const isPlain = ({ button, ctrlKey, metaKey, shiftKey }) => button === 0 && !ctrlKey && !metaKey && !shiftKey;

/** The same link with another number, so that it keeps the focus. */
function linked(link, total) {
  link.textContent = whole(total);
  link.setAttribute("aria-label", `${whole(total)} called unfair: show them`);
  return link;
}

function figure(name, words) {
  const label = el("span", { class: "muted small" }, words);
  const value = el("b", { class: "number", id: `figure-${name}` });
  const note = el("span", { class: "muted small" });
  return {
    element: el("div", { class: `figure ${name}`, role: "listitem" }, label, " ", value, " ", note),
    set(number_, more) { if (value.firstChild !== number_) show(value, number_); note.textContent = more; },
  };
}
