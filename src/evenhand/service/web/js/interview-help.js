// Help on the interview page.

import { el } from "./dom.js";
import { helpDialog } from "./help.js";

export function interviewHelp() {
  return helpDialog("How the interview works", [
    { heading: "The question", parts: [
      el("p", {}, "Two people are shown with the attributes this desk shows to reviewers, and with odds that were made up for them, of a lottery between the two (odds: the chance of being chosen, in per cent). You are asked about the gap alone: whether it is too wide for two people who are as alike as these two. It does not matter which of them has the better odds, nor who deserves them: the answer would be the same if their odds were swapped."),
      el("p", {}, "Your answers teach the desk who is alike: before it decides about anybody, and later what its decisions have not shown yet."),
      el("p", {}, "“Unsure”, “Skip” and “Conflict of interest” pass the pair over: they are recorded, and nothing is learned from them."),
    ] },
    { heading: "The meters", parts: [
      el("p", {}, "“Still unknown” is the share of all there is to know about who is alike. “To expect” is how many pairs of all decisions to come would be unfair, by more than the number of percentage points that is named below the meters, if the interview ended now: reviews go on teaching the desk, so their number has an end. The full bar is what was to be expected when nothing was known. When few are to be expected, the interview stops by itself. You may stop at any time and go on later."),
    ] },
  ], [
    [["u"], "unfair"], [["a"], "acceptable"], [["n", "?"], "unsure"], [["s"], "skip"], [["c"], "conflict of interest"],
    [["Backspace", "z"], "take the last answer back"], [["h", "F1"], "this help"],
  ]);
}
