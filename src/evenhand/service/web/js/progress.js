// How far a session has come: answered of the goal, and how many answers are wanted.

import { meter } from "./bars.js";
import { el, show } from "./dom.js";
import { count } from "./format.js";

export function progressBar(place) {
  const bar = meter("answered", "Answered today");
  const waiting = el("p", { class: "small muted", id: "waiting" });
  let last = null;
  show(place, bar.element, waiting);
  const fill = ({ today, goal }) => {
    const done = today % goal === 0 && today > 0 ? goal : today % goal;
    const session = Math.max(1, Math.ceil(today / goal));
    bar.set(done / goal, session === 1 ? `${done} of ${goal}` : `${today}, ${done} of ${goal} in session ${session}`);
  };
  return {
    set(told, over = false) {
      last = told;
      fill(told);
      const where = over ? "from other reviewers" : "on this desk"; // of some pairs two people are asked
      waiting.textContent = told.waiting === 0 ? "Nothing else waits." : `${count(told.waiting, "answer is", "answers are")} wanted ${where}.`;
    },
    /** One more was answered, which the service does not know yet. */
    another() {
      last = { ...last, today: last.today + 1 };
      fill(last);
    },
  };
}
