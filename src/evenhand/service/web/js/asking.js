// What the review page and the interview share: a pair, an answer, the next pair; undo; refusals; going on offline.

import { deskPath, goToSignIn, Refused, session } from "./api.js";
import { ANSWERS, answerButtons, answerKeys, remarked, remarks } from "./answers.js";
import { forgetRefusal, offlineBanner, refusal } from "./banners.js";
import { $, announce, el, show } from "./dom.js";
import { Drafts } from "./drafts.js";
import { count } from "./format.js";
import { foldIntro, introIsKnown } from "./intro.js";
import { listen } from "./keys.js";
import { LastAnswer } from "./last-answer.js";
import { masthead } from "./masthead.js";
import { Outbox } from "./outbox.js";
import { likeness, pairInWords, showPair, toTheTop } from "./pair.js";

const NAMES = Object.keys(ANSWERS);
const SETTLE = 250; // milliseconds a pair is on the screen before it can be answered: a second press was meant for the one before
const LONG = 2000; // milliseconds after which it is said that the service has not answered yet
const TAKEN_BACK = "Your last answer was taken back.";
const NONE_AT_HAND = "The service is away, and no other pair is at hand. The next one comes when it is back.";

export class Asking {
  /** page: {desk, here, title, help, path, noun, nothing, next(), accept(told), answering(), ahead(fits), tally(unsent, told)};
   * `nothing` says why there is nothing to undo, `answering` is called with each answer, `ahead` gives a pair to go on with,
   * or null; `tally` hears how many answers the service has not got yet, with what it told last, if it told something. */
  constructor(page) {
    this.page = page;
    this.current = null; // the pair on the screen
    this.started = null;
    this.given = []; // answers of this visit, the newest last: {key, pair, name, remarks}, and {review} once it is recorded
    this.seen = new Set(); // pairs of this visit, by their likeness
    this.busy = true;
    this.settled = false; // whether the pair has been on the screen long enough for an answer to be meant for it
    this.undone = null; // the answer that is being taken back: its pair was seen, and is told as the same
    this.resting = false; // at a natural end
    this.question = $("#question").textContent;
    this.last = new LastAnswer(() => this.undo());
    this.complained = 0; // when something was refused last
    this.heard = ""; // what a screen reader is to be told of it, before the next pair
  }

  /** Everything but the pair is put on the page, and whoever looks is known. */
  async begin() {
    const { desk, here, help, title } = this.page;
    document.title = `${title} · ${desk} · evenhand`;
    masthead({ desk, here });
    document.body.append(help);
    $("#open-help").addEventListener("click", () => help.showModal());
    foldIntro();
    show($("#answers"), answerButtons(NAMES, (name) => this.answer(name)));
    show($("#remarks-place"), remarks());
    $("#remarks").addEventListener("input", () => this.current && this.drafts.keep(this.current.draft));
    $("#note").addEventListener("keydown", (event) => { if (event.key === "Enter" && event.ctrlKey) $("#answer-unfair").focus(); });
    const undo = () => this.undo();
    const open = () => help.showModal();
    listen({ ...answerKeys(NAMES, (name) => this.answer(name)), Backspace: undo, z: undo, h: open, F1: open });
    const banner = offlineBanner($("#banners"), () => this.outbox.tryNow());
    this.outbox = new Outbox("", banner);
    const person = await this.outbox.persist(session);
    const name = `${here === "review" ? "" : `${here}:`}${person.name}:${desk}`;
    this.outbox = new Outbox(name, banner);
    this.drafts = new Drafts(name);
    this.outbox.refused = (error) => this.complain(error);
    this.name = name;
    masthead({ person, desk, here });
    const { sent, refusals } = await this.outbox.flush();
    const refused = refusals.find((error) => error.status === 401) ?? refusals[0];
    if (refused && !this.complain(refused)) return;
    if (sent) this.sentBefore(sent);
    await this.page.next();
  }

  /** What was answered when the service could not be reached, or after the session had ended, has it now. */
  sentBefore(number) {
    this.heard = `${count(number, "answer that was", "answers that were")} kept ${number === 1 ? "has" : "have"} been sent.`;
    this.last.say(this.heard, "good");
  }

