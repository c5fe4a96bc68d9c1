// Reasons and notes that were begun, kept in this browser for each pair until it is answered.

import { $ } from "./dom.js";

const MOST = 20;

export class Drafts {
  /** name: one place a person and desk. */
  constructor(name) {
    this.place = `evenhand-drafts:${name}`;
  }

  get all() {
    try {
      return JSON.parse(localStorage.getItem(this.place)) ?? [];
    } catch {
      return [];
    }
  }

  set all(drafts) {
    try {
      if (drafts.length) localStorage.setItem(this.place, JSON.stringify(drafts.slice(-MOST)));
      else localStorage.removeItem(this.place);
    } catch {
      // Then only the page remembers.
    }
  }

  /** What stands in the fields now is kept for this pair. */
  keep(id) {
    const [reason, note] = ["#reason", "#note"].map((field) => $(field).value);
    this.all = [...this.all.filter((one) => one.id !== id), ...(reason || note ? [{ id, reason, note }] : [])];
  }

  /** The fields as they were left for this pair, or empty. */
  restore(id) {
    fill(this.all.find((one) => one.id === id) ?? {});
  }

  /** What went with an answer that was taken back stands in the fields again. */
  refill(id, remarks) {
    fill(remarks);
    this.keep(id);
  }

  drop(id) {
    this.all = this.all.filter((one) => one.id !== id);
  }
}

function fill({ reason, note }) {
  $("#reason").value = reason ?? "";
  $("#note").value = note ?? "";
  if (reason || note) $("#remarks").open = true;
}
