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
const expected = meter("expected", "Unfair pairs to expect if nothing more were learned");

const asking = new Asking({
  desk, here: "interview", title: "Interview", help: interviewHelp(), path: "/interview/answers", noun: "question", next, accept, ahead: () => null,
  nothing: "only answers of this visit can be taken back.",
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
    return;
  }
  asking.current = null;
  ending(told);
  asking.work(false);
  asking.rest(true);
  asking.announce($("#ending-title").textContent);
}

function showMeter(told) {
  $("#meters").hidden = told === null;
  if (told === null) return;
  // The full length is what was to be expected when nothing was known: the same whoever opens the page, and when.
  const most = Math.max(told.expected_first, told.expected_unfair_pairs, 1e-9);
  unknown.set(told.unknown, percent(told.unknown, 0));
  expected.set(told.expected_unfair_pairs / most, told.expected_unfair_pairs.toFixed(1));
}

function ending(told) {
  const after = told.is_live ? "Reviews of the desk's decisions will teach it the rest." : "The desk knows enough to begin; reviews of its decisions will teach it the rest.";
  const [title, text] = told.people
    ? ["The interview is over", `It stopped by itself: ${told.ended}. ${after}`]
    : ["There is nobody to ask about yet", "An interview asks about people of earlier decisions, or about people you upload below."];
  const to = (path, words) => el("a", { class: "button", href: path }, words);
  show($("#ending"), el("h2", { id: "ending-title", tabindex: "-1" }, title), el("p", {}, text),
    el("p", { class: "row" }, to(`/review/${encodeURIComponent(desk)}`, "Go to the reviews"), to(`/desks/${encodeURIComponent(desk)}`, "Look at the desk"), to("/desks", "All desks")));
  if (!told.people) $("#people-fold").open = true;
}

show($("#meters"), unknown.element, expected.element);
uploadForm(desk, next);
asking.begin().catch((error) => asking.fail(error, ["#meters", "#people-fold"]));
