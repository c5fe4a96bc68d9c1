// The three ways in which a desk asks about two people: whether a gap is unfair, a rating of each, or which comes first.

import { $ } from "./dom.js";

const TOGETHER = "These two were candidates in the same decision.";
const UNSEEN = "Their chances of being chosen are not shown: judge the people, not the decision.";
const PASS = ["unsure", "skip", "conflict"];

/** names: the answers with a button, in order. Without a question and an intro those of the page itself are shown. */
export const ASKS = {
  verdicts: { names: ["unfair", "acceptable", ...PASS] },
  ratings: {
    names: PASS,
    question: "How strong is each person’s case?",
    intro: `${TOGETHER} Rate how strong each person’s case for being chosen is, on the same scale for everybody. Two people with the same rating should have about the same chance; the further apart your ratings are, the more their chances may differ. ${UNSEEN}`,
  },
  comparisons: {
    names: ["left", "alike", "right", ...PASS],
    question: "Treat them alike, or one of them first?",
    intro: `${TOGETHER} Should they be treated alike, so that both have about the same chance, or should one of them come first? ${UNSEEN}`,
  },
};

/** The same words about shares of what was asked, where nobody is drawn. */
export function ofShares(text) {
  return text.replaceAll("chances of being chosen", "shares of what they asked for").replaceAll("chance of being chosen", "share of what was asked")
    .replaceAll(" Nor does it matter who was chosen in the end.", "").replaceAll("chance", "share");
}

/** Puts the question of this way of asking on the page; returns its heading. own: {question, intro} of the page. */
export function showQuestion(ask, own, inShares) {
  const intro = ASKS[ask].intro ?? own.intro;
  $("#intro").textContent = inShares ? ofShares(intro) : intro;
  return ASKS[ask].question ?? own.question;
}
