// Pairs in reserve: to continue with while the service is unreachable, and to notice new pairs when none were left.

import { call, deskPath } from "./api.js";

const QUIET = 400; // milliseconds after an answer: fetching the reserve must not delay the next one
const POLL = 15000; // milliseconds between polls for new pairs

const fetchAhead = (desk) => call("GET", deskPath(desk, "/review/ahead")).catch(() => null);

export class Reserve {
  constructor(desk) {
    this.desk = desk;
    this.pairs = [];
    this.timer = null;
  }

  /** Soon replaces the reserve; older pairs may have been answered since. */
  refresh() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => { this.pairs = (await fetchAhead(this.desk))?.ahead ?? this.pairs; }, QUIET);
  }

  hold() {
    clearTimeout(this.timer);
  }

  /** The next pair that fits: one fetched just before the service went away may have been shown since. */
  take(fits) {
    this.hold();
    while (this.pairs.length && !fits(this.pairs[0])) this.pairs.shift();
    return this.pairs.shift() ?? null;
  }
}

/** Polls while the page is visible; found(response) is called once when pairs are waiting. Polling leases nothing. */
export class NewPairs {
  constructor(desk, found) {
    this.desk = desk;
    this.found = found;
    this.timer = null;
    document.addEventListener("visibilitychange", () => { if (this.timer !== null) this.poll(); });
  }

  start() {
    this.stop();
    this.timer = setInterval(() => this.poll(), POLL);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
  }

  async poll() {
    if (document.hidden) return;
    const response = await fetchAhead(this.desk);
    if (!response?.ahead.length || this.timer === null) return;
    this.stop();
    this.found(response);
  }
}
