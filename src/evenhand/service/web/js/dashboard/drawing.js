// What the charts share: ticks, the width of text, redrawing on resize.

/** Round numbers from low to high, about as many as wanted. */
export function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const found = [];
  const first = Math.ceil(low / step - 1e-9) + 0; // + 0 turns -0 into 0
  for (let at = first; at * step <= high + step * 1e-9; at += 1) found.push(at * step);
  return found;
}

const context = document.createElement("canvas").getContext("2d");

/** The width of a text in pixels. */
export function textWidth(text, size, weight = 400) {
  context.font = `${weight} ${size}px ${getComputedStyle(document.documentElement).fontFamily}`;
  return context.measureText(text).width;
}

/** Calls draw(width) now and whenever the element's width changes. */
export function onWidth(element, draw) {
  let width = null;
  new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    draw(width);
  }).observe(element);
}
