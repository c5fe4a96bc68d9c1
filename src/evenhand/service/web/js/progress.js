// How far a session has come: pairs done of the goal, and how many answers are wanted.

import { meter } from "./bars.js";
import { el, show } from "./dom.js";
import { count } from "./format.js";

const MEANT = "Pairs you have answered or passed on. Today began at midnight UTC.";

export function progressBar(place) {
  const bar = meter("answered");
  const waiting = el("p", { class: "small muted", id: "waiting" });
  let last = null;
  bar.element.title = MEANT;
  show(place, bar.element, waiting);
  const fill = ({ today, goal }) => {
    const session = Math.max(1, Math.ceil(today / goal));
    const done = today - (session - 1) * goal;
    bar.name(`Session ${session}:`);
    bar.set(done / goal, `${done} of ${goal}${session > 1 ? ` · ${today} today` : ""}`);
  };
  const wants = (number, where) => { // of some pairs two people are asked
    waiting.textContent = number === 0 ? "Nothing else waits." : `${count(number, "answer is", "answers are")} wanted ${where}.`;
  };
  return {
    set(told, over = false) {
      last = told;
      fill(told);
      wants(told.waiting, over ? "from other reviewers" : "on this desk");
    },
    /** So many answers are wanted now. */
    wants: (number) => wants(number, "on this desk"),
    /** So many were answered that the service does not know yet, beyond what it told now or before. */
    count(unsent, told = last) {
      last = told;
      if (last) fill({ ...last, today: last.today + unsent });
    },
  };
}
