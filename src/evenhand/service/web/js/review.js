// The review page: a pair, an answer, the next pair. What it knows is in the service; what is on its way, in the outbox.

import { call, deskOfPage, deskPath, goToSignIn, Refused, session } from "./api.js";
import { ANSWERS, answerButtons, answerKeys, keepDraft, remarks, restoreDraft, takeRemarks } from "./answers.js";
import { $, announce, el, show } from "./dom.js";
import { offlineBanner, refusal } from "./banners.js";
import { showEnding } from "./ending.js";
import { listen } from "./keys.js";
import { masthead } from "./masthead.js";
import { Outbox } from "./outbox.js";
import { pairInWords, showPair } from "./pair.js";
import { progressBar } from "./progress.js";
import { reviewHelp } from "./review-help.js";

const desk = deskOfPage();
const names = Object.keys(ANSWERS);
const help = reviewHelp();
const progress = progressBar($("#progress"));

let outbox = null;
let current = null; // the item on the screen
let started = null;
let given = []; // ids of the reviews of this visit, the newest last
let busy = true;
let resting = false; // at the natural end of a session

async function begin() {
  masthead({ desk, here: "review" });
  document.body.append(help);
  $("#open-help").addEventListener("click", () => help.showModal());
  show($("#answers"), answerButtons(names, answer));
  show($("#remarks-place"), remarks());
  $("#remarks").addEventListener("input", () => current && keepDraft(draftPlace(), current.item));
  $("#note").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.ctrlKey) $("#answer-unfair").focus();
  });
  listen({ ...answerKeys(names, answer), Backspace: undo, z: undo, h: () => help.showModal(), F1: () => help.showModal() });
  const waiting = new Outbox("", offlineBanner($("#banners"), () => outbox?.tryNow()));
  outbox = waiting;
  const person = await waiting.persist(session);
  outbox = new Outbox(`${person.name}:${desk}`, offlineBanner($("#banners"), () => outbox.tryNow()));
  masthead({ person, desk, here: "review" });
  const refusals = await outbox.flush();
  if (refusals.length) refusal($("#banners"), refusals[0]);
  await next();
}

const draftPlace = () => `evenhand-draft:${desk}`;

async function next() {
  work(true);
  accept(await outbox.persist(() => call("GET", deskPath(desk, "/review/next"))));
}

/** Shows an item, or the end: of the session when the goal is reached, or of what waits. */
function accept(told) {
  progress.set(told.progress, told.item === null);
  current = told.item === null ? null : told;
  started = new Date().toISOString();
  resting = current === null || (told.progress.pause && given.length > 0);
  $("#work").hidden = resting;
  $("#ending").hidden = !resting;
  if (resting) {
    showEnding($("#ending"), told, () => { resting = false; reveal(); });
    announce($("#announcer"), $("#ending-title").textContent);
    busy = false;
  } else reveal();
}

function reveal() {
  $("#work").hidden = false;
  $("#ending").hidden = true;
  showPair($("#pair"), current);
  restoreDraft(draftPlace(), current.item);
  announce($("#announcer"), `Next pair. ${pairInWords(current)}`);
  started = new Date().toISOString();
  work(false);
}

function work(on) {
  busy = on;
  $("#work").setAttribute("aria-busy", String(on));
}

async function answer(name) {
  if (busy || resting || current === null) return;
  work(true);
  const item = current.item;
  const body = { item, answer: name, ...takeRemarks(), started, ended: new Date().toISOString() };
  try {
    const told = await outbox.send("POST", deskPath(desk, "/review/answers"), body, item.slice(-64));
    given.push(told.review);
    said(name, told.why);
    accept(told.next);
  } catch (error) {
    await refused(error);
  }
}

function said(name, why) {
  show($("#after"), el("div", { class: "banner plain", id: "last" },
    el("p", {}, el("b", {}, `Recorded: ${ANSWERS[name].told}. `), el("span", { class: "muted", id: "why" }, `Why you were asked: ${why}`)),
    el("button", { class: "button small", type: "button", id: "undo", onclick: undo }, "Undo ", el("kbd", { "aria-hidden": "true" }, "⌫"))));
}

async function undo() {
  const id = given.at(-1);
  if ((busy && !resting) || id === undefined) {
    if (!busy) announce($("#announcer"), "There is no answer of this visit to take back.");
    return;
  }
  work(true);
  try {
    await outbox.send("DELETE", deskPath(desk, `/reviews/${encodeURIComponent(id)}`), undefined, `undo-${id}`);
    given.pop();
    show($("#after"), el("p", { class: "banner plain", id: "last" }, "Your last answer was taken back. Here is the pair again."));
    await next();
  } catch (error) {
    await refused(error);
  }
}

/** An answer that the service would not take: say why; go on unless there is nothing to go on with. */
async function refused(error) {
  if (!(error instanceof Refused)) throw error;
  if (error.status === 401) return goToSignIn();
  refusal($("#banners"), error);
  if (error.status === 409 || error.status === 422) await next();
  else work(false);
}

begin().catch((error) => {
  refusal($("#banners"), error, desk);
  $("#question").textContent = "Review";
  for (const part of ["#work", "#progress", "#open-help"]) $(part).hidden = true;
});
