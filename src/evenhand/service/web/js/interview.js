// The interview: made-up odds, the same screen as the review page, and a meter of what is still unknown.

import { call, deskOfPage, deskPath } from "./api.js";
import { Asking } from "./asking.js";
import { meter } from "./bars.js";
import { $, el, show } from "./dom.js";
import { count, percent } from "./format.js";
import { interviewHelp } from "./interview-help.js";
import { uploadForm } from "./people.js";

const desk = deskOfPage();
const unknown = meter("unknown", "Still unknown");
const expected = meter("expected");

const asking = new Asking({
  desk, here: "interview", title: "Interview", help: interviewHelp(), path: "/interview/answers", noun: "question", next, accept, ahead: () => null,
  answering: () => {}, tally: () => {},
  nothing: "you have given no answer about these people that stands.",
});

async function next() {
  asking.work(true);
  accept(await asking.outbox.persist(() => call("GET", deskPath(desk, "/interview/next"))));
}

function accept(told) {
  showMeter(told.meter);
  $("#people-now").textContent = told.people ? `It asks about ${count(told.people, "person", "people")} now.` : "There is nobody to ask about yet.";
  if (told.item !== null) {
    asking.reveal(told, `Next question. Still unknown: ${$("#unknown-value").textContent}.`);
    asking.knows(told.last);
    return;
  }
  asking.current = null;
  ending(told);
  asking.work(false);
  asking.rest(true);
  asking.knows(told.last);
  asking.announce($("#ending-title").textContent);
}

function showMeter(told) {
  $("#meters").hidden = told === null;
  if (told === null) return;
  // The full length is what was to be expected when nothing was known: the same whoever opens the page, and when.
  const most = Math.max(told.expected_first, told.expected_unfair_pairs, 1e-9);
  unknown.set(told.unknown, percent(told.unknown, 0));
  expected.name(`Unfair pairs to expect in live decisions if the interview ended now (unfair by more than ${pointsOf(told.epsilon)})`);
  expected.set(told.expected_unfair_pairs / most, told.expected_unfair_pairs.toFixed(1));
}

function ending(told) {
  const [title, text] = told.people
    ? ["The interview is over", outlook(told)]
    : ["There is nobody to ask about yet", "An interview asks about people of earlier decisions, or about people you upload below."];
  const to = (path, words, kind = "") => el("a", { class: `button ${kind}`, href: path + encodeURIComponent(desk) }, words);
  // One is the main one: to go on where there is something to review; where there is nobody, uploading is, below.
  const ways = [to("/review/", "Go to the reviews", told.is_live ? "primary" : ""), to("/desks/", "Look at the desk", told.people && !told.is_live ? "primary" : "")];
  show($("#ending"), el("h2", { id: "ending-title", tabindex: "-1" }, title), el("p", {}, text),
    el("p", { class: "row" }, told.is_live ? ways : ways.reverse(), el("a", { class: "button", href: "/desks" }, "All desks")));
  $("#people-use").classList.toggle("primary", !told.people);
  if (!told.people) $("#people-fold").open = true;
}

/** Why it is over, and what is to be expected of a desk that begins, or goes on, with what it knows. */
function outlook({ meter: told, ended }) {
  if (!told?.unknown) return `It stopped by itself: ${ended}.`;
  return `It stopped by itself. Few unfair pairs are to be expected; ${percent(told.unknown, 0)} is still unknown and will be learned from reviews.`;
}

/** A share as percentage points, in words. */
function pointsOf(share) {
  const points = Number((100 * share).toPrecision(3));
  return `${points.toLocaleString("en")} point${points === 1 ? "" : "s"}`;
}

show($("#meters"), unknown.element, expected.element);
uploadForm(desk, next);
asking.begin().catch((error) => asking.fail(error, ["#meters", "#people-fold"]));
