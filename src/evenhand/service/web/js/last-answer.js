// What became of the last answer, and the undo button. It is below the answers, or at the end of a session.

import { $, el, show } from "./dom.js";

export class LastAnswer {
  constructor(undo) {
    this.element = $("#after");
    this.undo = undo;
  }

  get words() {
    return this.element.textContent;
  }

  /** A message without undo. */
  say(words, kind = "plain") {
    this.put(el("p", { class: `banner ${kind}`, id: "last" }, words));
  }

  /** The answer, why it was asked for, and undo. */
  offer(words, more = "") {
    this.put(el("div", { class: "banner plain", id: "last" },
      el("p", {}, el("b", {}, words), " ", el("span", { class: "muted", id: "why" }, more)),
      more && this.moreButton(),
      el("button", { class: "button small", type: "button", id: "undo", "aria-keyshortcuts": "Backspace z", onclick: this.undo },
        "Undo ", el("kbd", { "aria-hidden": "true" }, "Backspace"))));
  }

  /** Shown on phones only, where the rest is hidden at first. */
  moreButton() {
    const open = ({ currentTarget }) => currentTarget.setAttribute("aria-expanded", String($("#last").classList.toggle("whole")));
    return el("button", { class: "button quiet small", type: "button", id: "more", "aria-expanded": "false", "aria-controls": "why", onclick: open }, "More");
  }

  /** Keeps the focus when a focused button is replaced. */
  put(content) {
    const focused = this.element.contains(document.activeElement);
    show(this.element, content);
    if (focused) ($("#undo", this.element) ?? $("#question")).focus();
  }

  moveTo(place) {
    if (this.element.parentElement !== place) place.append(this.element); // moving it would lose the focus
  }
}
