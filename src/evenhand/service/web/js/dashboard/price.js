// What fairness cost in a decision: the probabilities used against those without fairness.

import { el } from "../dom.js";
import { number } from "./words.js";

const SURE = 1 - 1e-6;
const NOTHING = 0.0005; // a smaller cost is shown as none
const LITTLE = 0.1; // smaller rewards are shown with more than three decimal places
const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

export function price({ candidates, mode, price: { expected_reward: expected, probabilities_without: free } }) {
  const worth = (probability) => candidates.reduce((sum, one) => sum + one.optimistic_reward * probability(one), 0);
  const { played, without, cost, digits } = sums(worth((one) => one.probability), worth((one) => free[one.id]));
  const figure = (words, value, note) => el("div", { class: "figure" }, el("span", { class: "muted small" }, words), el("b", { class: "number" }, number(value, digits)), el("span", { class: "muted small" }, note));
  return el("div", { class: "card stack" },
    el("div", { class: "price" },
      figure("Optimistic reward, as decided", played, `the estimate that ${mode === "shares" ? "shares" : "chances"} are optimised for`),
      figure("Without fairness", without, mode === "shares" ? "shares by reward alone" : whoWithout(Object.values(free))),
      figure("Cost of fairness", cost, `by the best estimates: ${expected < NOTHING ? "nothing" : number(expected, 3)}`)),
    el("p", {}, mode === "shares" ? verdict(candidates, expected, free).replaceAll("chances", "shares") : verdict(candidates, expected, free)));
}

/** Two rewards as displayed, and the difference of the displayed numbers; three decimal places, more for small rewards. */
export function sums(played, without) {
  const size = Math.max(Math.abs(played), Math.abs(without));
  const digits = size > 1e-9 && size < LITTLE ? Math.min(9, 2 - Math.floor(Math.log10(size))) : 3;
  const shown = (value) => Number(value.toFixed(digits));
  return { played: shown(played), without: shown(without), cost: shown(shown(without) - shown(played)), digits };
}

/** Who would be chosen without fairness. */
export function whoWithout(probabilities) {
  const sure = probabilities.filter((one) => one >= SURE).length;
  const shared = probabilities.some((one) => one > 1 - SURE && one < SURE);
  if (shared) return sure ? `${people(sure)} for certain, and a draw among equals` : "a draw among the most promising candidates";
  if (!sure) return "nobody: no candidate was expected to pay off";
  if (sure === probabilities.length) return sure === 1 ? "the only candidate, for certain" : sure === 2 ? "both candidates, for certain" : `all ${NUMBERS[sure] ?? sure} candidates, for certain`;
  return `${people(sure)}, for certain`;
}

const people = (n) => (n === 1 ? "the most promising candidate" : `the ${NUMBERS[n] ?? n} most promising candidates`);

function verdict(candidates, cost, without) {
  if (candidates.every((one) => Math.abs(one.probability - without[one.id]) < 1e-6)) return "Fairness cost nothing here: the chances would have been the same without it.";
  if (cost >= NOTHING) return "This much was given up so that similar people had similar chances.";
  return "By the best estimates fairness cost nothing here: without it, higher chances would have gone to candidates with a higher optimistic estimate, but no higher expected reward.";
}
