// What became of the last answer, and the way to take it back. It stands below the answers, or at the end of a session.

import { $, el, show } from "./dom.js";

export class LastAnswer {
  constructor(undo) {
    this.element = $("#after");
    this.undo = undo;
  }

  get words() {
    return this.element.textContent;
  }

  /** A sentence that takes nothing back. */
  say(words, kind = "plain") {
    this.put(el("p", { class: `banner ${kind}`, id: "last" }, words));
  }

  /** What was answered, why it was asked, and the button. */
  offer(words, more = "") {
    this.put(el("div", { class: "banner plain", id: "last" },
      el("p", {}, el("b", {}, words), " ", el("span", { class: "muted", id: "why" }, more)),
      more && this.opener(),
      el("button", { class: "button small", type: "button", id: "undo", "aria-keyshortcuts": "Backspace z", onclick: this.undo },
        "Undo ", el("kbd", { "aria-hidden": "true" }, "Backspace"))));
  }

  /** On a telephone the rest is there when it is asked for; elsewhere it is always, and this is not. */
  opener() {
    const open = ({ currentTarget }) => currentTarget.setAttribute("aria-expanded", String($("#last").classList.toggle("whole")));
    return el("button", { class: "button quiet small", type: "button", id: "more", "aria-expanded": "false", "aria-controls": "why", onclick: open }, "More");
  }

  /** Whoever stood on a button that goes is not left nowhere. */
  put(content) {
    const focused = this.element.contains(document.activeElement);
    show(this.element, content);
    if (focused) ($("#undo", this.element) ?? $("#question")).focus();
  }

  moveTo(place) {
    if (this.element.parentElement !== place) place.append(this.element); // put in anew, it would lose the focus
  }
}
