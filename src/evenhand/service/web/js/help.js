// The help dialogs: the question, what each answer means, the keys, and a switch that disables them.

import { ofShares } from "./asks.js";
import { el } from "./dom.js";
import { keysAreOn, switchKeys } from "./keys.js";

const ANSWER_KEYS = {
  verdicts: [[["u"], "unfair"], [["a"], "acceptable"]],
  ratings: [[["1", "…", "9", "0"], "rate the person on the left, then the one on the right; 0 is the key of 10"]],
  comparisons: [[["l"], "left first"], [["a"], "alike"], [["r"], "right first"]],
};
const OTHER_KEYS = [
  [["n", "?"], "unsure"], [["s"], "skip"], [["c"], "conflict of interest"],
  [["Backspace", "z"], "undo the last answer, or the first of two ratings"], [["h", "F1"], "this help"],
];
const MEANINGS = {
  verdicts: [
    ["Unfair", "The two are so alike that a gap this wide is unfair to one of them."],
    ["Acceptable", "The two are different enough to justify this gap or a wider one."],
  ],
  ratings: [["A rating", "How strong this person’s case for being chosen is, on the same scale for everybody. The answer is recorded once both are rated."]],
  comparisons: [
    ["Alike", "Neither has a better case than the other: both should have about the same chance."],
    ["Left first, right first", "This person has the better case, so a higher chance for this one is justified."],
  ],
};
const PASSED = [
  ["Unsure", "You looked and cannot tell. This is recorded; nothing is learned from it."],
  ["Skip", "Leave this pair to another reviewer."],
  ["Conflict of interest", "You know one of them or have a stake. Another reviewer is asked."],
];
const GAP_ONLY = "Judge the gap alone: is it too wide for two people as alike as these? Who has the higher chance does not matter, nor who deserves it: your answer would be the same if their chances were swapped.";

const QUESTION = {
  verdicts: `You see two candidates of one decision, with the attributes that this desk shows to reviewers, and each one's chance of being chosen. ${GAP_ONLY} Nor does it matter who was chosen in the end.`,
  ratings: "You see two candidates of one decision, with the attributes that this desk shows to reviewers, and rate each of them. Two people with the same rating should have about the same chance of being chosen; the further apart your ratings are, the more their chances may differ. What chances they had is not shown.",
  comparisons: "You see two candidates of one decision, with the attributes that this desk shows to reviewers, and say whether they should be treated alike or one of them should come first. What chances they had is not shown.",
};

export const reviewHelp = (ask, inShares) => helpDialog("How to review", ask, {
  "The question": [
    inShares ? ofShares(QUESTION[ask]) : QUESTION[ask],
    "Sides are random. What the desk has learned and what others answered is not shown. Some pairs are shown twice, or to two reviewers, to measure how reliable judgements are.",
  ],
  "The answers": [
    el("ul", { class: "stack" }, [...MEANINGS[ask], ...PASSED].map(([name, text]) => el("li", {}, el("b", {}, name), `: ${inShares ? ofShares(text) : text}`))),
    "The progress bar counts every pair of a session, including those you passed. The day starts at midnight UTC for all reviewers. You can undo today's answers, even after closing the page.",
  ],
});

export const interviewHelp = (ask) => helpDialog("How the interview works", ask, {
  "The question": [
    `You see two people, with the attributes that this desk shows to reviewers, and hypothetical chances in a lottery between the two. ${GAP_ONLY}`,
    "Where there are many attributes, one of the two is made up: the other person with a few attributes of somebody similar. All that is not shown at once is the same for both; you can unfold it below the list.",
    "Your answers teach the desk who is alike: before it makes its first decision, and later about what its decisions have not shown yet.",
    "“Unsure”, “Skip” and “Conflict of interest” pass the pair. They are recorded, and nothing is learned from them.",
  ],
  "The meters": [
    "“Still unknown” is the share of all there is to know about who is alike. “Expected unfair pairs” is how many pairs in the next decisions, as many as named below the meters, would be unfair, by more than the number of percentage points named there, if the interview ended now. The full bar is what was expected when nothing was known. The interview stops by itself once few are expected. On some desks a third meter shows how many flags can ever come: that number is proved, not estimated. You may stop at any time and continue later.",
  ],
});

/** A dialog with sections of paragraphs; open it with showModal(). */
function helpDialog(title, ask, sections) {
  const box = el("input", { type: "checkbox", id: "keys-on", onchange: (event) => switchKeys(event.target.checked) });
  box.checked = keysAreOn();
  const dialog = el(
    "dialog", { class: "dialog stack", "aria-labelledby": "help-title", id: "help" },
    el("div", { class: "dialog-head row between" }, el("h2", { id: "help-title", tabindex: "-1" }, title),
      el("form", { method: "dialog" }, el("button", { class: "button small" }, "Close"))),
    Object.entries(sections).flatMap(([name, parts]) => [el("h3", {}, name), ...parts.map((part) => (typeof part === "string" ? el("p", {}, part) : part))]),
    el("h3", {}, "Keys"),
    el("dl", { class: "keys" }, [...ANSWER_KEYS[ask], ...OTHER_KEYS].flatMap(([names, meaning]) => [
      el("dt", {}, names.flatMap((name, i) => [i ? " or " : "", el("kbd", {}, name)])), el("dd", {}, meaning),
    ])),
    el("label", { class: "check" }, box, "Answer with single keys"),
  );
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "F1" || (event.key === "h" && event.target !== box)) { event.preventDefault(); dialog.close(); }
  });
  return dialog;
}
