// What could not be sent yet. Kept in this browser until the service has it, so that a closed laptop loses nothing.
//
// Every entry carries an idempotency key: sending it twice does nothing twice.

import { call, Refused, Unreachable } from "./api.js";

const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 15000;

export class Outbox {
  /** name: one outbox a person and desk. tell({waiting, reachable, sentence}) is called whenever that changes. */
  constructor(name, tell) {
    this.place = `evenhand-outbox:${name}`;
    this.tell = tell;
    this.pause = FIRST_PAUSE;
    this.timer = null;
    this.memory = [];
    this.wakers = [];
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

  /** Sends a request, however long that takes, and gives its answer; kept until it is answered. */
  async send(method, path, body, key) {
    const entry = { method, path, body, key };
    this.entries = [...this.entries, entry];
    return this.deliver(entry);
  }

  /** Sends whatever an earlier visit left; gives the refusals, for they must be told. */
  async flush() {
    const refusals = [];
    for (const entry of this.entries) {
      try {
        await this.deliver(entry);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        refusals.push(error);
      }
    }
    return refusals;
  }

  async deliver(entry) {
    for (;;) {
      try {
        const answer = await call(entry.method, entry.path, entry.body, { "Idempotency-Key": entry.key });
        this.done(entry);
        return answer;
      } catch (error) {
        if (error instanceof Refused && error.status !== 401) this.done(entry);
        if (!(error instanceof Unreachable)) throw error;
        this.tell({ waiting: this.entries.length, reachable: false, sentence: error.message });
        await this.rest(error.after);
      }
    }
  }

  done(entry) {
    this.entries = this.entries.filter((other) => other.key !== entry.key);
    this.pause = FIRST_PAUSE;
    this.tell({ waiting: this.entries.length, reachable: true, sentence: "" });
  }

  /** Repeats a request that changes nothing until it is answered. */
  async persist(attempt) {
    for (;;) {
      try {
        const answer = await attempt();
        this.pause = FIRST_PAUSE;
        this.tell({ waiting: this.entries.length, reachable: true, sentence: "" });
        return answer;
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        this.tell({ waiting: this.entries.length, reachable: false, sentence: error.message });
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