  /** Says what the service refused, or leads to signing in; whether the page stays. */
  complain(error) {
    this.complained = performance.now();
    if (error.status !== 401) refusal($("#banners"), error);
    else goToSignIn(error.document.other ? "other" : "ended");
    return error.status !== 401;
  }

  work(on) {
    this.busy = on;
    $("#work").setAttribute("aria-busy", String(on));
    clearTimeout(this.timer);
    $("#waits")?.remove();
    if (on) this.timer = setTimeout(() => this.isWaiting(), LONG);
  }

  /** Says that the service takes its time; whether it is away turns out later. */
  isWaiting() {
    if (!this.busy || this.resting || this.outbox.isAway) return;
    $("#banners").append(el("p", { class: "banner plain", id: "waits" }, "Waiting for the service …"));
  }

  /** Puts a pair on the screen, to be answered. */
  reveal(pair, words) {
    const again = this.undone !== null && isOf(pair, this.undone);
    this.current = pair;
    this.seen.add(likeness(pair));
    this.rest(false);
    this.ask(true);
    showPair($("#pair"), $("#gap-place"), pair);
    toTheTop($("#pair"));
    this.drafts.restore(pair.draft);
    this.announce(`${again ? `The same ${this.page.noun} again.` : words} ${pairInWords(pair)}`);
    this.started = new Date().toISOString();
    this.work(false);
    this.settle(again ? 0 : SETTLE);
  }

