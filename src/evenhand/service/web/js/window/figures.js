// The numbers at the top of the window.

import { el, show } from "../dom.js";
import { count, percent } from "../format.js";
import { number } from "./words.js";

const MANY = 50; // nobody has to answer on all pairs that wait, and their number only ever grows

const whole = (value) => value.toLocaleString("en");

export function figures(place) {
  const made = Object.fromEntries(["decisions", "flagged", "reward", "reviews", "waiting"].map((name) => [name, figure(name)]));
  place.setAttribute("role", "list");
  show(place, Object.values(made).map((one) => one.element));
  return {
    update({ decisions, rounds, kinds, taught, waiting, behind }) {
      const { flagged, reward } = rounds;
      made.decisions.set("Decisions", whole(decisions), behind ? `${count(behind, "line")} still to be learned from` : decisions ? "all learned from" : "");
      made.flagged.set("Called unfair", whole(flagged.total), decisions ? flaggedNote(flagged, rounds.decisions) : "");
      made.reward.set("Mean reward", reward.mean === null ? "–" : number(reward.mean), `of ${count(reward.outcomes, "outcome")}`);
      made.reviews.set("Answers learned from", whole(taught), `of ${whole((kinds.review ?? 0) + (kinds.answer ?? 0))} recorded; ${whole(kinds.withdrawal ?? 0)} taken back`);
      made.waiting.set("To review", waiting > MANY ? `over ${MANY}` : whole(waiting), waitingNote(waiting));
    },
  };
}

function flaggedNote({ total, target }, decisions) {
  const share = decisions ? percent(total / decisions) : "0%";
  return target === null ? `${share} of decisions` : `${share}; the target is ${percent(target)}`;
}

const waitingNote = (waiting) => (waiting ? `${waiting === 1 ? "pair waits" : "pairs wait"} for a reviewer${waiting > 1 ? "; the most telling come first" : ""}` : "no pair waits");

function figure(name) {
  const label = el("span", { class: "muted small" });
  const value = el("b", { class: "number", id: `figure-${name}` });
  const note = el("span", { class: "muted small" });
  return {
    element: el("div", { class: "figure", role: "listitem" }, label, " ", value, " ", note),
    set(words, number_, more) { label.textContent = words; value.textContent = number_; note.textContent = more; },
  };
}
