// The numbers at the top of the window.

import { el, show } from "../dom.js";
import { count, percent } from "../format.js";
import { number } from "./words.js";

const whole = (value) => value.toLocaleString("en");

export function figures(place) {
  const made = Object.fromEntries(["decisions", "flagged", "reward", "reviews", "waiting"].map((name) => [name, figure(name)]));
  place.setAttribute("role", "list");
  show(place, Object.values(made).map((one) => one.element));
  return {
    update({ decisions, rounds, kinds, taught, waiting, behind }) {
      const { flagged, reward } = rounds;
      made.decisions.set("Decisions", whole(decisions), behind ? `${count(behind, "line")} still to be learned from` : "all learned from");
      made.flagged.set("Called unfair", whole(flagged.total), flaggedNote(flagged, rounds.decisions));
      made.reward.set("Mean reward", reward.mean === null ? "–" : number(reward.mean), `of ${count(reward.outcomes, "outcome")}`);
      made.reviews.set("Answers learned from", whole(taught), `of ${whole((kinds.review ?? 0) + (kinds.answer ?? 0))} recorded; ${whole(kinds.withdrawal ?? 0)} taken back`);
      made.waiting.set("Answers wanted", whole(waiting), waiting ? "from reviewers" : "nothing to review");
    },
  };
}

function flaggedNote({ total, target }, decisions) {
  const share = decisions ? percent(total / decisions) : "0%";
  return target === null ? `${share} of decisions` : `${share}; the target is ${percent(target)}`;
}

function figure(name) {
  const label = el("span", { class: "muted small" });
  const value = el("b", { class: "number", id: `figure-${name}` });
  const note = el("span", { class: "muted small" });
  return {
    element: el("div", { class: "figure", role: "listitem" }, label, " ", value, " ", note),
    set(words, number_, more) { label.textContent = words; value.textContent = number_; note.textContent = more; },
  };
}