  /** From now on another pair is before somebody; what they press at once was not meant for it. */
  settle(pause) {
    const { dataset } = $("#work");
    this.settled = pause === 0;
    delete dataset.settled;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => { this.settled = true; dataset.settled = "yes"; }, pause);
  }

  /** Says something to a screen reader, after what became of the last answer. */
  announce(words) {
    announce($("#announcer"), `${this.heard} ${words}`.trim());
    this.heard = "";
  }

  /** Whether there is a pair to ask about: where there is none, nothing asks, and nothing looks as if it could be answered. */
  ask(on) {
    $("#question").textContent = on ? this.question : this.page.title;
    for (const part of ["#remarks-place", "#intro-fold"]) $(part).hidden = !on;
    $("#work").classList.toggle("empty", !on);
    for (const button of $("#answers").querySelectorAll("button")) button.setAttribute("aria-disabled", String(!on));
  }

  /** Shows the end in place of a pair, or the pair again. What was answered last stays in sight, to be taken back. */
  rest(on) {
    const moved = this.resting !== on;
    this.resting = on;
    $("#work").hidden = on;
    $("#ending").hidden = !on;
    this.last.moveTo($(on ? "#ending" : "#ask"));
    this.ask(!on);
    if (on) this.busy = false;
    $("#waits")?.remove();
    if (moved) $(on ? "#ending-title" : "#question").focus();
  }

  async answer(name) {
    if (this.busy || this.resting || !this.settled || this.current === null) return;
    this.work(true);
    this.page.answering();
    const pair = this.current;
    const key = pair.item.slice(-64);
    const remarks = remarked();
    const body = { item: pair.item, answer: name, ...remarks, started: this.started, ended: new Date().toISOString() };
    const said = { key, pair, name, remarks, at: performance.now() };
    this.given.push(said);
    const sent = this.outbox.send("POST", deskPath(this.page.desk, this.page.path), body, key);
    this.drafts.drop(pair.draft);
    introIsKnown();
    sent.then((told) => this.took(said, told), (error) => this.refused(error, said));
    await Promise.race([sent.catch(() => null), this.outbox.away()]);
    if (this.outbox.isAway && this.busy && this.current === pair) this.goOn(name);
  }

  /** The service has an answer. Whoever went on without it meanwhile keeps the pair that is before them. */
  took(said, told) {
    said.review = told.review;
    if (said.at > this.complained) forgetRefusal($("#banners"));
    this.said(said.name, `Why you were asked: ${told.why}`);
    if (this.busy && !this.isSending) return this.page.accept(told.next);
    this.tally(told.next);
    if (!this.busy) this.announce("");
  }

  /** Answers of this visit that are still to be sent: what comes next is known after the last of them only. */
  get unsent() {
    return this.given.filter((one) => one.review === undefined).length;
  }

  get isSending() {
    return this.unsent > 0;
  }

  tally(told = null) {
    this.page.tally(this.unsent, told);
  }

  /** The service is away: another pair that is at hand, if there is one. */
  goOn(name) {
    const pair = this.page.ahead((one) => !this.seen.has(likeness(one)));
    this.tally();
    this.said(name, "It is kept in this browser until the service is back.", "Kept");
    if (pair) return this.reveal(pair, "The service is away. Next pair.");
    this.ask(false);
    show($("#pair"), el("p", { class: "card flat", id: "none-at-hand" }, NONE_AT_HAND));
    show($("#gap-place"));
    this.announce(NONE_AT_HAND);
  }

  said(name, more, begun = "Recorded") {
    this.heard = `${begun}: ${ANSWERS[name].told}.`;
    this.last.offer(this.heard, more);
  }

  /** What an earlier visit answered last can be taken back too, if the service tells it. */
  knows(last) {
    if (!last || this.given.length) return;
    const { review, answer, reason, note } = last;
    this.given = [{ review, name: answer, pair: null, remarks: { reason, note } }];
    if (this.undone === null) this.last.offer(`${this.last.words} Your last answer: ${ANSWERS[answer].told}.`.trim());
  }

  async undo() {
    const last = this.given.at(-1);
    if (last === undefined) return this.busy || this.nothingToUndo();
    if (last.review === undefined) return this.takeOut(last);
    if (this.busy) return;
    this.work(true);
    try {
      await this.outbox.send("DELETE", deskPath(this.page.desk, `/reviews/${encodeURIComponent(last.review)}`), undefined, `undo-${last.review}`);
      this.given.pop();
      forgetRefusal($("#banners"));
      this.heard = TAKEN_BACK;
      this.undone = last;
      this.last.say(TAKEN_BACK);
      await this.page.next();
      const { noun } = this.page;
      this.last.say(`${TAKEN_BACK} ${this.isBack(last) ? `Here is the ${noun} again.` : `That ${noun} is not to be had now.`}`);
    } catch (error) {
      await this.refused(error, null);
    } finally {
      this.undone = null;
    }
  }

  nothingToUndo() {
    const words = `Nothing to undo here: ${this.page.nothing}`;
    this.last.say(words);
    announce($("#announcer"), words);
  }

  /** An answer that was not sent yet is simply not sent; what is being sent may have arrived already. */
  takeOut(last) {
    if (!this.outbox.isAway) return;
    if (!this.outbox.drop(last.key)) {
      this.said(last.name, "It is on its way, and can be taken back when the service is back.", "Kept");
      return this.announce("It is on its way, and can be taken back when the service is back.");
    }
    this.given.pop();
    this.tally();
    this.heard = TAKEN_BACK;
    this.last.say(`${TAKEN_BACK} Here is the ${this.page.noun} again.`);
    this.undone = last;
    this.reveal(last.pair, "");
    this.undone = null;
    this.drafts.refill(last.pair.draft, last.remarks);
  }

  /** Whether the pair of an answer is before its reviewer again, as it should be; then what was remarked is there too. */
  isBack(last) {
    const same = this.current !== null && isOf(this.current, last);
    if (same) this.drafts.refill(this.current.draft, last.remarks);
    return same;
  }

  /** What the service would not take: say why; go on unless there is nothing to go on with. */
  async refused(error, said) {
    this.given = this.given.filter((one) => one !== said);
    this.tally();
    if (!(error instanceof Refused)) throw error;
    if (!this.complain(error)) return;
    if (!this.busy || this.isSending) return;
    if (error.status === 409 || error.status === 422) await this.page.next();
    else this.work(false);
  }

  /** The page cannot be used at all. */
  fail(error, parts) {
    refusal($("#banners"), error, this.page.desk);
    $("#question").textContent = this.page.title;
    for (const part of ["#work", "#open-help", ...parts]) $(part).hidden = true;
  }
}

/** Whether a pair is the one that an answer was given on: the service says so, or else it looks the same. */
function isOf(pair, given) {
  if (pair.again_of && given.review) return pair.again_of === given.review;
  return given.pair !== null && likeness(pair) === likeness(given.pair);
}
