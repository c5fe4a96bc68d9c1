// The page's colours and letters as the chart library takes them: as values, for it cannot read variables.

const COLOURS = ["surface", "ink", "muted", "line", "line-strong", "accent", "first", "second", "between", "sunken"];

/** {colours: {accent: "rgb(...)", ...}, family, size}: what the variables are worth at this moment. */
export function palette() {
  const probe = document.createElement("span");
  probe.hidden = true;
  probe.style.forcedColorAdjust = "none"; // else, in high contrast, all colours would be worth the same: letters on letters
  document.body.append(probe);
  const worth = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = Object.fromEntries(COLOURS.map((name) => [name, worth(name)]));
  probe.remove();
  const { fontFamily, fontSize } = getComputedStyle(document.documentElement);
  return { colours, family: fontFamily, size: 0.78125 * parseFloat(fontSize) };
}

/** The same colour, with the paper shining through. */
export function faint(colour, share) {
  const parts = colour.match(/[\d.]+/g).slice(0, 3);
  return `rgba(${parts.join(", ")}, ${share})`;
}

/** Calls back whenever colours are others: another theme was chosen, here or in the system. */
export function onTheme(callback) {
  new MutationObserver(callback).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) matchMedia(query).addEventListener("change", callback);
}
