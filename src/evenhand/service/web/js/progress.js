// How far a session has come: answered of the goal, and how many pairs wait.

import { meter } from "./bars.js";
import { el, show } from "./dom.js";
import { count } from "./format.js";

export function progressBar(place) {
  const bar = meter("answered", "Answered today");
  const waiting = el("p", { class: "small muted", id: "waiting" });
  show(place, bar.element, waiting);
  return {
    set({ today, goal, waiting: left }, over = false) {
      const done = today % goal === 0 && today > 0 ? goal : today % goal;
      const session = Math.max(1, Math.ceil(today / goal));
      bar.set(done / goal, session === 1 ? `${done} of ${goal}` : `${today}, ${done} of ${goal} in session ${session}`);
      const where = over ? "for other reviewers" : "on this desk";
      waiting.textContent = left === 0 ? "No other pair waits." : `${count(left, "pair")} wait${left === 1 ? "s" : ""} ${where}.`;
    },
  };
}
