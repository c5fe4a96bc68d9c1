// Keyboard shortcuts: single letters, inactive while somebody types, and can be disabled.

import { keep, recall } from "./storage.js";

const PLACE = "evenhand-keys";

export const keysAreOn = () => recall(PLACE) !== "off";
export const switchKeys = (on) => keep(PLACE, on ? "on" : "off");

/** Calls handlers[key] when the key is pressed; keys as in KeyboardEvent.key, letters in lower case. */
export function listen(handlers) {
  document.addEventListener("keydown", (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!(key in handlers) || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.repeat || isTyping(event.target) || document.querySelector("dialog[open]")) return;
    if (key !== "F1" && !keysAreOn()) return;
    event.preventDefault();
    handlers[key](event);
  });
}

function isTyping(target) {
  return target instanceof HTMLElement
    && (target.isContentEditable || (["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) && target.type !== "checkbox"));
}
