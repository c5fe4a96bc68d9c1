// What the pages keep in this browser, or in memory where storage is disabled or full.

const memory = new Map();

/** The text kept under a name, or null. store: "localStorage", or "sessionStorage" for this tab only. */
export function recall(name, store = "localStorage") {
  if (memory.has(name)) return memory.get(name);
  try {
    return window[store].getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a text under a name; null removes it. */
export function keep(name, text, store = "localStorage") {
  memory.delete(name);
  try {
    if (text === null) window[store].removeItem(name);
    else window[store].setItem(name, text);
  } catch {
    memory.set(name, text);
  }
}

/** The same for values as JSON. */
export function recallValue(name, store) {
  try {
    return JSON.parse(recall(name, store));
  } catch {
    return null;
  }
}

export const keepValue = (name, value, store) => keep(name, value === null ? null : JSON.stringify(value), store);
