// The interview's meters: how much is still unknown, and how many unfair pairs are to be expected; and what they mean.

import { meter } from "./bars.js";
import { $, show } from "./dom.js";
import { percent, points } from "./format.js";

const NARROW = "(max-width: 61.99rem)";
const EXPECTED = "Unfair pairs to expect in all decisions to come";

/** Meters in this place; set(told, alone) shows them: not where nothing is told, nor where decisions have no pairs. */
export function interviewMeters(place, meaning) {
  const unknown = meter("unknown", "Still unknown");
  const expected = meter("expected", EXPECTED);
  show(place, unknown.element, expected.element);
  meaning.open = !matchMedia(NARROW).matches;
  return {
    set(told, alone) {
      place.hidden = meaning.hidden = told === null || alone;
      if (told === null) return;
      // The full length is what was to be expected when nothing was known: the same whoever opens the page, and when.
      const most = Math.max(told.expected_first, told.expected_unfair_pairs, 1e-9);
      unknown.set(told.unknown, percent(told.unknown, 0));
      expected.set(told.expected_unfair_pairs / most, `${told.expected_unfair_pairs.toFixed(1)} of ${most.toFixed(1)}`);
      show($("p", meaning), inWords(told, most.toFixed(1)));
    },
  };
}

function inWords(told, most) {
  return `“Still unknown” is the share of all there is to know about who is alike. “To expect” counts the pairs that would be unfair by more than ${points(told.epsilon)} in all decisions to come, `
    + `however many, if the interview ended now: reviews teach the desk the rest meanwhile, so there is an end to them. The full bar, ${most}, is what was to be expected when nothing was known. `
    + `Below ${told.enough} the interview stops by itself.`;
}
