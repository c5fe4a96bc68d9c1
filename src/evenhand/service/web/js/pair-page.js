// What the review page and the interview share: a pair, an answer, the next pair; undo; errors; working offline.

import { deskPath, goToSignIn, Refused, session } from "./api.js";
import { ANSWER_KEYS, answerButtons, answerOf, offerReasons, past, readRemarks, remarksForm } from "./answers.js";
import { ASKS, showQuestion } from "./asks.js";
import { clearError, offlineBanner, showError } from "./banners.js";
import { $, announce, el, show } from "./dom.js";
import { Drafts } from "./drafts.js";
import { count } from "./format.js";
import { listen } from "./keys.js";
import { LastAnswer } from "./last-answer.js";
import { masthead } from "./masthead.js";
import { Outbox } from "./outbox.js";
import { likeness, pairInWords, scrollToTop, showPair } from "./pair.js";
import { RatingsInput } from "./ratings.js";
import { keep, recall } from "./storage.js";

const DIGITS = [..."0123456789"];
const SETTLE = 250; // milliseconds before a new pair can be answered: a second press was meant for the pair before
const SLOW = 2000; // milliseconds until the page says that the service is slow
const INTRO_READ = "evenhand-intro-read"; // kept after the first answer: the long question is folded from then on
const UNDONE = "Your last answer was undone.";
const SENDING = "It is being sent, and can be undone once the service is back.";
const NO_PAIR = "The service is unreachable and no other pair is available. The next one appears when it is back.";

export class PairPage {
  /** page: {desk, here, title, help, path, noun, nothing, next(), accept(response), answering(), ahead(fits),
   * countUnsent(unsent, response)}. `nothing` says why there is nothing to undo; `ahead` gives a pair to continue with
   * offline, or null; `countUnsent` gets the number of unsent answers and the latest response, if any. */
  constructor(page) {
    this.page = page;
    this.current = null; // the pair on the screen
    this.started = null;
    this.answers = []; // of this visit, oldest first: {key, pair, name, ratings, remarks}, and {review} once recorded
    this.seen = new Set(); // pairs of this visit, by likeness
    this.busy = true;
    this.settled = false; // whether the pair has been on the screen for SETTLE
    this.undone = null; // the answer that is being undone: its pair is announced as the same one
    this.resting = false; // at the end of a session
    this.own = { question: $("#question").textContent, intro: $("#intro").textContent };
    this.question = this.own.question;
    this.asks = null; // in which way the page asks now: a key of ASKS
    this.last = new LastAnswer(() => this.undo());
    this.erredAt = 0; // when the last error was shown
    this.pending = ""; // what to announce before the next pair
  }

  /** Sets up everything but the pair, and signs in. */
  async begin() {
    const { desk, here, title } = this.page;
    document.title = `${title} · ${desk} · evenhand`;
    masthead({ desk, here });
    const openHelp = () => this.help.showModal();
    $("#open-help").addEventListener("click", openHelp);
    foldIntro();
    show($("#remarks-place"), remarksForm());
    this.setAsk("verdicts");
    $("#remarks").addEventListener("input", () => this.current && this.drafts.keep(this.current.draft));
    $("#note").addEventListener("keydown", (event) => { if (event.key === "Enter" && event.ctrlKey) $("#answers button").focus(); });
    const undo = () => this.undo();
    const keys = [...ANSWER_KEYS, ...DIGITS].map((key) => [key, () => this.press(key)]);
    listen({ ...Object.fromEntries(keys), Backspace: undo, z: undo, h: openHelp, F1: openHelp });
    const banner = offlineBanner($("#banners"), () => this.outbox.tryNow());
    this.outbox = new Outbox("", banner);
    const person = await this.outbox.persist(session);
    this.name = `${here === "review" ? "" : `${here}:`}${person.name}:${desk}`;
    this.outbox = new Outbox(this.name, banner);
    this.drafts = new Drafts(this.name);
    this.outbox.refused = (error) => this.showError(error);
    masthead({ person, desk, here });
    const { sent, errors } = await this.outbox.flush();
    const error = errors.find(({ status }) => status === 401) ?? errors[0];
    if (error && !this.showError(error)) return;
    if (sent) {
      this.pending = `${count(sent, "saved answer")} sent.`;
      this.last.say(this.pending, "good");
    }
    await this.page.next();
  }

