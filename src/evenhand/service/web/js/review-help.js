// Help on the review page.

import { el } from "./dom.js";
import { helpDialog } from "./help.js";

const MEANINGS = [
  ["Unfair", "The two are so alike that a gap this wide is unfair to one of them."],
  ["Acceptable", "The two are different enough for a gap this wide, or for a wider one."],
  ["Unsure", "You looked, and cannot tell. This is an answer; nothing is learned from it."],
  ["Skip", "Not now, not by you: somebody else is asked."],
  ["Conflict of interest", "You know one of them, or have a stake. Somebody else is asked."],
];

export function reviewHelp() {
  const meanings = el("ul", { class: "stack" }, MEANINGS.map(([name, text]) => el("li", {}, el("b", {}, name), `: ${text}`)));
  return helpDialog("How to review", [
    { heading: "The question", parts: [
      el("p", {}, "Two candidates of one decision are shown with the attributes this desk shows to reviewers, and with the odds each had (odds: the chance of being chosen, in per cent). You are asked about the gap between their odds alone: whether it is too wide for two people who are as alike as these two. It does not matter which of them has the better odds, nor who deserves them, nor who was chosen in the end: the answer would be the same if their odds were swapped."),
      el("p", {}, "Who stands on the left is drawn by lot. What the desk has learned, and what others answered, is not shown. Some pairs are asked twice or of two people, to see how steady judgements are."),
    ] },
    { heading: "The answers", parts: [
      meanings,
      el("p", {}, "The bar above counts every pair of a session, also those you passed on. “Today” begins at midnight UTC, the same for all reviewers. Your last answers of today can be taken back, also after the page was closed."),
    ] },
  ], [
    [["u"], "unfair"], [["a"], "acceptable"], [["n", "?"], "unsure"], [["s"], "skip"], [["c"], "conflict of interest"],
    [["Backspace", "z"], "take the last answer back"], [["h", "F1"], "this help"],
  ]);
}
