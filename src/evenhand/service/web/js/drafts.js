// Unsent reasons and notes, kept in this browser for each pair until it is answered.

import { $ } from "./dom.js";
import { keepValue, recallValue } from "./storage.js";

const MOST = 20;

export class Drafts {
  /** name: one set of drafts per person and desk. */
  constructor(name) {
    this.place = `evenhand-drafts:${name}`;
  }

  get all() {
    return recallValue(this.place) ?? [];
  }

  set all(drafts) {
    keepValue(this.place, drafts.length ? drafts.slice(-MOST) : null);
  }

  /** Keeps what is in the fields for this pair. */
  keep(id) {
    const [reason, note] = ["#reason", "#note"].map((field) => $(field).value);
    this.all = [...this.all.filter((one) => one.id !== id), ...(reason || note ? [{ id, reason, note }] : [])];
  }

  /** Fills the fields with this pair's draft, or empties them. */
  restore(id) {
    fill(this.all.find((one) => one.id === id) ?? {});
  }

  /** Puts the remarks of an undone answer back into the fields. */
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
