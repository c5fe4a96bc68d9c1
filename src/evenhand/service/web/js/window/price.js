// What fairness cost a decision: the odds as played against the odds if fairness did not count.

import { el } from "../dom.js";
import { number } from "./words.js";

const SURE = 1 - 1e-6;
const NOTHING = 0.0005; // a smaller price is written as none
const LITTLE = 0.1; // of rewards below it more than three digits are shown
const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

export function price({ candidates, price: told }) {
  const worth = (odds) => candidates.reduce((sum, one) => sum + one.optimistic_reward * odds(one), 0);
  const { played, without, cost, digits } = sums(worth((one) => one.probability), worth((one) => told.probabilities_without[one.id]));
  const figure = (words, value, note) => el("div", { class: "figure" }, el("span", { class: "muted small" }, words), el("b", { class: "number" }, number(value, digits)), el("span", { class: "muted small" }, note));
  return el("div", { class: "card stack" },
    el("div", { class: "price" },
      figure("Reward hoped for, as played", played, "by the optimistic estimates that the odds were chosen for"),
      figure("If fairness did not count", without, whoWithout(Object.values(told.probabilities_without))),
      figure("What fairness cost", cost, `by the best estimates: ${told.expected_reward < NOTHING ? "nothing" : number(told.expected_reward, 3)}`)),
    el("p", {}, verdict(candidates, told)));
}

/** Two rewards as they are shown, and what is left when one subtracts them as they are shown; digits after the point: three,
 * and more where all is small. */
export function sums(played, without) {
  const size = Math.max(Math.abs(played), Math.abs(without));
  const digits = size > 1e-9 && size < LITTLE ? Math.min(9, 2 - Math.floor(Math.log10(size))) : 3;
  const shown = (value) => Number(value.toFixed(digits));
  return { played: shown(played), without: shown(without), cost: shown(shown(without) - shown(played)), digits };
}

/** Who would be chosen if fairness did not count, from the odds they would have. */
export function whoWithout(odds) {
  const sure = odds.filter((one) => one >= SURE).length;
  const shared = odds.some((one) => one > 1 - SURE && one < SURE);
  if (shared) return sure ? `${people(sure)} for certain, and a lot among equals` : "a lot among the most promising candidates";
  if (!sure) return "nobody: no good was hoped for from anybody";
  if (sure === odds.length) return sure === 1 ? "the only candidate, for certain" : sure === 2 ? "both candidates, for certain" : `all ${NUMBERS[sure] ?? sure} candidates, for certain`;
  return `${people(sure)}, for certain`;
}

const people = (n) => (n === 1 ? "the most promising candidate" : `the ${NUMBERS[n] ?? n} most promising candidates`);

function verdict(candidates, { expected_reward: cost, probabilities_without: without }) {
  if (candidates.every((one) => Math.abs(one.probability - without[one.id]) < 1e-6)) return "Fairness cost nothing here: the odds would have been the same without it.";
  if (cost >= NOTHING) return "That much was given up so that people who are alike had odds that are alike.";
  return "By the best estimates fairness cost nothing here: without it, the odds would have gone to people from whom more was hoped for, but of whom no more was expected.";
}
