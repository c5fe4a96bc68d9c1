// Where the bars stood when somebody first looked at a desk in this tab. It is kept while they go to the reviews and come
// back, so that they see what their answers did; after a day it begins anew.

const DAY = 24 * 3600 * 1000;

/** What is kept for one person and desk. */
export class Baseline {
  constructor(name) {
    this.place = `evenhand-baseline:${name}`;
    this.kept = null;
  }

  /** {at: when, values: a Map by feature} to compare these effects with: what was kept, or from now on themselves. */
  of(effects, state) {
    this.kept ??= this.#read();
    if (!this.#fits(effects, state)) this.begin(effects, state);
    return { at: this.kept.at, values: new Map(Object.entries(this.kept.values)) };
  }

  /** From now on it is compared with these. */
  begin(effects, state) {
    this.kept = { at: Date.now(), state, values: Object.fromEntries(effects.map(({ name, value }) => [name, value])) };
    try {
      sessionStorage.setItem(this.place, JSON.stringify(this.kept));
    } catch {
      // Then only this page remembers.
    }
  }

  #read() {
    try {
      return JSON.parse(sessionStorage.getItem(this.place));
    } catch {
      return null;
    }
  }

  /** Whether what was kept is of this desk's features, not of a later state (of another desk, then), and not too old. */
  #fits(effects, state) {
    if (!this.kept || Date.now() - this.kept.at > DAY || this.kept.state > state) return false;
    return effects.length === Object.keys(this.kept.values).length && effects.every(({ name }) => Object.hasOwn(this.kept.values, name));
  }
}
