// The theme switch: as the system has it, light, dark. Kept in this browser.

import { el } from "./dom.js";

const NAMES = { system: "system", light: "light", dark: "dark" };

export function chosenTheme() {
  return document.documentElement.dataset.theme ?? "system";
}

export function chooseTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  try {
    if (name === "system") localStorage.removeItem("evenhand-theme");
    else localStorage.setItem("evenhand-theme", name);
  } catch {
    // Not kept, then: it holds for this page.
  }
}

export function themeSwitch() {
  const button = el("button", { class: "button quiet small", type: "button", id: "theme-switch" });
  const tell = () => { button.textContent = `Theme: ${NAMES[chosenTheme()]}`; };
  button.addEventListener("click", () => {
    const order = Object.keys(NAMES);
    chooseTheme(order[(order.indexOf(chosenTheme()) + 1) % order.length]);
    tell();
  });
  tell();
  return button;
}
