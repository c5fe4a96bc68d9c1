// Tables that are wider than the window: a line says where they go on, for a shadow alone is easily overlooked.

import { el } from "./dom.js";

const RIGHT = "The table goes on to the right →";
const LEFT = "← The table goes on to the left"; // at its right end

/** A frame around a table; it can be scrolled by keyboard, and says so where there is more than one sees. */
export function tableFrame(label, table, kind = "") {
  const hint = el("span", { class: "goes-on", hidden: true }, RIGHT);
  const frame = el("div", { class: `table-frame ${kind}`.trim(), tabindex: "0", role: "region", "aria-label": label }, hint, table);
  const look = () => {
    hint.hidden = frame.scrollWidth <= frame.clientWidth + 1;
    const words = frame.scrollLeft + frame.clientWidth < frame.scrollWidth - 1 ? RIGHT : LEFT;
    if (hint.textContent !== words) hint.textContent = words;
  };
  frame.addEventListener("scroll", look, { passive: true });
  const watch = new ResizeObserver(() => requestAnimationFrame(look));
  watch.observe(frame);
  watch.observe(table);
  return frame;
}
