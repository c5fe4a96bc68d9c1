// Saving a chart as a PNG, with its title and legend, in the colours on the screen.

import { el, svg } from "../dom.js";
import { textWidth } from "./drawing.js";

const [WIDTH, TITLE, LEGEND, ROW] = [960, 48, 20, 22];
const SHARPNESS = 2; // pixels of the picture for each of the page's
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "visibility"];

/** draw(width) gives the chart as SVG; legend: the element whose entries are repeated below it. */
export async function savePicture(name, title, legend, draw) {
  const chart = draw(WIDTH);
  const height = TITLE + Number(chart.getAttribute("height"));
  const entries = [...legend.children].map((entry) => ({ sample: entry.firstElementChild.firstElementChild.cloneNode(true), words: [...entry.children].slice(1).map((part) => (part.querySelector(".term") ?? part).textContent).filter(Boolean).join("  ") }));
  let [x, y] = [LEGEND, height + ROW];
  const placed = entries.map(({ sample, words }) => {
    const wide = 36 + textWidth(words, 14) + 28;
    if (x + wide > WIDTH) [x, y] = [LEGEND, y + ROW];
    const item = svg("g", { transform: `translate(${x},${y - 12})` }, sample, svg("text", { x: 36, y: 12 }, words));
    x += wide;
    return item;
  });
  const whole = svg("svg", { class: "plot", width: WIDTH, height: y + LEGEND, viewBox: `0 0 ${WIDTH} ${y + LEGEND}` },
    svg("rect", { class: "paper", width: WIDTH, height: y + LEGEND }), svg("text", { class: "heading", x: LEGEND, y: 32 }, title),
    svg("g", { transform: `translate(0,${TITLE})` }, ...chart.childNodes), placed);
  const blob = await rasterized(whole, WIDTH, y + LEGEND);
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function rasterized(picture, width, height) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(styled(picture)))}`;
  await image.decode();
  const canvas = el("canvas", { width: SHARPNESS * width, height: SHARPNESS * height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

/** The picture with the page's styles as attributes: an image has no access to the stylesheet. */
function styled(picture) {
  const hidden = el("div", { class: "visually-hidden", "aria-hidden": "true" }, picture);
  document.body.append(hidden);
  for (const element of picture.querySelectorAll("*")) {
    const computed = getComputedStyle(element);
    for (const style of STYLES) element.setAttribute(style, computed.getPropertyValue(style));
  }
  hidden.remove();
  return picture;
}
