// Bars that fill a share of their track. The value is written beside them, so screen readers skip them.

import { el, show } from "./dom.js";
import { count } from "./format.js";

const within = (share) => String(Math.min(1, Math.max(0, share)));

export function bar(kind, share, from = 0) {
  const track = el("div", { class: `bar ${kind}`, "aria-hidden": "true" }, el("i"));
  setBar(track, share, from);
  return track;
}

export function setBar(track, share, from = 0) {
  // Through the style object: the content security policy forbids style attributes.
  track.style.setProperty("--share", within(share));
  track.style.setProperty("--from", within(from));
}

/** A labelled meter; set(share, words) and name(label) change it. */
export function meter(id, label = "") {
  const name = el("span", {}, label);
  const value = el("b", { class: "number", id: `${id}-value` });
  const track = bar("", 0);
  return {
    element: el("div", { class: "meter", id }, el("div", { class: "meter-line" }, name, value), track),
    set: (share, words) => { value.textContent = words; setBar(track, share); },
    name: (words) => { name.textContent = words; },
  };
}

/** The progress of a session: pairs done of the goal, and how many answers are wanted. */
export function progressMeter(place) {
  const done = meter("answered");
  const waiting = el("p", { class: "small muted", id: "waiting" });
  let last = null;
  done.element.title = "Pairs you answered or passed. The day starts at midnight UTC.";
  show(place, done.element, waiting);
  const fill = ({ today, goal }) => {
    const session = Math.max(1, Math.ceil(today / goal));
    const number = today - (session - 1) * goal;
    done.name(`Session ${session}:`);
    done.set(number / goal, `${number} of ${goal}${session > 1 ? ` · ${today} today` : ""}`);
  };
  const setWaiting = (number, where) => { // some pairs need two answers
    waiting.textContent = number === 0 ? "No other answers wanted." : `${count(number, "answer")} wanted ${where}.`;
  };
  return {
    set(progress, over = false) {
      last = progress;
      fill(progress);
      setWaiting(progress.waiting, over ? "from other reviewers" : "on this desk");
    },
    setWaiting: (number) => setWaiting(number, "on this desk"),
    /** Adds answers that the service does not have yet to its latest progress. */
    addUnsent(unsent, progress = last) {
      last = progress;
      if (last) fill({ ...last, today: last.today + unsent });
    },
  };
}