  /** Asks in this way from now on: question, help and answers. */
  setAsk(ask, inShares = false) {
    if (this.asks === ask && this.inShares === inShares) return;
    this.asks = ask;
    this.inShares = inShares;
    this.question = showQuestion(ask, this.own, inShares);
    offerReasons(ask);
    this.help?.remove();
    this.help = this.page.help(ask, inShares);
    document.body.append(this.help);
    const ratings = el("div");
    this.ratings = ask === "ratings" ? new RatingsInput(ratings, (given) => this.answer("rated", given), (words) => announce($("#announcer"), words)) : null;
    show($("#answers"), this.ratings && ratings, answerButtons(ASKS[ask].names, (name) => this.answer(name)));
  }

  press(key) {
    const name = answerOf(key, ASKS[this.asks].names);
    if (name) return this.answer(name);
    if (this.isAnswerable) this.ratings?.press(key);
  }

  /** Shows what the service refused, or goes to signing in; returns whether the page stays. */
  showError(error) {
    this.erredAt = performance.now();
    if (error.status !== 401) showError($("#banners"), error);
    else goToSignIn(error.document.other ? "other" : "ended");
    return error.status !== 401;
  }

  work(on) {
    this.busy = on;
    $("#work").setAttribute("aria-busy", String(on));
    clearTimeout(this.timer);
    $("#waits")?.remove();
    if (on) this.timer = setTimeout(() => this.showSlow(), SLOW);
  }

  showSlow() {
    if (!this.busy || this.resting || this.outbox.isAway) return;
    $("#banners").append(el("p", { class: "banner plain", id: "waits" }, "Waiting for the service …"));
  }

  /** Puts a pair on the screen. */
  reveal(pair, words) {
    const again = this.undone !== null && isPairOf(pair, this.undone);
    this.current = pair;
    this.seen.add(likeness(pair));
    this.setAsk(pair.ask ?? "verdicts", pair.in_shares);
    this.ratings?.reset(pair.scale);
    this.rest(false);
    this.ask(true);
    showPair($("#pair"), $("#gap-place"), pair);
    scrollToTop($("#pair"));
    this.drafts.restore(pair.draft);
    this.announce(`${again ? `The same ${this.page.noun} again.` : words} ${pairInWords(pair)}`);
    this.started = new Date().toISOString();
    this.work(false);
    this.settle(again ? 0 : SETTLE);
  }

  settle(pause) {
    const { dataset } = $("#work");
    this.settled = pause === 0;
    delete dataset.settled;
    clearTimeout(this.settling);
    this.settling = setTimeout(() => { this.settled = true; dataset.settled = "yes"; }, pause);
  }

  /** Announces to screen readers what became of the last answer, then these words. */
  announce(words) {
    announce($("#announcer"), `${this.pending} ${words}`.trim());
    this.pending = "";
  }

  /** Shows or hides the question and the answers: there are buttons only while two people are there to judge. */
  ask(on) {
    $("#question").textContent = on ? this.question : this.page.title;
    for (const part of ["#remarks-place", "#intro-fold", "#answers"]) $(part).hidden = !on;
    $("#work").classList.toggle("empty", !on);
  }

  /** Shows the end of a session in place of a pair, or the pair again. The last answer stays visible, to be undone. */
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

  get isAnswerable() {
    return !this.busy && !this.resting && this.settled && this.current !== null;
  }

  /** ratings: of the left and the right person, with the answer "rated". */
  async answer(name, ratings = null) {
    if (!this.isAnswerable) return this.ratings?.reset(this.current?.scale ?? [1, 5]);
    this.work(true);
    this.page.answering();
    const pair = this.current;
    const key = pair.item.slice(-64);
    const remarks = readRemarks();
    const body = { item: pair.item, answer: name, ...(ratings && { ratings }), ...remarks, started: this.started, ended: new Date().toISOString() };
    const answer = { key, pair, name, ratings, remarks, at: performance.now() };
    this.answers.push(answer);
    const sent = this.outbox.send("POST", deskPath(this.page.desk, this.page.path), body, key);
    this.drafts.drop(pair.draft);
    if (!recall(INTRO_READ)) {
      keep(INTRO_READ, "yes");
      foldIntro();
    }
    sent.then((response) => this.recorded(answer, response), (error) => this.refused(error, answer));
    await Promise.race([sent.catch(() => null), this.outbox.away()]);
    if (this.outbox.isAway && this.busy && this.current === pair) this.continueOffline(answer);
  }

  /** The service has an answer. A reviewer who continued offline keeps the pair on the screen. */
  recorded(answer, response) {
    answer.review = response.review;
    if (answer.at > this.erredAt) clearError($("#banners"));
    this.showAnswer(answer, `Why you were asked: ${response.why}`);
    if (this.busy && !this.unsent) return this.page.accept(response.next);
    this.countUnsent(response.next);
    if (!this.busy) this.announce("");
  }

