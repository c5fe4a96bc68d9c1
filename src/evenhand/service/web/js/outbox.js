// What could not be sent yet. Kept in this browser, in order, until the service has it: a closed laptop loses nothing.
//
// Every entry carries an idempotency key: sending it twice, from two windows even, does nothing twice.

import { call, Refused, Unreachable } from "./api.js";

const PLACE = "evenhand-outbox:";
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 15000;

export class Outbox {
  /** name: one outbox a person and desk. tell({waiting, reachable, sentence}) is called whenever that changes. */
  constructor(name, tell) {
    this.place = PLACE + name;
    this.tell = tell;
    this.pause = FIRST_PAUSE;
    this.memory = [];
    this.wakers = [];
    this.waiters = new Map(); // by key: what to do with the answer to what this window sent
    this.isAway = false;
    this.sentence = ""; // why the service is away
    this.leavers = [];
    this.trying = null;
    this.running = null;
    this.kept = new Set(); // keys of what was refused for now, and is not tried again before the next visit
    this.refused = () => {}; // told what the service would not take of what another window had left
    window.addEventListener("online", () => this.tryNow());
  }

  get entries() {
    try {
      return JSON.parse(localStorage.getItem(this.place) ?? "[]");
    } catch {
      return this.memory;
    }
  }

  set entries(entries) {
    this.memory = entries;
    try {
      if (entries.length) localStorage.setItem(this.place, JSON.stringify(entries));
      else localStorage.removeItem(this.place);
    } catch {
      // Storage is full or switched off: what waits is lost only if this page is closed.
    }
  }

  /** Keeps a request and sends it after those that wait already, however long that takes; gives its answer. */
  send(method, path, body, key) {
    const entry = { method, path, body, key };
    this.kept.delete(key);
    this.entries = [...this.entries.filter((other) => other.key !== key), entry];
    const answer = new Promise((resolve, reject) => { this.waiters.set(key, { entry, resolve, reject }); });
    if (this.isAway) this.count();
    this.run();
    return answer;
  }

  /** What no window that is open waits for, as far as this one knows. */
  get orphans() {
    return this.entries.filter((entry) => !this.waiters.has(entry.key) && !this.kept.has(entry.key));
  }

  /** Sends whatever an earlier visit left; gives how many answers went, and the refusals, for both must be told. */
  async flush() {
    const refusals = [];
    const left = this.orphans.map((entry) => [isAnswer(entry), new Promise((resolve, reject) => { this.waiters.set(entry.key, { entry, resolve, reject }); })]);
    let sent = 0;
    this.run();
    for (const [counts, answer] of left) await answer.then(() => { sent += counts; }, (error) => refusals.push(error));
    return { sent, refusals };
  }

  /** Takes back what has not been tried yet; whether that was possible. */
  drop(key) {
    if (this.trying === key || !this.entries.some((entry) => entry.key === key)) return false;
    this.entries = this.entries.filter((entry) => entry.key !== key);
    this.waiters.delete(key);
    this.count();
    return true;
  }

  /** Resolves as soon as the service turns out to be away. */
  away() {
    return this.isAway ? Promise.resolve() : new Promise((resolve) => { this.leavers.push(resolve); });
  }

  run() {
    this.running ??= this.deliver().finally(() => { this.running = null; if (this.waiters.size) this.run(); });
  }

  async deliver() {
    for (;;) {
      // What another window has sent meanwhile is sent again, to have its answer here too.
      const entry = this.entries.find((one) => this.waiters.has(one.key)) ?? this.waiters.values().next().value?.entry;
      if (!entry) return;
      this.trying = entry.key;
      await this.attempt(entry);
    }
  }

  async attempt(entry) {
    try {
      const answer = await alone(this.place, () => call(entry.method, entry.path, entry.body, { "Idempotency-Key": entry.key }));
      this.done(entry, "resolve", answer);
    } catch (error) {
      if (!(error instanceof Unreachable)) return this.done(entry, "reject", error);
      this.left(error);
      await this.rest(error.after);
    }
  }

  done(entry, how, what) {
    // Signed out, or an error of the service's own: it stays here, to be sent after signing in, or with the next visit.
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

  /** Tells how many answers wait while the service is away. */
  count() {
    this.tell({ waiting: this.entries.filter(isAnswer).length, reachable: false, sentence: this.sentence });
  }

  returned() {
    this.pause = FIRST_PAUSE;
    if (this.isAway && this.orphans.length) this.flush().then(({ refusals }) => refusals.forEach((error) => this.refused(error)));
    if (this.isAway && this.waiters.size) return; // it is back when it has everything, also of windows closed meanwhile
    this.isAway = false;
    this.tell({ waiting: 0, reachable: true, sentence: "" });
  }

  /** Repeats a request that changes nothing until it is answered. */
  async persist(attempt) {
    for (;;) {
      try {
        const answer = await attempt();
        this.returned();
        return answer;
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

/** Whether an entry is an answer, not one that is taken back. */
const isAnswer = (entry) => entry.method === "POST";

/** How many answers are kept in this browser, whoever gave them and on whatever desk. */
export function keptAnswers() {
  try {
    const places = Object.keys(localStorage).filter((place) => place.startsWith(PLACE));
    return places.reduce((sum, place) => sum + JSON.parse(localStorage.getItem(place)).filter(isAnswer).length, 0);
  } catch {
    return 0;
  }
}

/** One window at a time sends, so that the order is kept; where a browser has no locks, keys keep it harmless. */
function alone(name, attempt) {
  return navigator.locks ? navigator.locks.request(name, attempt) : attempt();
}
