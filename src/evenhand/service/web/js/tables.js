// Tables: frames for wide ones, and rows that keep their identity across updates.

import { el } from "./dom.js";

const RIGHT = "Scroll right for more →";
const LEFT = "← Scroll left for more"; // at the right end

/** A frame around a table that scrolls by keyboard, with a hint where part of the table is out of sight. */
export function tableFrame(label, table, kind = "") {
  const hint = el("span", { class: "goes-on", hidden: true }, RIGHT);
  const frame = el("div", { class: `table-frame ${kind}`.trim(), tabindex: "0", role: "region", "aria-label": label }, hint, table);
  const update = () => {
    hint.hidden = frame.scrollWidth <= frame.clientWidth + 1;
    const words = frame.scrollLeft + frame.clientWidth < frame.scrollWidth - 1 ? RIGHT : LEFT;
    if (hint.textContent !== words) hint.textContent = words;
  };
  frame.addEventListener("scroll", update, { passive: true });
  const observer = new ResizeObserver(() => requestAnimationFrame(update));
  observer.observe(frame);
  observer.observe(table);
  return frame;
}

/** A function that shows records as rows of a table body: keyOf(record) identifies a row, draw(record) creates it.
 * Unchanged rows stay the same elements, so that focus, clicks and selections survive updates. */
export function liveRows(body, keyOf, draw) {
  let shown = new Map(); // by key: {text, row}
  return (records) => {
    const next = new Map(records.map((record) => {
      const [key, text] = [keyOf(record), JSON.stringify(record)];
      const before = shown.get(key);
      return [key, { text, row: before === undefined ? draw(record) : text === before.text ? before.row : updated(before.row, draw(record)) }];
    }));
    for (const [key, { row }] of shown) {
      if (next.has(key)) continue;
      // A focused row stays, at the end, until it loses focus.
      if (row.contains(document.activeElement)) next.set(key, shown.get(key));
      else row.remove();
    }
    reorder(body, [...next.values()].map(({ row }) => row));
    shown = next;
  };
}

/** The same row with its changed cells replaced. */
function updated(row, fresh) {
  [...fresh.cells].forEach((cell, i) => { if (!row.cells[i].isEqualNode(cell)) row.cells[i].replaceWith(cell); });
  return row;
}

function reorder(body, rows) {
  let at = body.firstElementChild;
  for (const row of rows) {
    if (row === at) at = at.nextElementSibling;
    else body.insertBefore(row, at);
  }
}
