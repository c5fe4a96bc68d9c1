// Help on the interview page.

import { el } from "./dom.js";
import { helpDialog } from "./help.js";

export function interviewHelp() {
  return helpDialog("How the interview works", [
    { heading: "The question", parts: [
      el("p", {}, "Two people are shown with odds that were made up for them, of a lottery between the two. Say whether a gap this wide would be unfair to one of them, given how the two differ, or acceptable."),
      el("p", {}, "“Unsure” passes the pair over; nothing is learned from it, and it is not recorded."),
    ] },
    { heading: "The meters", parts: [
      el("p", {}, "“Still unknown” is the share of all there is to know about who is alike. “To expect” is how many unfair pairs reviewers would have to find if the desk went live now. When little is to be feared any more, the interview stops by itself. You may stop at any time and go on later."),
    ] },
  ], [
    [["u"], "unfair"], [["a"], "acceptable"], [["n", "?"], "unsure"],
    [["Backspace", "z"], "take the last answer back"], [["h", "F1"], "this help"],
  ]);
}
