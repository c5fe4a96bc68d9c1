// The proved number of flags to come, in a sentence; nothing where the metric learner has no theorem.

import { el, show } from "../dom.js";

const LATE = "Flags on decisions made before an earlier flag was processed come on top.";

export function promiseLine(place) {
  return {
    update({ promise = null, flags_left: left = null }) {
      place.hidden = promise === null;
      if (promise !== null) show(place, el("b", {}, promise), left === null ? null : [" ", el("span", { class: "muted small" }, LATE)]);
    },
  };
}
