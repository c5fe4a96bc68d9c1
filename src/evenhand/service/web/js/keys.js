// Keys of a page: one letter each, off while somebody types, and off altogether if they like.

const KEPT = "evenhand-keys";

export function keysAreOn() {
  try {
    return localStorage.getItem(KEPT) !== "off";
  } catch {
    return true;
  }
}

export function switchKeys(on) {
  try {
    localStorage.setItem(KEPT, on ? "on" : "off");
  } catch {
    // It then holds until the page is left.
  }
}

/** Calls handlers[key] when the key is pressed; keys are as KeyboardEvent.key has them, letters in lower case. */
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
