// The interview: made-up odds, the same screen as the review page, and a meter of what is still unknown.

import { call, deskOfPage, deskPath, goToSignIn, Refused, session } from "./api.js";
import { ANSWERS, answerButtons, answerKeys, remarks, takeRemarks } from "./answers.js";
import { $, announce, el, show } from "./dom.js";
import { offlineBanner, refusal } from "./banners.js";
import { meter } from "./bars.js";
import { count, percent } from "./format.js";
import { interviewHelp } from "./interview-help.js";
import { listen } from "./keys.js";
import { masthead } from "./masthead.js";
import { Outbox } from "./outbox.js";
import { pairInWords, showPair } from "./pair.js";
import { uploadForm } from "./people.js";

const desk = deskOfPage();
const names = ["unfair", "acceptable", "unsure"];
const help = interviewHelp();
const unknown = meter("unknown", "Still unknown");
const expected = meter("expected", "Unfair pairs to expect if it went live now");

let outbox = null;
let current = null;
let started = null;
let given = [];
let busy = true;
let most = 1; // the largest expectation seen: the meter's full length

async function begin() {
  masthead({ desk, here: "interview" });
  document.body.append(help);
  $("#open-help").addEventListener("click", () => help.showModal());
  show($("#answers"), answerButtons(names, answer));
  show($("#remarks-place"), remarks());
  show($("#meters"), unknown.element, expected.element);
  listen({ ...answerKeys(names, answer), Backspace: undo, z: undo, h: () => help.showModal(), F1: () => help.showModal() });
  outbox = new Outbox("", offlineBanner($("#banners"), () => outbox.tryNow()));
  const person = await outbox.persist(session);
  outbox = new Outbox(`interview:${person.name}:${desk}`, offlineBanner($("#banners"), () => outbox.tryNow()));
  masthead({ person, desk, here: "interview" });
  uploadForm(desk, next);
  await outbox.flush();
  await next();
}

async function next() {
  work(true);
  accept(await outbox.persist(() => call("GET", deskPath(desk, "/interview/next"))));
}

function accept(told) {
  current = told.item === null ? null : told;
  showMeter(told.meter);
  $("#people-now").textContent = told.people ? `It asks about ${count(told.people, "person", "people")} now.` : "There is nobody to ask about yet.";
  $("#work").hidden = current === null;
  $("#ending").hidden = current !== null;
  if (current === null) ending(told);
  else {
    showPair($("#pair"), current);
    announce($("#announcer"), `Next question. ${pairInWords(current)} Still unknown: ${$("#unknown-value").textContent}.`);
    started = new Date().toISOString();
  }
  work(false);
}

function showMeter(told) {
  $("#meters").hidden = told === null;
  if (told === null) return;
  most = Math.max(most, told.expected_unfair_pairs);
  unknown.set(told.unknown, percent(told.unknown, 0));
  expected.set(told.expected_unfair_pairs / most, told.expected_unfair_pairs.toFixed(1));
}

function ending(told) {
  const [title, text] = told.people
    ? ["The interview is over", `It stopped by itself: ${told.ended}. The desk knows enough to go live; reviews of its decisions will teach it the rest.`]
    : ["There is nobody to ask about yet", "An interview asks about people of earlier decisions, or about people you upload below."];
  show($("#ending"), el("h2", { id: "ending-title", tabindex: "-1" }, title), el("p", {}, text),
    el("a", { class: "button", href: `/review/${encodeURIComponent(desk)}` }, "Go to the reviews"));
  if (!told.people) $("#people-fold").open = true;
  announce($("#announcer"), title);
}

function work(on) {
  busy = on;
  $("#work").setAttribute("aria-busy", String(on));
}

async function answer(name) {
  if (busy || current === null) return;
  work(true);
  const item = current.item;
  const body = { item, answer: name, ...takeRemarks(), started, ended: new Date().toISOString() };
  try {
    const told = await outbox.send("POST", deskPath(desk, "/interview/answers"), body, item.slice(-64));
    given.push(told.review);
    said(name, told);
    accept(told.next);
  } catch (error) {
    await refused(error);
  }
}

function said(name, told) {
  const undoButton = el("button", { class: "button small", type: "button", id: "undo", onclick: undo }, "Undo ", el("kbd", { "aria-hidden": "true" }, "⌫"));
  show($("#after"), el("div", { class: "banner plain", id: "last" },
    el("p", {}, el("b", {}, `Recorded: ${ANSWERS[name].told}. `), el("span", { class: "muted", id: "why" }, `Why you were asked: ${told.why}`)),
    undoButton));
}

async function undo() {
  const id = given.at(-1);
  if (busy || id === undefined) return;
  work(true);
  try {
    await outbox.send("DELETE", deskPath(desk, `/reviews/${encodeURIComponent(id)}`), undefined, `undo-${id}`);
    given.pop();
    show($("#after"), el("p", { class: "banner plain", id: "last" }, "Your last answer was taken back. Here is the question again."));
    await next();
  } catch (error) {
    await refused(error);
  }
}

async function refused(error) {
  if (!(error instanceof Refused)) throw error;
  if (error.status === 401) return goToSignIn();
  refusal($("#banners"), error);
  if (error.status === 409 || error.status === 422) await next();
  else work(false);
}

begin().catch((error) => {
  refusal($("#banners"), error, desk);
  $("#question").textContent = "Interview";
  for (const part of ["#work", "#meters", "#people-fold", "#open-help"]) $(part).hidden = true;
});
