// Requests that were not sent yet, kept in this browser in order: closing the page loses nothing.
//
// Every entry has an idempotency key: sending it twice, even from two tabs, records it once.

import { call, Refused, Unreachable } from "./api.js";
import { keepValue, recallValue } from "./storage.js";

const PLACE = "evenhand-outbox:";
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 15000;

export class Outbox {
  /** name: one outbox per person and desk. changed({waiting, reachable, sentence}) is called on every change. */
  constructor(name, changed) {
    this.place = PLACE + name;
    this.changed = changed;
    this.pause = FIRST_PAUSE;
    this.wakers = [];
    this.waiters = new Map(); // by key: the promise of an entry that this tab sent
    this.isAway = false;
    this.sentence = ""; // why the service is unreachable
    this.leavers = [];
    this.trying = null;
    this.running = null;
    this.kept = new Set(); // keys of entries that are not retried before the next visit
    this.refused = () => {}; // called with the errors of entries that other tabs left
    window.addEventListener("online", () => this.tryNow());
  }

  get entries() {
    return recallValue(this.place) ?? [];
  }

  set entries(entries) {
    keepValue(this.place, entries.length ? entries : null);
  }

  /** Sends a request after all earlier ones, however long that takes; returns its response. */
  send(method, path, body, key) {
    const entry = { method, path, body, key };
    this.kept.delete(key);
    this.entries = [...this.entries.filter((other) => other.key !== key), entry];
    const response = new Promise((resolve, reject) => { this.waiters.set(key, { entry, resolve, reject }); });
    if (this.isAway) this.count();
    this.run();
    return response;
  }

  /** Entries that no open tab waits for, as far as this one knows. */
  get orphans() {
    return this.entries.filter((entry) => !this.waiters.has(entry.key) && !this.kept.has(entry.key));
  }

  /** Sends what an earlier visit left; returns the number of answers sent, and the errors. */
  async flush() {
    const errors = [];
    const left = this.orphans.map((entry) => [isAnswer(entry), new Promise((resolve, reject) => { this.waiters.set(entry.key, { entry, resolve, reject }); })]);
    let sent = 0;
    this.run();
    for (const [counts, response] of left) await response.then(() => { sent += counts; }, (error) => errors.push(error));
    return { sent, errors };
  }

  /** Removes an entry that has not been tried yet; returns whether that was possible. */
  drop(key) {
    if (this.trying === key || !this.entries.some((entry) => entry.key === key)) return false;
    this.entries = this.entries.filter((entry) => entry.key !== key);
    this.waiters.delete(key);
    this.count();
    return true;
  }

  /** Resolves as soon as the service is unreachable. */
  away() {
    return this.isAway ? Promise.resolve() : new Promise((resolve) => { this.leavers.push(resolve); });
  }

  run() {
    this.running ??= this.deliver().finally(() => { this.running = null; if (this.waiters.size) this.run(); });
  }

  async deliver() {
    for (;;) {
      // An entry that another tab has sent is sent again, to get its response here too.
      const entry = this.entries.find((one) => this.waiters.has(one.key)) ?? this.waiters.values().next().value?.entry;
      if (!entry) return;
      this.trying = entry.key;
      await this.attempt(entry);
    }
  }

  async attempt(entry) {
    try {
      const response = await alone(this.place, () => call(entry.method, entry.path, entry.body, { "Idempotency-Key": entry.key }));
      this.done(entry, "resolve", response);
    } catch (error) {
      if (!(error instanceof Unreachable)) return this.done(entry, "reject", error);
      this.left(error);
      await this.rest(error.after);
    }
  }

  done(entry, how, what) {
    // Signed out, or an internal error: the entry is sent after signing in, or with the next visit.
    if (what instanceof Refused && (what.status === 401 || what.status >= 500)) this.kept.add(entry.key);
    else this.entries = this.entries.filter((other) => other.key !== entry.key);
    const waiter = this.waiters.get(entry.key);
    this.waiters.delete(entry.key);
    this.trying = null;
    this.returned();
    waiter?.[how](what);
  }

  left(error) {
    this.isAway = true;
    this.sentence = error.message;
    for (const leave of this.leavers.splice(0)) leave();
    this.count();
  }

  count() {
    this.changed({ waiting: this.entries.filter(isAnswer).length, reachable: false, sentence: this.sentence });
  }

  returned() {
    this.pause = FIRST_PAUSE;
    if (this.isAway && this.orphans.length) this.flush().then(({ errors }) => errors.forEach((error) => this.refused(error)));
    if (this.isAway && this.waiters.size) return; // it is back once everything was sent, also for closed tabs
    this.isAway = false;
    this.changed({ waiting: 0, reachable: true, sentence: "" });
  }

  /** Repeats a read until it succeeds. */
  async persist(attempt) {
    for (;;) {
      try {
        const response = await attempt();
        this.returned();
        return response;
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        this.left(error);
        await this.rest(error.after);
      }
    }
  }

  rest(after) {
    const pause = Math.max(this.pause, (after ?? 0) * 1000);
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
    return new Promise((resolve) => {
      const wake = () => { clearTimeout(timer); resolve(); };
      const timer = setTimeout(wake, pause);
      this.wakers.push(wake);
    });
  }

  tryNow() {
    for (const wake of this.wakers.splice(0)) wake();
  }
}

/** Whether an entry is an answer, not an undo. */
const isAnswer = (entry) => entry.method === "POST";

/** The number of answers kept in this browser, of all people and desks. */
export function keptAnswers() {
  try {
    const places = Object.keys(localStorage).filter((place) => place.startsWith(PLACE));
    return places.reduce((sum, place) => sum + JSON.parse(localStorage.getItem(place)).filter(isAnswer).length, 0);
  } catch {
    return 0;
  }
}

/** One tab at a time sends, which keeps the order; without locks the idempotency keys keep it harmless. */
function alone(name, attempt) {
  return navigator.locks ? navigator.locks.request(name, attempt) : attempt();
}
