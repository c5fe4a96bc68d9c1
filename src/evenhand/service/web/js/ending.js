// The natural end of a session: the goal is reached, or nothing waits.

import { el, show } from "./dom.js";
import { count, percent } from "./format.js";

export function showEnding(place, told, goOn) {
  const { today, goal, consistency } = told.progress;
  const over = told.item === null;
  const title = over ? "Nothing waits for you now" : `A session of ${goal} pairs is done`;
  const thanks = over
    ? `You have answered ${count(today, "pair")} today. New pairs come with new decisions; look in again later.`
    : `You have answered ${count(today, "pair")} today. Judgement tires: this is a good moment to stop. Everything is recorded.`;
  show(place,
    el("h2", { id: "ending-title", tabindex: "-1" }, title),
    el("p", {}, thanks),
    steadiness(consistency),
    over
      ? el("button", { class: "button", type: "button", id: "look-again", onclick: () => location.reload() }, "Look again")
      : el("button", { class: "button", type: "button", id: "go-on", onclick: goOn }, "Go on with another session"));
}

/** Some pairs came twice without notice. How often the two answers were the same is told here, not while working. */
function steadiness(consistency) {
  if (!consistency || consistency.repeats === 0) return null;
  const { same, repeats, share } = consistency;
  return el("p", { class: "muted", id: "consistency" },
    `So far ${count(repeats, "pair")} came to you a second time without notice; ${same} of ${repeats} times (${percent(share, 0)}) you answered as before.`);
}
