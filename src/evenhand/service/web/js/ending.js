// The natural end of a session: the goal is reached, or nothing waits. It stays until somebody wishes to go on.

import { $, el, show } from "./dom.js";
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

export function showEnding(place, desk, told, { goOn, lookAgain }) {
  const over = told.item === null;
  const { goal, session, day, consistency } = told.progress;
  const title = over ? "Nothing waits for you now" : `A session of ${count(goal, "pair")} is done`;
  const more = over
    ? "New pairs come with new decisions. This page looks for them while it is open, and says so."
    : "Judgement tires: this is a good moment to stop. Everything is recorded.";
  put(place,
    el("h2", { id: "ending-title", tabindex: "-1" }, title),
    el("p", { id: "ending-words" }, [done(over ? day : session, over ? "today" : "in this session"), more].filter(Boolean).join(" ")),
    steadiness(consistency),
    // The way out is the main one: it is what the page has just advised.
    el("p", { class: "row" },
      el("a", { class: "button primary", id: "onward", href: `/desks/${encodeURIComponent(desk)}` }, over ? "Look at the desk" : "Stop and look at the desk"),
      el("a", { class: "button", href: "/desks" }, "All desks"),
      over ? button("look-again", "Look again", lookAgain) : button("go-on", "Go on with another session", goOn)));
}

/** At the end of what waits: something has come. */
export function showNews(place, goOn) {
  put(place,
    el("h2", { id: "ending-title", tabindex: "-1" }, "New pairs wait"),
    el("p", {}, "Decisions were made meanwhile, and some of their pairs wait for a judgement."),
    el("p", { class: "row" }, button("go-on", "Review them", goOn, "primary")));
}

/** Whoever stood on something here stands on the title then. */
function put(place, ...content) {
  const focused = place.contains(document.activeElement);
  show(place, ...content);
  if (focused) $("#ending-title", place).focus();
}

const button = (id, words, press, kind = "") => el("button", { class: `button ${kind}`, type: "button", id, onclick: press }, words);

/** What was done with so many pairs, told in words; nothing of nothing. */
function done({ answered, passed }, when) {
  if (answered + passed === 0) return "";
  if (answered === 0) return `You passed on ${count(passed, "pair")} ${when}.`;
  return `You answered ${count(answered, "pair")}${passed ? ` and passed on ${passed.toLocaleString("en")}` : ""} ${when}.`;
}

/** Some pairs came twice without notice. How often the two answers were the same is told here, not while working. */
function steadiness(consistency) {
  if (!consistency || consistency.repeats === 0) return null;
  const { same, repeats, share } = consistency;
  return el("p", { class: "muted", id: "consistency" },
    `So far ${count(repeats, "pair")} came to you a second time without notice; your answer was the same in ${same} of ${repeats} (${percent(share, 0)}).`);
}
