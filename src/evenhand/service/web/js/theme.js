// The theme switch: system, light, dark.

import { el } from "./dom.js";
import { keep } from "./storage.js";

const THEMES = ["system", "light", "dark"];

const chosenTheme = () => document.documentElement.dataset.theme ?? "system";

function chooseTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  keep("evenhand-theme", name === "system" ? null : name);
}

export function themeSwitch() {
  const button = el("button", { class: "button quiet small", type: "button", id: "theme-switch" });
  const label = () => { button.textContent = `Theme: ${chosenTheme()}`; };
  button.addEventListener("click", () => {
    chooseTheme(THEMES[(THEMES.indexOf(chosenTheme()) + 1) % THEMES.length]);
    label();
  });
  label();
  return button;
}
