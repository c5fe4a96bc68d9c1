// The interview: the review page's screen with hypothetical chances, and meters of what is still unknown.

import { call, deskOfPage, deskPath } from "./api.js";
import { sentence } from "./banners.js";
import { $, el, show } from "./dom.js";
import { count, percent, points } from "./format.js";
import { interviewHelp } from "./help.js";
import { meter } from "./meters.js";
import { PairPage } from "./pair-page.js";

const desk = deskOfPage();
const unknown = meter("unknown", "Still unknown");
const expected = meter("expected", "Expected unfair pairs");
const flags = meter("flags", "Flags that can ever come");
const ALONE = "Each of this desk's latest decisions had a single candidate, so there are no pairs and no unfair ones are expected. "
  + "If decisions with several candidates are to come, upload people like them below: the interview then asks about those.";

const page = new PairPage({
  desk, here: "interview", title: "Interview", help: interviewHelp, path: "/interview/answers", noun: "question", next, accept, ahead: () => null,
  answering: () => {}, countUnsent: () => {},
  nothing: "you have not answered about these people.",
});

async function next() {
  page.work(true);
  accept(await page.outbox.persist(() => call("GET", deskPath(desk, "/interview/next"))));
}

function accept(response) {
  setMeters(response.meter, response.always_alone);
  $("#people-now").textContent = response.people && !response.always_alone ? `The interview asks about ${count(response.people, "person", "people")}.` : "There is nobody to ask about yet.";
  if (response.item !== null) {
    page.reveal(response, `Next question. Still unknown: ${$("#unknown-value").textContent}.`);
    page.restoreLast(response.last);
    return;
  }
  page.current = null;
  showEnd($("#ending"), response);
  page.work(false);
  page.rest(true);
  page.restoreLast(response.last);
  page.announce($("#ending-title").textContent);
}

// The meters.

function setMeters(values, alone) {
  const [place, meaning] = [$("#meters"), $("#meters-fold")];
  place.hidden = meaning.hidden = values === null || alone;
  if (values === null) return;
  // The full length is what was expected when nothing was known: the same for everybody, whenever the page is opened.
  const most = Math.max(values.expected_first, values.expected_unfair_pairs, 1e-9);
  unknown.set(values.unknown, percent(values.unknown, 0));
  expected.set(values.expected_unfair_pairs / most, `${values.expected_unfair_pairs.toFixed(1)} of ${most.toFixed(1)}`);
  setFlags(values);
  show($("p", meaning), `“Still unknown” is the share of all there is to know about who is alike. “Expected unfair pairs” counts the pairs that would be unfair by more than ${points(values.epsilon)} in the next ${values.decisions.toLocaleString("en")} decisions, reviewed as they are now, `
    + `if the interview ended now. The full bar, ${most.toFixed(1)}, is what was expected when nothing was known. `
    + `Below ${values.enough} the interview stops by itself.${promiseWords(values)}`);
}

/** Proved for some metric learners only; a process of an earlier version sends none. */
function setFlags({ flags_left: left = null, flags_first: first }) {
  flags.element.hidden = left === null;
  if (left === null) return;
  const most = Math.max(first ?? 0, left, 1);
  flags.set(left / most, `${left.toLocaleString("en")} of ${most.toLocaleString("en")}`);
}

function promiseWords({ promise = null, flags_left: left = null }) {
  if (promise === null) return "";
  return left === null ? ` ${promise}` : ` “Flags that can ever come” is proved, not estimated. ${promise}`;
}

// The end: why there is no question.

function showEnd(place, response) {
  const [title, text] = endWords(response);
  const link = (path, name, kind = "") => el("a", { class: `button ${kind}`, href: path + encodeURIComponent(desk) }, name);
  const reviewable = response.is_live && !response.always_alone;
  // One primary button: reviewing where there is something to review; uploading, below, where there is nobody.
  const links = [link("/review/", "Review pairs", reviewable ? "primary" : ""), link("/desks/", "View the desk", response.people && !reviewable ? "primary" : "")];
  show(place, el("h2", { id: "ending-title", tabindex: "-1" }, title), el("p", { id: "ending-words" }, text),
    el("p", { class: "row" }, reviewable ? links : links.reverse(), el("a", { class: "button", href: "/desks" }, "All desks")));
  $("#people-use").classList.toggle("primary", !response.people);
  if (!response.people || response.always_alone) $("#people-fold").open = true;
}

function endWords(response) {
  if (!response.people) return ["There is nobody to ask about yet", "An interview asks about two people at a time: from earlier decisions, or from a file you upload below."];
  if (response.always_alone) return ["No questions needed", ALONE];
  if (response.meter?.answers === 0) return ["No questions needed", noQuestions(response)];
  return ["The interview is over", outlook(response)];
}

function noQuestions({ meter: values, people }) {
  if (values.unknown === 0) return `How alike any two of these ${count(people, "person", "people")} are is known to within ${points(values.epsilon)}.`;
  return `The interview asks while at least ${values.enough} unfair pairs are expected in the next ${values.decisions.toLocaleString("en")} decisions. For people like these ${people.toLocaleString("en")} it expects ${values.expected_unfair_pairs.toFixed(1)}: `
    + `the fewer they are and the less they differ, the fewer are possible. Other people, uploaded below, may raise questions. ${stillUnknown(values)}`;
}

function outlook({ meter: values, ended }) {
  if (!values?.unknown) return `It stopped by itself: ${ended}.`;
  return `It stopped by itself: few unfair pairs are expected. ${stillUnknown(values)}`;
}

const stillUnknown = (values) => `${percent(values.unknown, 0)} is still unknown and will be learned from reviews.`;

// Uploading people to ask about.

async function upload(event) {
  event.preventDefault();
  const [file] = $("#people-file").files;
  const problem = $("#people-error");
  problem.textContent = file ? "" : "Choose a file.";
  if (!file) return;
  try {
    await call("POST", deskPath(desk, "/interview/people"), { csv: await file.text() });
    $("#people-form").reset();
    $("#people-fold").open = false;
    await next();
  } catch (error) {
    problem.textContent = sentence(error.message);
  }
}

show($("#meters"), unknown.element, expected.element, flags.element);
$("#meters-fold").open = !matchMedia("(max-width: 61.99rem)").matches;
$("#people-form").addEventListener("submit", upload);
page.begin().catch((error) => page.fail(error, ["#meters", "#meters-fold", "#people-fold"]));
