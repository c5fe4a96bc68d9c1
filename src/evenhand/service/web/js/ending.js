// The end of a session: the goal is reached, or nothing is left to review.

import { $, el, show } from "./dom.js";
import { count, percent } from "./format.js";
import { keep, recall } from "./storage.js";

const placeOf = (name) => `evenhand-went-on:${name}`;
const moment = ({ today }) => `${new Date().toISOString().slice(0, 10)} ${today}`;

/** Whether the goal is reached and the reviewer has not chosen to continue. */
export const isDone = (name, progress) => progress.pause && recall(placeOf(name)) !== moment(progress);

export const continueFrom = (name, progress) => keep(placeOf(name), moment(progress));

export function showEnding(place, desk, { item, progress }, { resume, lookAgain }) {
  const over = item === null;
  const { goal, session, day, consistency } = progress;
  const more = over
    ? "New pairs come with new decisions. This page checks for them while it is open."
    : "Time for a break: tired reviewers judge less reliably. Everything is recorded.";
  put(place,
    el("h2", { id: "ending-title", tabindex: "-1" }, over ? "Nothing to review now" : `Session of ${count(goal, "pair")} complete`),
    el("p", { id: "ending-words" }, [summary(over ? day : session, over ? "today" : "in this session"), more].filter(Boolean).join(" ")),
    consistencyNote(consistency),
    // The primary button is what the page advises.
    el("p", { class: "row" },
      el("a", { class: "button primary", id: "onward", href: `/desks/${encodeURIComponent(desk)}` }, over ? "View the desk" : "Stop and view the desk"),
      el("a", { class: "button", href: "/desks" }, "All desks"),
      over ? button("look-again", "Check again", lookAgain) : button("go-on", "Start another session", resume)));
}

/** After nothing was left to review: new pairs are waiting. */
export function showNewPairs(place, resume) {
  put(place,
    el("h2", { id: "ending-title", tabindex: "-1" }, "New pairs to review"),
    el("p", {}, "New decisions were made, and some of their pairs are waiting for review."),
    el("p", { class: "row" }, button("go-on", "Review them", resume, "primary")));
}

/** Keeps the focus, on the title. */
function put(place, ...content) {
  const focused = place.contains(document.activeElement);
  show(place, ...content);
  if (focused) $("#ending-title", place).focus();
}

const button = (id, words, press, kind = "") => el("button", { class: `button ${kind}`, type: "button", id, onclick: press }, words);

function summary({ answered, passed }, when) {
  if (answered + passed === 0) return "";
  if (answered === 0) return `You passed ${count(passed, "pair")} ${when}.`;
  return `You answered ${count(answered, "pair")}${passed ? ` and passed ${passed.toLocaleString("en")}` : ""} ${when}.`;
}

/** Some pairs were shown twice. The comparison is shown at the end, not while working. */
function consistencyNote(consistency) {
  if (!consistency?.repeats) return null;
  const { same, repeats, share } = consistency;
  return el("p", { class: "muted", id: "consistency" },
    `So far ${count(repeats, "pair was", "pairs were")} shown to you a second time without notice; your answer was the same in ${same} of ${repeats} (${percent(share, 0)}).`);
}
