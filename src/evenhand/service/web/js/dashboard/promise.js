// The proved number of flags to come, in a sentence; nothing where the metric learner has no theorem.

import { show } from "../dom.js";

export function promiseLine(place) {
  return {
    update({ promise = null }) {
      place.hidden = promise === null;
      show(place, promise ?? "");
    },
  };
}
