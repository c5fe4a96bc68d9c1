// Pairs at hand for when the service is away: fetched in the quiet after each answer, used only then.

import { call, deskPath } from "./api.js";

const QUIET = 400; // milliseconds: whoever answers quickly is not held up by it

export class Stock {
  constructor(desk) {
    this.desk = desk;
    this.pairs = [];
    this.timer = null;
  }

  /** Soon asks for pairs anew; what was at hand before may have been answered since. */
  refresh() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      try {
        const { ahead } = await call("GET", deskPath(this.desk, "/review/ahead"));
        this.pairs = ahead;
      } catch {
        // It is for then that there is a stock.
      }
    }, QUIET);
  }

  /** An answer is being given, which nothing is to hold up: the asking waits until the next pair is there. */
  wait() {
    clearTimeout(this.timer);
  }

  /** The next pair at hand that fits: one that came just before the service went may have been seen since. */
  take(fits) {
    this.wait();
    while (this.pairs.length && !fits(this.pairs[0])) this.pairs.shift();
    return this.pairs.shift() ?? null;
  }
}
