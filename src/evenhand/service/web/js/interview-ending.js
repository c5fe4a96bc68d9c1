// Where an interview has no question: that it is over, or that nothing needs to be asked, and why.

import { $, el, show } from "./dom.js";
import { count, percent, points } from "./format.js";

/** Puts it on the page. told: what the service said, with no question in it. */
export function showInterviewEnding(place, desk, told) {
  const [title, text] = words(told);
  const to = (path, name, kind = "") => el("a", { class: `button ${kind}`, href: path + encodeURIComponent(desk) }, name);
  const reviews = told.is_live && !told.always_alone; // whether there is something to review
  // One is the main one: to go on where there is something to review; where there is nobody, uploading is, below.
  const ways = [to("/review/", "Go to the reviews", reviews ? "primary" : ""), to("/desks/", "Look at the desk", told.people && !reviews ? "primary" : "")];
  show(place, el("h2", { id: "ending-title", tabindex: "-1" }, title), el("p", { id: "ending-words" }, text),
    el("p", { class: "row" }, reviews ? ways : ways.reverse(), el("a", { class: "button", href: "/desks" }, "All desks")));
  $("#people-use").classList.toggle("primary", !told.people);
  if (!told.people || told.always_alone) $("#people-fold").open = true;
}

function words(told) {
  if (!told.people) return ["There is nobody to ask about yet", "An interview asks about two people at a time: of earlier decisions, or of a file you upload below."];
  if (told.always_alone) return ["Nothing needs to be asked", ALONE];
  if (told.meter?.answers === 0) return ["Nothing needs to be asked", unasked(told)];
  return ["The interview is over", outlook(told)];
}

const ALONE = "Each of this desk's latest decisions was about one person. There was no pair in them, so no unfair pair is to be expected of decisions like these. "
  + "If decisions about several people are to come, upload people like them below: the interview then asks about those.";

/** Why nobody was asked anything. */
function unasked({ meter, people }) {
  if (meter.unknown === 0) return `How alike any two of these ${count(people, "person", "people")} are is known to within ${points(meter.epsilon)}.`;
  return `The interview asks while ${meter.enough} unfair pairs or more are to be expected in all decisions to come. Of people like these ${people.toLocaleString("en")} it expects ${meter.expected_unfair_pairs.toFixed(1)}: `
    + `the fewer they are, and the less they differ, the fewer there can be. With other people, uploaded below, there may be something to ask. ${left(meter)}`;
}

/** Why it is over, and what is to be expected of a desk that begins, or goes on, with what it knows. */
function outlook({ meter, ended }) {
  if (!meter?.unknown) return `It stopped by itself: ${ended}.`;
  return `It stopped by itself. Few unfair pairs are to be expected; ${left(meter)}`;
}

const left = (meter) => `${percent(meter.unknown, 0)} is still unknown and will be learned from reviews.`;
