// The numbers at the top of the dashboard.

import { el, show } from "../dom.js";
import { count, percent } from "../format.js";
import { UNFAIR_PATH } from "./decision-list.js";
import { number } from "./words.js";

const whole = (value) => value.toLocaleString("en");

/** showUnfair: shows the decisions called unfair; null for a visitor who may not see which. */
export function figures(place, showUnfair) {
  const made = Object.fromEntries(["decisions", "flagged", "reward", "reviews", "waiting"].map((name) => [name, figure(name)]));
  const list = el("a", { href: UNFAIR_PATH, onclick: (event) => { if (isPlain(event)) { event.preventDefault(); showUnfair(); } } });
  place.setAttribute("role", "list");
  show(place, Object.values(made).map((one) => one.element));
  return {
    update({ decisions, rounds, kinds, taught, waiting, behind }) {
      const { flagged, reward } = rounds;
      made.decisions.set("Decisions", whole(decisions), behind ? `${count(behind, "event")} still to process` : decisions ? "all processed" : "");
      made.flagged.set("Called unfair", showUnfair && flagged.total ? linked(list, flagged.total) : whole(flagged.total), decisions ? flaggedNote(flagged, rounds.decisions) : "");
      made.reward.set("Mean reward", reward.mean === null ? "–" : number(reward.mean), `of ${count(reward.outcomes, "outcome")}`);
      made.reviews.set("Answers used", whole(taught), `of ${whole((kinds.review ?? 0) + (kinds.answer ?? 0))} recorded; ${whole(kinds.withdrawal ?? 0)} withdrawn`);
      made.waiting.set("To review", whole(waiting), waitingNote(waiting));
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

function figure(name) {
  const label = el("span", { class: "muted small" });
  const value = el("b", { class: "number", id: `figure-${name}` });
  const note = el("span", { class: "muted small" });
  return {
    element: el("div", { class: "figure", role: "listitem" }, label, " ", value, " ", note),
    set(words, number_, more) { label.textContent = words; if (value.firstChild !== number_) show(value, number_); note.textContent = more; },
  };
}
