// The natural end of a session: the goal is reached, or nothing waits. It stays until somebody wishes to go on.

import { el, show } from "./dom.js";
import { count, percent } from "./format.js";

const placeOf = (name) => `evenhand-went-on:${name}`;
const moment = ({ today }) => `${new Date().toISOString().slice(0, 10)} ${today}`;

/** Whether the goal is reached and nobody has chosen to go on from there, in this browser. */
export function isDone(name, progress) {
  try {
    return progress.pause && localStorage.getItem(placeOf(name)) !== moment(progress);
  } catch {
    return progress.pause && wentOn !== moment(progress);
  }
}

let wentOn = ""; // where storage is switched off

export function goneOn(name, progress) {
  wentOn = moment(progress);
  try {
    localStorage.setItem(placeOf(name), wentOn);
  } catch {
    // It holds until the page is left.
  }
}

export function showEnding(place, desk, told, goOn) {
  const { today, goal, consistency } = told.progress;
  const over = told.item === null;
  const title = over ? "Nothing waits for you now" : `A session of ${count(goal, "pair")} is done`;
  const thanks = over
    ? `You have answered ${count(today, "pair")} today. New pairs come with new decisions; look in again later.`
    : `You have answered ${count(today, "pair")} today. Judgement tires: this is a good moment to stop. Everything is recorded.`;
  show(place,
    el("h2", { id: "ending-title", tabindex: "-1" }, title),
    el("p", {}, thanks),
    steadiness(consistency),
    el("p", { class: "row" },
      over
        ? el("button", { class: "button", type: "button", id: "look-again", onclick: () => location.reload() }, "Look again")
        : el("button", { class: "button", type: "button", id: "go-on", onclick: goOn }, "Go on with another session"),
      el("a", { class: "button", id: "onward", href: `/desks/${encodeURIComponent(desk)}` }, "Look at the desk"),
      el("a", { class: "button", href: "/desks" }, "All desks")));
}

/** Some pairs came twice without notice. How often the two answers were the same is told here, not while working. */
function steadiness(consistency) {
  if (!consistency || consistency.repeats === 0) return null;
  const { same, repeats, share } = consistency;
  return el("p", { class: "muted", id: "consistency" },
    `So far ${count(repeats, "pair")} came to you a second time without notice; your answer was the same in ${same} of ${repeats} (${percent(share, 0)}).`);
}
