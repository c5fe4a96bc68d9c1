// A long list cut short, with a button that shows all of it.

import { el } from "../dom.js";

/** Of more than `most` things `n` are shown, those that pick(all, n) takes, until somebody asks for all; then redraw() is
 * called. {of(all): what to show, button: to be put below}. */
export function shortened(most, n, name, pick, redraw) {
  let whole = false;
  const button = el("button", { class: "button small", type: "button", hidden: true, "aria-expanded": "false" });
  const label = (all) => {
    button.hidden = all.length <= most;
    button.textContent = whole ? `Show fewer ${name}` : `Show all ${all.length} ${name}`;
    button.setAttribute("aria-expanded", String(whole));
  };
  button.addEventListener("click", () => { whole = !whole; redraw(); });
  return {
    button,
    of(all) {
      label(all);
      return whole || all.length <= most ? all : pick(all, n);
    },
  };
}