  get unsent() {
    return this.answers.filter((one) => one.review === undefined).length;
  }

  countUnsent(response = null) {
    this.page.countUnsent(this.unsent, response);
  }

  continueOffline(answer) {
    const pair = this.page.ahead((one) => !this.seen.has(likeness(one)));
    this.countUnsent();
    this.showAnswer(answer, "It is saved in this browser until the service is back.", "Saved");
    if (pair) return this.reveal(pair, "The service is unreachable. Next pair.");
    this.ask(false);
    show($("#pair"), el("p", { class: "card flat", id: "none-at-hand" }, NO_PAIR));
    show($("#gap-place"));
    this.announce(NO_PAIR);
  }

  showAnswer({ name, ratings }, more, state = "Recorded") {
    this.pending = `${state}: ${past(name, ratings)}.`;
    this.last.offer(this.pending, more);
  }

  /** Makes the last answer of an earlier visit undoable. */
  restoreLast(last) {
    if (!last || this.answers.length) return;
    const { review, answer, ratings, reason, note } = last;
    this.answers = [{ review, name: answer, ratings, pair: null, remarks: { reason, note } }];
    if (this.undone === null) this.last.offer(`${this.last.words} Your last answer: ${past(answer, ratings)}.`.trim());
  }

  async undo() {
    if (this.ratings?.isHalfGiven && this.isAnswerable) return this.ratings.reset(this.current.scale);
    const last = this.answers.at(-1);
    if (last === undefined) return this.busy || this.nothingToUndo();
    if (last.review === undefined) return this.undoUnsent(last);
    if (this.busy) return;
    this.work(true);
    try {
      await this.outbox.send("DELETE", deskPath(this.page.desk, `/reviews/${encodeURIComponent(last.review)}`), undefined, `undo-${last.review}`);
      this.answers.pop();
      clearError($("#banners"));
      this.pending = UNDONE;
      this.undone = last;
      this.last.say(UNDONE);
      await this.page.next();
      const { noun } = this.page;
      this.last.say(`${UNDONE} ${this.restoreRemarks(last) ? `Here is the ${noun} again.` : `That ${noun} is not available now.`}`);
    } catch (error) {
      await this.refused(error, null);
    } finally {
      this.undone = null;
    }
  }

  nothingToUndo() {
    const words = `Nothing to undo: ${this.page.nothing}`;
    this.last.say(words);
    announce($("#announcer"), words);
  }

  /** An unsent answer is not sent; one that is being sent may have arrived already. */
  undoUnsent(last) {
    if (!this.outbox.isAway) return;
    if (!this.outbox.drop(last.key)) {
      this.showAnswer(last, SENDING, "Saved");
      return this.announce(SENDING);
    }
    this.answers.pop();
    this.countUnsent();
    this.pending = UNDONE;
    this.last.say(`${UNDONE} Here is the ${this.page.noun} again.`);
    this.undone = last;
    this.reveal(last.pair, "");
    this.undone = null;
    this.drafts.refill(last.pair.draft, last.remarks);
  }

  /** Refills the remarks of an undone answer if its pair is on the screen again; returns whether it is. */
  restoreRemarks(last) {
    const same = this.current !== null && isPairOf(this.current, last);
    if (same) this.drafts.refill(this.current.draft, last.remarks);
    return same;
  }

  /** Shows why the service refused a request, and continues if possible. */
  async refused(error, answer) {
    this.answers = this.answers.filter((one) => one !== answer);
    this.countUnsent();
    if (!(error instanceof Refused)) throw error;
    if (!this.showError(error)) return;
    if (!this.busy || this.unsent) return;
    if (error.status === 409 || error.status === 422) await this.page.next();
    else {
      this.ratings?.reset(this.current.scale);
      this.work(false);
    }
  }

  /** The page cannot be used at all. */
  fail(error, parts) {
    showError($("#banners"), error, this.page.desk);
    $("#question").textContent = this.page.title;
    for (const part of ["#work", "#open-help", ...parts]) $(part).hidden = true;
  }
}

/** The long question is folded once it was read. */
function foldIntro() {
  if (recall(INTRO_READ)) $("#intro-fold").open = false;
}

/** Whether a pair is that of an answer: by the service's word, or else by its looks. */
function isPairOf(pair, answer) {
  if (pair.again_of && answer.review) return pair.again_of === answer.review;
  return answer.pair !== null && likeness(pair) === likeness(answer.pair);
}
