// Help on the review page.

import { el } from "./dom.js";
import { helpDialog } from "./help.js";

const MEANINGS = [
  ["Unfair", "People this similar should not have odds this different."],
  ["Acceptable", "The difference between the two justifies the difference in their odds, or more."],
  ["Unsure", "You looked, and cannot tell. This is an answer; nothing is learned from it."],
  ["Skip", "Not now, not by you: somebody else is asked."],
  ["Conflict of interest", "You know one of them, or have a stake. Somebody else is asked."],
];

export function reviewHelp() {
  const meanings = el("ul", { class: "stack" }, MEANINGS.map(([name, text]) => el("li", {}, el("b", {}, name), `: ${text}`)));
  return helpDialog("How to review", [
    { heading: "The question", parts: [
      el("p", {}, "Two candidates of one decision are shown with what is known of them and the odds each had of being chosen. You are asked whether the gap between their odds is too wide for two people who differ as these two do. Who was chosen in the end does not matter."),
      el("p", {}, "Who stands on the left is drawn by lot. What the desk has learned, and what others answered, is not shown. Some pairs are asked twice or of two people, to see how steady judgements are."),
    ] },
    { heading: "The answers", parts: [meanings] },
  ], [
    [["u"], "unfair"], [["a"], "acceptable"], [["n", "?"], "unsure"], [["s"], "skip"], [["c"], "conflict of interest"],
    [["Backspace", "z"], "take the last answer back"], [["h", "F1"], "this help"],
  ]);
}
