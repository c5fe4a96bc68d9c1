// At the end of what waits: looks now and then, while somebody may be looking, whether new pairs have come.

import { call, deskPath } from "./api.js";

const PAUSE = 15000; // milliseconds between two looks

export class Lookout {
  /** found(told) is called once when pairs have come. Looking takes none of them: they are kept for nobody by it. */
  constructor(desk, found) {
    this.desk = desk;
    this.found = found;
    this.timer = null;
    document.addEventListener("visibilitychange", () => { if (this.timer !== null) this.look(); });
  }

  begin() {
    this.end();
    this.timer = setInterval(() => this.look(), PAUSE);
  }

  end() {
    clearInterval(this.timer);
    this.timer = null;
  }

  async look() {
    if (document.hidden) return;
    const told = await call("GET", deskPath(this.desk, "/review/ahead")).catch(() => null); // it is quiet: the next look may do better
    if (!told?.ahead.length || this.timer === null) return;
    this.end();
    this.found(told);
  }
}
