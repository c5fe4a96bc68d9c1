// The help dialog: what is asked, what each answer means, the keys, and a switch to turn the keys off.

import { el } from "./dom.js";
import { keysAreOn, switchKeys } from "./keys.js";

/** A dialog with sections {heading, parts} and a list of keys [[keys, meaning], ...]; open it with showModal(). */
export function helpDialog(title, sections, keys) {
  const heading = el("h2", { id: "help-title", tabindex: "-1" }, title);
  const box = el("input", { type: "checkbox", id: "keys-on", onchange: (event) => switchKeys(event.target.checked) });
  box.checked = keysAreOn();
  const list = el("dl", { class: "keys" }, keys.map(([names, meaning]) => [
    el("dt", {}, names.map((name, i) => [i ? " or " : "", el("kbd", {}, name)]).flat()), el("dd", {}, meaning),
  ]).flat());
  const dialog = el(
    "dialog", { class: "dialog stack", "aria-labelledby": "help-title", id: "help" },
    el("div", { class: "dialog-head row between" }, heading,
      el("form", { method: "dialog" }, el("button", { class: "button small" }, "Close"))),
    sections.map(({ heading: name, parts }) => [el("h3", {}, name), ...parts]).flat(),
    el("h3", {}, "Keys"), list,
    el("label", { class: "check" }, box, "Answer with single keys"),
  );
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "F1" || (event.key === "h" && event.target !== box)) { event.preventDefault(); dialog.close(); }
  });
  return dialog;
}
